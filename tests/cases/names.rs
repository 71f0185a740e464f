//! Names that something on the way could take for something else.

use std::collections::BTreeSet;

use futures_util::SinkExt;
use storage_mux::{OpContext, Storage, StorageErrorKind};

use crate::storages::every_storage;

/// Case LS-09. Spec: P-7
#[test]
fn what_looks_encoded_goes_in_and_out_byte_for_byte() {
    let keys = [
        "a b",
        "%",
        "%25",
        "a%2Fb",
        "a/b",
        "a+b",
        "q?x",
        "h#x",
        "[x]",
        "~t",
        "mäggi.png",
        "中文",
        "🦀",
    ];
    for subject in every_storage() {
        for key in keys {
            subject
                .set(key, key)
                .unwrap_or_else(|error| panic!("{} {key:?}: {error}", subject.name));
        }
        for key in keys {
            assert_eq!(subject.get(key).as_deref(), Ok(key), "{}", subject.name);
        }
        let listed: BTreeSet<String> = subject.list("").into_iter().collect();
        assert_eq!(listed, keys.map(str::to_owned).into(), "{}", subject.name);
        for (at, key) in keys.iter().enumerate() {
            assert_eq!(subject.delete(key), Ok(()), "{} {key:?}", subject.name);
            assert_eq!(subject.has(key), Ok(false), "{} {key:?}", subject.name);
            assert_eq!(subject.list("").len(), keys.len() - at - 1, "{} {key:?}", subject.name);
        }
    }
}

/// Case LS-13. Spec: P-7, E-6
///
/// That nothing is touched beside the folder of the folder store is checked when it is removed.
#[test]
fn no_key_leads_out_of_a_storage_and_every_storage_gives_the_same_verdict() {
    let round_trips = ["../x", "a/../../x", "/abs", "C:/x", "a//b", "a/./b", "a/"];
    for subject in every_storage() {
        for key in round_trips {
            let name = format!("{} {key:?}", subject.name);
            assert_eq!(subject.set(key, key), Ok(()), "{name}");
            assert_eq!(subject.get(key).as_deref(), Ok(key), "{name}");
            assert_eq!(subject.list(""), [key], "{name}");
            assert_eq!(subject.delete(key), Ok(()), "{name}");
            assert_eq!(subject.list(""), [""; 0], "{name}");
        }
        for key in ["", "a\0b"] {
            let name = format!("{} {key:?}", subject.name);
            let refused = [
                subject.set(key, "v").err(),
                subject.get(key).err(),
                subject.has(key).err(),
                subject.delete(key).err(),
            ];
            for error in refused {
                let kind = error.as_ref().map(storage_mux::StorageError::kind);
                assert_eq!(kind, Some(&StorageErrorKind::InvalidKey), "{name}: {error:?}");
            }
            assert_eq!(subject.list(""), [""; 0], "{name}");
        }
    }
}

/// Case LS-08. Spec: P-7, SM-2
#[test]
fn a_stream_that_is_half_written_shows_nowhere() {
    for subject in every_storage() {
        let (cx, name) = (OpContext::new(), &subject.name);
        let storage = &subject.storage;
        let mut first = subject.run(storage.set_stream("k", &cx)).expect("a stream");
        subject.run(first.send("first".into())).expect("sent");
        assert_eq!(subject.list(""), [""; 0], "{name}");
        assert_eq!(subject.has("k"), Ok(false), "{name}");

        let mut second = subject.run(storage.set_stream("k", &cx)).expect("a second stream");
        subject.run(second.send("second".into())).expect("sent");
        subject.run(second.close()).expect("closed");
        assert_eq!(subject.list(""), ["k"], "{name}");
        assert_eq!(subject.get("k").as_deref(), Ok("second"), "{name}");

        subject.run(first.close()).expect("closed");
        assert_eq!(subject.list(""), ["k"], "{name}");
        assert_eq!(subject.get("k").as_deref(), Ok("first"), "{name}");
        // Names as files in the making have them elsewhere are names like any other.
        for key in ["k#1", "k.tmp", ".k.part", "k~"] {
            assert_eq!(subject.set(key, key), Ok(()), "{name} {key:?}");
            assert_eq!(subject.get(key).as_deref(), Ok(key), "{name} {key:?}");
        }
        assert_eq!(subject.list("").len(), 5, "{name}");
    }
}
