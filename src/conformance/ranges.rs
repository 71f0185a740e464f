//! Reads of a part of a value.

use alloc::format;
use core::ops::Range;

use super::report::Verdict;
use super::rule::rules;
use super::subject::{Subject, fails, same_bytes, shown, succeeds};
use crate::error::StorageErrorKind;
use crate::port::LocalStorage;

rules! {
    "range-part", "get_range gives just the bytes of the range", [GetRange Set Delete], part;
    "range-clamps", "get_range clamps its end to the size", [GetRange Set Delete], clamps;
    "range-start", "get_range refuses a start at or past the size with HTTP 416",
        [GetRange Set Delete], start;
    "range-empty", "a range that does not end after its start is empty",
        [GetRange Set Delete], empty;
}

const VALUE: &[u8] = b"0123456789";

async fn gives<S: LocalStorage>(
    s: &Subject<'_, S>,
    key: &str,
    range: Range<u64>,
    expected: &[u8],
) -> Verdict {
    let step = || format!("get_range({key:?}, {range:?})");
    let found = succeeds(s.storage.get_range(key, range.clone(), &s.cx).await, step)?;
    same_bytes(&found, expected, step)
}

async fn part<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let key = s.fresh("k").await;
    s.set(&key, VALUE).await?;
    gives(s, &key, 0..10, VALUE).await?;
    gives(s, &key, 0..1, b"0").await?;
    gives(s, &key, 3..7, b"3456").await?;
    gives(s, &key, 9..10, b"9").await
}

async fn clamps<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let key = s.fresh("k").await;
    s.set(&key, VALUE).await?;
    gives(s, &key, 0..11, VALUE).await?;
    gives(s, &key, 9..11, b"9").await?;
    gives(s, &key, 4..u64::MAX, b"456789").await
}

async fn start<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let (key, empty) = (s.fresh("k").await, s.fresh("empty").await);
    s.set(&key, VALUE).await?;
    s.set(&empty, b"").await?;
    let ranges = [(&key, 10..11), (&key, 11..20), (&key, u64::MAX - 1..u64::MAX), (&empty, 0..1)];
    for (key, range) in ranges {
        let result = s.storage.get_range(key, range.clone(), &s.cx).await;
        let kind = StorageErrorKind::Http { status: 416, retry_after: None };
        fails(result.map(|value| shown(&value)), &kind, || {
            format!("get_range({key:?}, {range:?})")
        })?;
    }
    Ok(())
}

async fn empty<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let key = s.fresh("k").await;
    s.set(&key, VALUE).await?;
    let backwards = Range { start: 7, end: 3 };
    for range in [0..0, 4..4, 9..9, backwards] {
        gives(s, &key, range, b"").await?;
    }
    Ok(())
}
