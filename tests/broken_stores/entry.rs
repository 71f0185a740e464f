//! What happens to a key before the operation: the bugs of keys and of calls that were given up.

use bytes::Bytes;
use storage_mux::{LocalStorage, OpContext, Operation, StorageError};

use crate::bug::Bug;
use crate::store::Broken;

/// The longest key of the store inside.
const LIMIT: usize = 1_024;

impl Broken {
    /// The key as this store takes it, or the error that it gives at once.
    pub(crate) async fn enter(
        &self,
        operation: Operation,
        key: &str,
        cx: &OpContext,
    ) -> Result<String, StorageError> {
        if cx.is_aborted() {
            self.aborted(operation, key).await?;
        }
        if operation == Operation::List {
            return Ok(self.spelled(key));
        }
        match self.bug {
            Bug::TakesEmptyKey(broken) if broken == operation && key.is_empty() => {
                return Ok(self.stand_in().await);
            }
            Bug::TakesNul(broken) if broken == operation && key.contains('\0') => {
                return Ok(self.stand_in().await);
            }
            Bug::TakesLongKey(broken) if broken == operation && key.len() > LIMIT => {
                return Ok(self.stand_in().await);
            }
            Bug::EmptyKeyIsMissing(broken) if broken == operation && key.is_empty() => {
                return Err(StorageError::key_not_found());
            }
            Bug::LimitIsOneLess if key.len() >= LIMIT => {
                return Err(StorageError::invalid_key("too long"));
            }
            Bug::CountsCharacters if key.chars().count() > 200 => {
                return Err(StorageError::invalid_key("too long"));
            }
            Bug::PathsAreTransient if key.contains("//") => return Err(StorageError::http(500)),
            _ => {}
        }
        Ok(self.spelled(key))
    }

    /// A key that works in every operation but `set_if` with `Absent`, in place of an illegal one.
    async fn stand_in(&self) -> String {
        let key = String::from("stand-in");
        if matches!(
            self.bug,
            Bug::TakesEmptyKey(Operation::SetIf)
                | Bug::TakesNul(Operation::SetIf)
                | Bug::TakesLongKey(Operation::SetIf)
        ) {
            let _ = self.inner.delete(&key, &OpContext::new()).await;
        } else {
            let _ = self.inner.set(&key, Bytes::from_static(b"v"), &OpContext::new()).await;
        }
        key
    }

    /// The key as this store spells it.
    fn spelled(&self, key: &str) -> String {
        match self.bug {
            Bug::SetCollides => key.replace("/one", "/two"),
            Bug::DecodesPercent => key.replace("%25", "%").replace("%2F", "/"),
            Bug::CutsAtQuestionMark => key.split('?').next().unwrap_or_default().into(),
            Bug::FoldsCase => key.to_lowercase(),
            Bug::TrimsSpace => key.trim_end_matches(' ').into(),
            Bug::ComposesAccents => key.replace("e\u{301}", "\u{e9}").replace("A\u{30a}", "\u{c5}"),
            Bug::MergesSlashes => key.replace("//", "/"),
            Bug::TurnsBackslashes => key.replace('\\', "/"),
            Bug::ResolvesDots => resolved(key),
            _ => key.into(),
        }
    }

    /// What a call that was given up does before the store inside refuses it.
    async fn aborted(&self, operation: Operation, key: &str) -> Result<(), StorageError> {
        if self.is(Bug::AbortIsTransient(operation)) {
            return Err(StorageError::http(503));
        }
        if self.is(Bug::AbortTearsWrites) && operation == Operation::Set {
            self.inner.set(key, Bytes::from_static(b"ca"), &OpContext::new()).await?;
        }
        Err(StorageError::aborted())
    }

    /// Whether the call was given up and this store says that it is done all the same.
    pub(crate) fn done_for_nothing(&self, operation: Operation, cx: &OpContext) -> bool {
        cx.is_aborted() && self.is(Bug::AbortDoesNothingAndSucceeds(operation))
    }
}

/// A path without `.` and `..`.
fn resolved(key: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    for segment in key.split('/') {
        match segment {
            "." => {}
            ".." => {
                segments.pop();
            }
            segment => segments.push(segment),
        }
    }
    segments.join("/")
}
