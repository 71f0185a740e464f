//! Writes of a whole value over a longer one, and of a part of one.

use futures_util::SinkExt;
use storage_mux::{OpContext, Storage};

use crate::storages::every_storage;

/// Case PW-01. Spec: P-7
#[test]
fn a_short_value_leaves_no_tail_of_a_long_one() {
    for subject in every_storage() {
        let name = &subject.name;
        subject.set("k", "abcdefgh").expect("stored");
        subject.set("k", "xy").expect("stored");
        assert_eq!(subject.get("k").as_deref(), Ok("xy"), "{name}");

        subject.set("s", "abcdefgh").expect("stored");
        let mut writer =
            subject.run(subject.storage.set_stream("s", &OpContext::new())).expect("a stream");
        subject.run(writer.send("x".into())).expect("sent");
        subject.run(writer.send("y".into())).expect("sent");
        subject.run(writer.close()).expect("closed");
        assert_eq!(subject.get("s").as_deref(), Ok("xy"), "{name}");
    }
}

/// Case PW-02. Spec: P-7
#[test]
fn a_write_in_the_middle_leaves_the_rest_as_it_was() {
    for subject in every_storage() {
        let name = &subject.name;
        subject.set("k", "0123456789").expect("stored");
        for (offset, bytes, left) in
            [(3, "ab", "012ab56789"), (0, "Z", "Z12ab56789"), (8, "YZQ", "Z12ab567YZQ")]
        {
            assert_eq!(subject.set_partial("k", offset, bytes), Ok(()), "{name}");
            assert_eq!(subject.get("k").as_deref(), Ok(left), "{name}");
        }
    }
}
