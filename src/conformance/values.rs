//! Values that are read and written whole.

use alloc::vec::Vec;

use super::report::Verdict;
use super::rule::rules;
use super::subject::Subject;
use crate::port::{LocalStorage, Operation};

rules! {
    "set-get", "get gives the bytes that set took", [Set Get Delete], set_get;
    "set-replaces", "set replaces the whole value", [Set Get Delete], set_replaces;
    "set-apart", "set changes no other key", [Set Get Delete], set_apart;
    "empty-value", "an empty value is a value", [Set Get Delete], empty_value;
    "stat-size", "stat tells the size of the value", [Stat Set Delete], stat_size;
}

/// Every byte there is, in a pattern whose parts all differ.
pub(super) fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at ^ (at >> 8).wrapping_mul(31)) as u8).collect()
}

async fn set_get<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let key = s.fresh("k").await;
    for len in [1, 256, 1_000, s.large_value_bytes] {
        let value = pattern(len);
        s.set(&key, &value).await?;
        s.holds(&key, &value).await?;
    }
    Ok(())
}

async fn set_replaces<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let key = s.fresh("k").await;
    s.set(&key, b"abcdefgh").await?;
    s.set(&key, b"xy").await?;
    s.holds(&key, b"xy").await?;
    s.set(&key, b"longer than before").await?;
    s.holds(&key, b"longer than before").await
}

async fn set_apart<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let (one, two) = (s.fresh("one").await, s.fresh("two").await);
    s.set(&one, b"1").await?;
    s.set(&two, b"2").await?;
    s.holds(&one, b"1").await?;
    s.holds(&two, b"2").await
}

async fn empty_value<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let (key, emptied) = (s.fresh("k").await, s.fresh("emptied").await);
    s.set(&key, b"").await?;
    s.set(&emptied, b"v").await?;
    s.set(&emptied, b"").await?;
    for key in [&key, &emptied] {
        s.holds(key, b"").await?;
        if s.can(Operation::Has) {
            s.has(key, true).await?;
        }
        if s.can(Operation::Stat) {
            s.has_size(key, 0).await?;
        }
        if s.can(Operation::GetStream) {
            drop(s.streams_out(key, b"").await?);
        }
    }
    if s.can(Operation::List) {
        s.lists("", &["k", "emptied"]).await?;
    }
    Ok(())
}

async fn stat_size<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let key = s.fresh("k").await;
    for len in [1, 1_000, 10] {
        s.set(&key, &pattern(len)).await?;
        s.has_size(&key, len).await?;
    }
    if s.can(Operation::SetPartial) {
        s.set_partial(&key, 12, b"abc").await?;
        s.has_size(&key, 15).await?;
    }
    if s.can(Operation::SetStream) {
        s.stream_in(&key, &[b"abc", b"", b"de"]).await?;
        s.has_size(&key, 5).await?;
    }
    Ok(())
}
