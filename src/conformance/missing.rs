//! Keys that hold no value.

use super::report::Verdict;
use super::rule::rules;
use super::subject::{Subject, call_step, fails};
use crate::error::StorageErrorKind;
use crate::port::{LocalStorage, Operation};

rules! {
    "get-missing", "get of a missing key fails with KEY_NOT_FOUND", [Get], get;
    "stat-missing", "stat of a missing key fails with KEY_NOT_FOUND", [Stat], stat;
    "get-stream-missing", "get_stream of a missing key fails with KEY_NOT_FOUND",
        [GetStream], get_stream;
    "get-range-missing", "get_range of a missing key fails with KEY_NOT_FOUND",
        [GetRange], get_range;
    "has", "has tells whether a key has a value", [Has Set Delete], has;
    "delete-idempotent", "delete of a missing key succeeds", [Delete Set], delete_again;
    "delete-removes", "what was deleted is missing", [Delete Set Get], delete_removes;
    "delete-exact", "delete removes no other key that starts alike", [Delete Set Get], delete_exact;
    "prefix-missing", "what is only the beginning of a key holds no value",
        [Set Get Delete], prefix_missing;
}

async fn not_found<S: LocalStorage>(s: &mut Subject<'_, S>, operation: Operation) -> Verdict {
    let key = s.fresh("missing").await;
    let result = s.call(operation, &key, &s.cx).await;
    fails(result, &StorageErrorKind::KeyNotFound, || call_step(operation, &key))
}

async fn get<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    not_found(s, Operation::Get).await
}

async fn stat<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    not_found(s, Operation::Stat).await
}

async fn get_stream<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    not_found(s, Operation::GetStream).await
}

async fn get_range<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    not_found(s, Operation::GetRange).await
}

async fn has<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let (key, other) = (s.fresh("k").await, s.fresh("other").await);
    s.has(&key, false).await?;
    s.set(&key, b"v").await?;
    s.has(&key, true).await?;
    s.has(&other, false).await
}

async fn delete_again<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let key = s.fresh("k").await;
    s.delete(&key).await?;
    s.set(&key, b"v").await?;
    s.delete(&key).await?;
    s.delete(&key).await
}

async fn delete_removes<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let key = s.fresh("k").await;
    s.set(&key, b"v").await?;
    s.delete(&key).await?;
    s.holds_nothing(&key).await?;
    if s.can(Operation::Has) {
        s.has(&key, false).await?;
    }
    if s.can(Operation::List) {
        s.lists("", &[]).await?;
    }
    Ok(())
}

async fn delete_exact<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let (key, longer, below) = (s.fresh("a").await, s.fresh("ab").await, s.fresh("c/d").await);
    for key in [&key, &longer, &below] {
        s.set(key, b"v").await?;
    }
    s.delete(&key).await?;
    let parent = s.fresh("c").await;
    s.delete(&parent).await?;
    s.holds(&longer, b"v").await?;
    s.holds(&below, b"v").await
}

async fn prefix_missing<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let (below, parent) = (s.fresh("a/b").await, s.fresh("a").await);
    s.set(&below, b"v").await?;
    for operation in [Operation::Get, Operation::Stat, Operation::GetStream, Operation::GetRange] {
        if s.can(operation) {
            let result = s.call(operation, &parent, &s.cx).await;
            let kind = StorageErrorKind::KeyNotFound;
            fails(result, &kind, || call_step(operation, &parent))?;
        }
    }
    if s.can(Operation::Has) {
        s.has(&parent, false).await?;
    }
    Ok(())
}
