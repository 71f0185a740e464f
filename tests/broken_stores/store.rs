//! A memory store with one switch for each bug.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

use bytes::Bytes;
use storage_mux::{
    Capabilities, Condition, LocalStorage, MemoryStorage, Metadata, OpContext, Operation, Page,
    PageRequest, StorageError, Version, Written, validate_key,
};

use crate::bug::Bug;
use crate::streams::{BrokenReader, BrokenWriter};

/// A memory store with one bug.
#[derive(Clone)]
pub(crate) struct Broken {
    pub(crate) inner: MemoryStorage,
    pub(crate) bug: Bug,
    /// Keys that were deleted, or written again, for the bugs that list them.
    pub(crate) ghosts: Rc<RefCell<BTreeSet<String>>>,
    /// The versions that are told, for the bug that forgets to change them.
    pub(crate) versions: Rc<RefCell<BTreeMap<String, Version>>>,
    /// What writers share that should not.
    pub(crate) scratch: Rc<RefCell<Vec<u8>>>,
}

impl Broken {
    pub(crate) fn new(bug: Bug) -> Self {
        Self {
            inner: MemoryStorage::new(),
            bug,
            ghosts: Rc::default(),
            versions: Rc::default(),
            scratch: Rc::default(),
        }
    }

    pub(crate) fn is(&self, bug: Bug) -> bool {
        self.bug == bug
    }

    /// The value of a key, and an empty one where there is none.
    async fn old(&self, key: &str) -> Vec<u8> {
        self.inner.get(key, &OpContext::new()).await.unwrap_or_default().into()
    }

    fn is_directory(&self, key: &str) -> bool {
        self.inner.keys().iter().any(|known| known.starts_with(&format!("{key}/")))
    }

    /// What an operation finds where there is no value.
    fn missing<T>(
        &self,
        operation: Operation,
        key: &str,
        found: Result<T, StorageError>,
        instead: T,
    ) -> Result<T, StorageError> {
        let made_up = match self.bug {
            Bug::MissingIsEmpty(broken) => broken == operation,
            Bug::DirectoryHasValue(broken) => broken == operation && self.is_directory(key),
            _ => false,
        };
        match found {
            Err(error) if error.is_key_not_found() && made_up => Ok(instead),
            found => found,
        }
    }

    /// What `set` stores of a value.
    async fn kept(&self, key: &str, value: &Bytes) -> Bytes {
        match self.bug {
            Bug::SetDropsCarriageReturns => {
                value.iter().copied().filter(|byte| *byte != b'\r').collect()
            }
            Bug::SetCutsAt64KiB => value.slice(..value.len().min(65_536)),
            Bug::SetKeepsTail => {
                let mut kept = self.old(key).await;
                kept.resize(kept.len().max(value.len()), 0);
                kept[..value.len()].copy_from_slice(value);
                kept.into()
            }
            _ => value.clone(),
        }
    }

    async fn write(
        &self,
        key: &str,
        value: Bytes,
        cx: &OpContext,
    ) -> Result<Written, StorageError> {
        if self.is(Bug::EmptyIsMissing) && value.is_empty() {
            self.inner.delete(key, cx).await?;
            return Ok(Written::default());
        }
        if self.is(Bug::ListsRewrittenTwice) && self.inner.has(key, cx).await? {
            self.ghosts.borrow_mut().insert(key.into());
        }
        self.inner.set(key, value, cx).await
    }

    /// What a partial write makes of a value.
    async fn patched(
        &self,
        key: &str,
        offset: u64,
        bytes: &Bytes,
    ) -> Result<Option<Vec<u8>>, StorageError> {
        let (cx, start) = (OpContext::new(), offset as usize);
        let mut value = self.old(key).await;
        let missing = !self.inner.has(key, &cx).await?;
        let end = start + bytes.len();
        match self.bug {
            Bug::PartialOfMissingFails if missing => return Err(StorageError::key_not_found()),
            Bug::PartialOfNothingCreatesNothing if missing && bytes.is_empty() => return Ok(None),
            Bug::PartialOfNothingEmpties if bytes.is_empty() => return Ok(Some(Vec::new())),
            Bug::PartialOfNothingExtends if bytes.is_empty() => {
                value.resize(value.len().max(start), 0);
            }
            Bug::PartialDropsRest if !bytes.is_empty() => value.truncate(end),
            Bug::PartialDropsPrefix if !bytes.is_empty() && end <= value.len() => {
                value[..start].fill(0);
            }
            Bug::PartialNeverExtends if !missing && end > value.len() => {
                let room = value.len().saturating_sub(start);
                let start = start.min(value.len());
                value[start..].copy_from_slice(&bytes[..room]);
                return Ok(Some(value));
            }
            Bug::PartialAppendsWithoutGap if start > value.len() => {
                value.extend_from_slice(bytes);
                return Ok(Some(value));
            }
            Bug::PartialFillsWithSpaces if start > value.len() && !bytes.is_empty() => {
                value.resize(start, b' ');
            }
            _ => {}
        }
        if !bytes.is_empty() {
            value.resize(value.len().max(end), 0);
            value[start..end].copy_from_slice(bytes);
        }
        Ok(Some(value))
    }

    /// The version as this store tells it, after a write by `operation`.
    fn written(&self, operation: Operation, written: Written) -> Written {
        match self.bug {
            Bug::WriteTellsOtherVersion(broken) if broken == operation => {
                Written::with_version(Version::new("other"))
            }
            Bug::NoVersion | Bug::VersionStays(_) => Written::default(),
            _ => written,
        }
    }

    /// Takes note of the version after a write, unless this is the kind of write that forgets to.
    pub(crate) async fn note_version(&self, operation: Operation, key: &str) {
        if let Bug::VersionStays(forgetful) = self.bug {
            let now = self.inner.stat(key, &OpContext::new()).await.unwrap_or_default().version;
            let mut versions = self.versions.borrow_mut();
            if let Some(now) = now
                && (forgetful != operation || !versions.contains_key(key))
            {
                versions.insert(key.into(), now);
            }
        }
    }
}

impl LocalStorage for Broken {
    type Reader = BrokenReader;
    type Writer = BrokenWriter;

    async fn get(&self, key: &str, cx: &OpContext) -> Result<Bytes, StorageError> {
        let key = &self.enter(Operation::Get, key, cx).await?;
        let found = self.inner.get(key, cx).await;
        self.missing(Operation::Get, key, found, Bytes::new())
    }

    async fn set(&self, key: &str, value: Bytes, cx: &OpContext) -> Result<Written, StorageError> {
        if self.done_for_nothing(Operation::Set, cx) {
            return Ok(Written::default());
        }
        let key = &self.enter(Operation::Set, key, cx).await?;
        let value = self.kept(key, &value).await;
        let written = self.write(key, value, cx).await?;
        self.note_version(Operation::Set, key).await;
        Ok(self.written(Operation::Set, written))
    }

    async fn set_partial(
        &self,
        key: &str,
        offset: u64,
        bytes: Bytes,
        cx: &OpContext,
    ) -> Result<(), StorageError> {
        if self.done_for_nothing(Operation::SetPartial, cx) {
            return Ok(());
        }
        let key = &self.enter(Operation::SetPartial, key, cx).await?;
        if let Some(value) = self.patched(key, offset, &bytes).await? {
            self.inner.set(key, value.into(), cx).await?;
            self.note_version(Operation::SetPartial, key).await;
        }
        Ok(())
    }

    async fn has(&self, key: &str, cx: &OpContext) -> Result<bool, StorageError> {
        let key = &self.enter(Operation::Has, key, cx).await?;
        let made_up = self.is(Bug::HasSaysYes)
            || self.is(Bug::DirectoryHasValue(Operation::Has)) && self.is_directory(key);
        Ok((self.inner.has(key, cx).await? || made_up) && !self.is(Bug::HasSaysNo))
    }

    async fn delete(&self, key: &str, cx: &OpContext) -> Result<(), StorageError> {
        if self.done_for_nothing(Operation::Delete, cx) {
            return Ok(());
        }
        let key = &self.enter(Operation::Delete, key, cx).await?;
        let present = self.inner.has(key, cx).await?;
        match self.bug {
            Bug::DeleteOfMissingFails if !present => return Err(StorageError::key_not_found()),
            Bug::DeleteKeeps => return Ok(()),
            Bug::DeleteTakesDirectory | Bug::DeleteTakesPrefix => {
                let slash = if self.is(Bug::DeleteTakesDirectory) { "/" } else { "" };
                for known in self.inner.keys() {
                    if known.starts_with(&format!("{key}{slash}")) {
                        self.inner.delete(&known, cx).await?;
                    }
                }
            }
            Bug::ListsDeleted if present => {
                self.ghosts.borrow_mut().insert(key.clone());
            }
            _ => {}
        }
        self.versions.borrow_mut().remove(key);
        self.inner.delete(key, cx).await
    }

    async fn list(
        &self,
        prefix: &str,
        page: &PageRequest,
        cx: &OpContext,
    ) -> Result<Page, StorageError> {
        let prefix = &self.enter(Operation::List, prefix, cx).await?;
        self.listing(prefix, page).await
    }

    async fn stat(&self, key: &str, cx: &OpContext) -> Result<Metadata, StorageError> {
        let key = &self.enter(Operation::Stat, key, cx).await?;
        let found = self.inner.stat(key, cx).await;
        let mut found = self.missing(Operation::Stat, key, found, Metadata::new(0))?;
        match self.bug {
            Bug::SizeIsOneTooLarge => found.size += 1,
            Bug::SizeForgetsPartial => found.size = found.size.min(10),
            Bug::SizeForgetsStream if found.size == 5 => found.size = 15,
            Bug::NoVersion => found.version = None,
            Bug::VersionStays(_) => found.version = self.versions.borrow().get(key).cloned(),
            _ => {}
        }
        Ok(found)
    }

    async fn get_stream(&self, key: &str, cx: &OpContext) -> Result<BrokenReader, StorageError> {
        let aborted = self.is(Bug::AbortedStreamIsTransient) && cx.is_aborted();
        let calm = OpContext::new();
        let cx = if aborted { &calm } else { cx };
        let key = &self.enter(Operation::GetStream, key, cx).await?;
        let found = self.inner.get(key, cx).await;
        let value = self.missing(Operation::GetStream, key, found, Bytes::new())?;
        Ok(BrokenReader::new(value, self.bug, aborted))
    }

    async fn set_stream(&self, key: &str, cx: &OpContext) -> Result<BrokenWriter, StorageError> {
        if self.done_for_nothing(Operation::SetStream, cx) {
            return Ok(BrokenWriter::into_the_void(self));
        }
        let key = self.enter(Operation::SetStream, key, cx).await?;
        validate_key(&key, 1_024)?;
        Ok(BrokenWriter::new(self, key))
    }

    fn capabilities(&self) -> Capabilities {
        match self.bug {
            Bug::KeyLimitOfTwenty => Capabilities::all(20),
            // So that twice as many bytes still fit into the store inside.
            Bug::CountsCharacters => Capabilities::all(200),
            Bug::UndeclaredButDone(operation) => Capabilities::all(1_024).without(operation),
            _ => Capabilities::all(1_024),
        }
    }

    fn depth(&self) -> usize {
        0
    }

    async fn get_range(
        &self,
        key: &str,
        range: Range<u64>,
        cx: &OpContext,
    ) -> Result<Bytes, StorageError> {
        let key = &self.enter(Operation::GetRange, key, cx).await?;
        let found = self.inner.stat(key, cx).await.map(|found| found.size);
        let missing = found.is_err();
        let size = self.missing(Operation::GetRange, key, found, 0)?;
        if missing {
            return Ok(Bytes::new());
        }
        let Range { mut start, mut end } = range;
        match self.bug {
            Bug::RangeEndIsInclusive if end > start => end = end.saturating_add(1),
            Bug::RangeIgnoresStart if start < size => start = 0,
            Bug::RangePastEndFails if end > size => {
                return Err(StorageError::range_not_satisfiable());
            }
            Bug::RangeStartPastEndIsEmpty if start > size => return Ok(Bytes::new()),
            Bug::RangeStartAtEndIsEmpty if start == size => return Ok(Bytes::new()),
            Bug::EmptyRangeFails if end <= start => {
                return Err(StorageError::range_not_satisfiable());
            }
            Bug::BackwardRangeIsTransient if end < start => return Err(StorageError::http(500)),
            _ => {}
        }
        self.inner.get_range(key, start..end, cx).await
    }

    async fn set_if(
        &self,
        key: &str,
        value: Bytes,
        condition: Condition,
        cx: &OpContext,
    ) -> Result<Written, StorageError> {
        if self.done_for_nothing(Operation::SetIf, cx) {
            return Ok(Written::default());
        }
        let key = &self.enter(Operation::SetIf, key, cx).await?;
        let present = self.inner.has(key, cx).await?;
        let empty = present && self.old(key).await.is_empty();
        let by_version = matches!(condition, Condition::VersionMatches(_));
        let anyway = match self.bug {
            Bug::AbsentOverwrites => !by_version,
            Bug::EmptyCountsAsAbsent => !by_version && empty,
            Bug::PresentVersionIsRefused if by_version => {
                return Err(StorageError::precondition_failed());
            }
            Bug::RefusalIsNotFound if by_version && !present => {
                return Err(StorageError::key_not_found());
            }
            Bug::StaleVersionIsTaken => by_version && present,
            Bug::VersionOfMissingCreates => by_version && !present,
            // The versions told are not those of the store inside.
            Bug::VersionStays(_) if by_version => {
                let told = self.versions.borrow().get(key).cloned().filter(|_| present);
                if told.map(Condition::VersionMatches) != Some(condition.clone()) {
                    return Err(StorageError::precondition_failed());
                }
                true
            }
            _ => false,
        };
        let written = if anyway {
            self.inner.set(key, value, cx).await?
        } else {
            self.inner.set_if(key, value, condition, cx).await?
        };
        self.note_version(Operation::SetIf, key).await;
        Ok(self.written(Operation::SetIf, written))
    }
}
