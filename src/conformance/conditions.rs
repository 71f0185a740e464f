//! Writes that happen only if a condition holds.

use alloc::format;

use super::report::{Deviation, Verdict};
use super::rule::rules;
use super::subject::{Subject, fails, same, shown, succeeds};
use crate::error::StorageErrorKind;
use crate::port::{Condition, LocalStorage, Operation, Version, Written};

rules! {
    "if-absent", "set_if absent writes a missing key and refuses another with HTTP 412",
        [SetIf Get Delete], absent;
    "if-version", "set_if with the present version replaces the value",
        [SetIf Set Stat Get Delete], version;
    "if-stale", "set_if with another version fails with HTTP 412 and changes nothing",
        [SetIf Set Stat Get Delete], stale;
    "if-version-missing", "set_if with a version fails with HTTP 412 where the key is missing",
        [SetIf Set Stat Get Delete], version_missing;
    "version-changes", "every write of other bytes changes the version",
        [SetIf Set Stat Delete], changes;
    "version-agrees", "a write tells the version that stat then tells",
        [SetIf Set Stat Delete], agrees;
}

const REFUSED: StorageErrorKind = StorageErrorKind::Http { status: 412, retry_after: None };

impl<S: LocalStorage> Subject<'_, S> {
    /// The version that `stat` tells. A storage with `set_if` must have one.
    async fn version(&self, key: &str) -> Verdict<Version> {
        self.stat(key).await?.version.ok_or_else(|| {
            Deviation::new(format!("stat({key:?})"), "a version, since set_if is there", "none")
        })
    }

    async fn writes_if(&self, key: &str, value: &[u8], condition: Condition) -> Verdict<Written> {
        let result = self.set_if(key, value, &condition).await;
        succeeds(result, || format!("set_if({key:?}, {}, {condition:?})", shown(value)))
    }

    async fn refuses_if(&self, key: &str, value: &[u8], condition: Condition) -> Verdict {
        let result = self.set_if(key, value, &condition).await;
        fails(result, &REFUSED, || format!("set_if({key:?}, {}, {condition:?})", shown(value)))
    }
}

async fn absent<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let key = s.fresh("k").await;
    s.writes_if(&key, b"one", Condition::Absent).await?;
    s.holds(&key, b"one").await?;
    s.refuses_if(&key, b"two", Condition::Absent).await?;
    s.holds(&key, b"one").await?;
    s.delete(&key).await?;
    // An empty value is a value: the key is not absent.
    s.writes_if(&key, b"", Condition::Absent).await?;
    s.refuses_if(&key, b"two", Condition::Absent).await?;
    s.holds(&key, b"").await
}

async fn version<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let key = s.fresh("k").await;
    s.set(&key, b"one").await?;
    for value in [&b"two"[..], b"three"] {
        let present = s.version(&key).await?;
        s.writes_if(&key, value, Condition::VersionMatches(present)).await?;
        s.holds(&key, value).await?;
    }
    Ok(())
}

async fn stale<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let key = s.fresh("k").await;
    s.set(&key, b"one").await?;
    let stale = s.version(&key).await?;
    s.set(&key, b"two").await?;
    s.refuses_if(&key, b"three", Condition::VersionMatches(stale.clone())).await?;
    s.holds(&key, b"two").await?;
    // The winner of two who read the same version makes the other one's stale.
    let present = s.version(&key).await?;
    s.writes_if(&key, b"four", Condition::VersionMatches(present.clone())).await?;
    s.refuses_if(&key, b"five", Condition::VersionMatches(present)).await?;
    s.holds(&key, b"four").await
}

async fn version_missing<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let key = s.fresh("k").await;
    s.set(&key, b"one").await?;
    let version = s.version(&key).await?;
    s.delete(&key).await?;
    s.refuses_if(&key, b"two", Condition::VersionMatches(version)).await?;
    s.holds_nothing(&key).await
}

/// A version may be a digest of the value, so each write here writes other bytes.
async fn changes<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let key = s.fresh("k").await;
    s.set(&key, b"one").await?;
    let mut last = s.version(&key).await?;
    let writes = [Operation::Set, Operation::SetPartial, Operation::SetStream, Operation::SetIf];
    for operation in writes {
        if !s.can(operation) {
            continue;
        }
        match operation {
            Operation::SetPartial => s.set_partial(&key, 1, b"W").await?,
            Operation::SetStream => s.stream_in(&key, &[b"th", b"ree"]).await?,
            Operation::SetIf => {
                let condition = Condition::VersionMatches(last.clone());
                s.writes_if(&key, b"four", condition).await.map(drop)?;
            }
            _ => s.set(&key, b"two").await.map(drop)?,
        }
        let present = s.version(&key).await?;
        if present == last {
            return Err(Deviation::new(
                format!("{operation} on {key:?}, then stat"),
                "another version than before",
                format!("{present:?} again"),
            ));
        }
        last = present;
    }
    Ok(())
}

async fn agrees<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let key = s.fresh("k").await;
    let written = s.set(&key, b"one").await?;
    let present = s.version(&key).await?;
    told(&written, &present, Operation::Set, &key)?;
    let written = s.writes_if(&key, b"two", Condition::VersionMatches(present)).await?;
    told(&written, &s.version(&key).await?, Operation::SetIf, &key)
}

/// A write need not tell its version; if it does, it is the right one.
fn told(written: &Written, present: &Version, operation: Operation, key: &str) -> Verdict {
    let told = written.version.as_ref().unwrap_or(present);
    same(told, present, || format!("the version that {operation} of {key:?} told, beside stat's"))
}
