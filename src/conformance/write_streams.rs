//! Values that are written chunk by chunk.

use super::report::Verdict;
use super::rule::rules;
use super::subject::Subject;
use super::values::pattern;
use crate::port::{LocalStorage, Operation};

rules! {
    "write-stream", "a write stream stores its chunks, one after the other",
        [SetStream Get Delete], chunks;
    "write-stream-replaces", "a write stream replaces the whole value",
        [SetStream Set Get Delete], replaces;
    "write-stream-empty", "a write stream of nothing stores an empty value",
        [SetStream Get Delete], empty;
    "write-stream-close", "what is written to a stream is visible when it is closed, and not before",
        [SetStream Set Get Delete], close;
    "write-stream-drop", "a write stream that is dropped leaves what was there before",
        [SetStream Set Get Delete], dropped;
    "write-stream-apart", "two write streams to one key do not mix",
        [SetStream Get Delete], apart;
}

async fn chunks<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let key = s.fresh("k").await;
    s.stream_in(&key, &[b"a", b"bc", b"d", b"efg"]).await?;
    s.holds(&key, b"abcdefg").await?;
    s.stream_in(&key, &[b"", b"ab", b"", b"c", b"defgh", b""]).await?;
    s.holds(&key, b"abcdefgh").await?;
    let large = pattern(s.large_value_bytes);
    let (middle, end) = large.split_at(large.len() / 3);
    s.stream_in(&key, &[middle, end]).await?;
    s.holds(&key, &large).await
}

async fn replaces<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let key = s.fresh("k").await;
    s.set(&key, b"abcdefgh").await?;
    s.stream_in(&key, &[b"x", b"y"]).await?;
    s.holds(&key, b"xy").await
}

async fn empty<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let (none, hollow) = (s.fresh("none").await, s.fresh("hollow").await);
    s.stream_in(&none, &[]).await?;
    s.stream_in(&hollow, &[b"", b""]).await?;
    for key in [&none, &hollow] {
        s.holds(key, b"").await?;
        if s.can(Operation::Has) {
            s.has(key, true).await?;
        }
    }
    if s.can(Operation::List) {
        s.lists("", &["none", "hollow"]).await?;
    }
    Ok(())
}

async fn close<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let (new, old) = (s.fresh("new").await, s.fresh("old").await);
    s.set(&old, b"old").await?;
    let to_new = s.opened(&new, &[b"12", b"34"]).await?;
    let to_old = s.opened(&old, &[b"56", b"78"]).await?;
    s.holds_nothing(&new).await?;
    s.holds(&old, b"old").await?;
    if s.can(Operation::List) {
        // Neither the unfinished key nor a scratch name may show.
        s.lists("", &["old"]).await?;
    }
    s.closed(&new, to_new).await?;
    s.closed(&old, to_old).await?;
    s.holds(&new, b"1234").await?;
    s.holds(&old, b"5678").await
}

async fn dropped<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let (new, old) = (s.fresh("new").await, s.fresh("old").await);
    s.set(&old, b"old").await?;
    for key in [&new, &old] {
        drop(s.opened(key, &[b"12", b"34"]).await?);
        drop(s.opened(key, &[]).await?);
    }
    s.holds_nothing(&new).await?;
    s.holds(&old, b"old").await?;
    if s.can(Operation::List) {
        s.lists("", &["old"]).await?;
    }
    Ok(())
}

async fn apart<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let key = s.fresh("k").await;
    let first = s.opened(&key, &[b"1", b"1"]).await?;
    let second = s.opened(&key, &[b"2", b"2", b"2"]).await?;
    s.closed(&key, first).await?;
    s.holds(&key, b"11").await?;
    s.closed(&key, second).await?;
    s.holds(&key, b"222").await
}
