//! Writes of a part of a value.

use super::report::Verdict;
use super::rule::rules;
use super::subject::Subject;
use crate::port::LocalStorage;

rules! {
    "partial-inside", "set_partial overwrites in place and keeps the rest",
        [SetPartial Set Get Delete], inside;
    "partial-extends", "set_partial extends a value that ends inside it or right before it",
        [SetPartial Set Get Delete], extends;
    "partial-gap", "set_partial past the end leaves zero bytes between",
        [SetPartial Set Get Delete], gap;
    "partial-missing", "set_partial creates a missing key", [SetPartial Get Delete], missing;
    "partial-nothing", "set_partial of no bytes leaves the value as it is, or creates an empty one",
        [SetPartial Set Get Delete], nothing;
}

async fn inside<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let key = s.fresh("k").await;
    s.set(&key, b"0123456789").await?;
    s.set_partial(&key, 3, b"ab").await?;
    s.holds(&key, b"012ab56789").await?;
    s.set_partial(&key, 0, b"Z").await?;
    s.holds(&key, b"Z12ab56789").await?;
    s.set_partial(&key, 8, b"YZ").await?;
    s.holds(&key, b"Z12ab567YZ").await
}

async fn extends<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let key = s.fresh("k").await;
    s.set(&key, b"0123456789").await?;
    s.set_partial(&key, 8, b"YZQ").await?;
    s.holds(&key, b"01234567YZQ").await?;
    s.set_partial(&key, 11, b"ab").await?;
    s.holds(&key, b"01234567YZQab").await
}

async fn gap<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let key = s.fresh("k").await;
    s.set(&key, b"abc").await?;
    s.set_partial(&key, 4, b"e").await?;
    s.holds(&key, b"abc\0e").await?;
    s.set_partial(&key, 8, b"ij").await?;
    s.holds(&key, b"abc\0e\0\0\0ij").await
}

async fn missing<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let (start, later) = (s.fresh("start").await, s.fresh("later").await);
    s.set_partial(&start, 0, b"ab").await?;
    s.holds(&start, b"ab").await?;
    s.set_partial(&later, 3, b"d").await?;
    s.holds(&later, b"\0\0\0d").await
}

async fn nothing<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let (key, missing) = (s.fresh("k").await, s.fresh("missing").await);
    s.set(&key, b"abc").await?;
    for offset in [0, 1, 3, 7] {
        s.set_partial(&key, offset, b"").await?;
        s.holds(&key, b"abc").await?;
    }
    s.set_partial(&missing, 0, b"").await?;
    s.holds(&missing, b"").await
}
