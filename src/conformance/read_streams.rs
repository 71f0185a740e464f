//! Values that are read chunk by chunk.

use alloc::format;

use super::chunks::next;
use super::report::{Deviation, Verdict};
use super::rule::rules;
use super::subject::Subject;
use super::values::pattern;
use crate::port::LocalStorage;

rules! {
    "read-stream", "a read stream gives the whole value, in order, and ends",
        [GetStream Set Delete], whole;
    "read-stream-end", "a read stream that has ended gives nothing more",
        [GetStream Set Delete], end;
}

async fn whole<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let key = s.fresh("k").await;
    for len in [0, 1, 1_000, s.large_value_bytes] {
        let value = pattern(len);
        s.set(&key, &value).await?;
        drop(s.streams_out(&key, &value).await?);
    }
    Ok(())
}

async fn end<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let key = s.fresh("k").await;
    for value in [&b""[..], b"value"] {
        s.set(&key, value).await?;
        let mut reader = s.streams_out(&key, value).await?;
        for _ in 0..3 {
            if let Some(item) = next(&mut reader).await {
                let step = format!("get_stream({key:?}), polled after its end");
                return Err(Deviation::new(step, "the end again", format!("{item:?}")));
            }
        }
    }
    Ok(())
}
