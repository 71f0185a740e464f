//! The table of a memory store: plain data, no lock, no future.
//!
//! What a write replaces is handed back, so that the caller can drop it where that is safe.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use bytes::Bytes;
use hashbrown::HashMap;

use super::MemoryStorage;
use crate::error::StorageError;
use crate::port::{Condition, Entry, Metadata, Page, PageRequest, Version};

/// Keys and their values.
#[derive(Default)]
pub(super) struct Table {
    values: HashMap<String, Held>,
    /// How many writes there were: the version of the latest.
    writes: u64,
}

struct Held {
    value: Bytes,
    version: Count,
}

/// The version of a value: the number of the write that made it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Count(u64);

impl From<Count> for Version {
    fn from(count: Count) -> Self {
        Self::new(count.0.to_string())
    }
}

/// The version of the new value, and the value that it replaced.
pub(super) type Put = (Count, Option<Bytes>);

impl Held {
    fn metadata(&self) -> Metadata {
        Metadata::new(self.value.len() as u64).with_version(self.version.into())
    }
}

impl Table {
    pub(super) const fn count_from(&mut self, count: u64) {
        self.writes = count;
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    pub(super) fn contains(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    pub(super) fn value(&self, key: &str) -> Result<Bytes, StorageError> {
        self.held(key).map(|held| held.value.clone())
    }

    pub(super) fn metadata(&self, key: &str) -> Result<Metadata, StorageError> {
        self.held(key).map(Held::metadata)
    }

    pub(super) fn remove(&mut self, key: &str) -> Option<Bytes> {
        self.values.remove(key).map(|held| held.value)
    }

    pub(super) fn put(&mut self, key: &str, value: Bytes) -> Put {
        self.writes = self.writes.wrapping_add(1);
        let held = Held { value, version: Count(self.writes) };
        let old = match self.values.get_mut(key) {
            Some(known) => Some(core::mem::replace(known, held).value),
            None => {
                self.values.insert(key.into(), held);
                None
            }
        };
        (Count(self.writes), old)
    }

    pub(super) fn put_if(
        &mut self,
        key: &str,
        value: Bytes,
        condition: &Condition,
    ) -> Result<Put, StorageError> {
        let held = self.values.get(key).map(|held| Version::from(held.version));
        let holds = match condition {
            Condition::Absent => held.is_none(),
            Condition::VersionMatches(wanted) => held.as_ref() == Some(wanted),
        };
        if holds { Ok(self.put(key, value)) } else { Err(StorageError::precondition_failed()) }
    }

    pub(super) fn put_partial(
        &mut self,
        key: &str,
        offset: u64,
        bytes: &[u8],
    ) -> Result<Option<Bytes>, StorageError> {
        let old = self.values.get(key).map(|held| &*held.value).unwrap_or_default();
        let new = patched(old, offset, bytes)?;
        Ok(self.put(key, new.into()).1)
    }

    pub(super) fn keys(&self) -> Vec<String> {
        let mut keys: Vec<String> = self.values.keys().cloned().collect();
        keys.sort_unstable();
        keys
    }

    /// Finds the page among the matching keys first and sorts that page alone.
    pub(super) fn page(&self, prefix: &str, request: &PageRequest) -> Page {
        let limit = request.limit.max(1);
        let after = request.after.as_deref();
        let mut found: Vec<(&String, &Held)> = self
            .values
            .iter()
            .filter(|(key, _)| key.starts_with(prefix))
            .filter(|(key, _)| after.is_none_or(|after| key.as_str() > after))
            .collect();
        let more = found.len() > limit;
        if more {
            found.select_nth_unstable_by_key(limit, |(key, _)| *key);
            found.truncate(limit);
        }
        found.sort_unstable_by_key(|(key, _)| *key);
        let next = found.last().filter(|_| more).map(|(key, _)| (*key).clone());
        let entries =
            found.into_iter().map(|(key, held)| Entry::new(key.clone(), held.metadata())).collect();
        Page::new(entries, next)
    }

    fn held(&self, key: &str) -> Result<&Held, StorageError> {
        self.values.get(key).ok_or_else(StorageError::key_not_found)
    }
}

/// `old` with `bytes` written over it from `offset` on, and zero bytes where neither reaches.
fn patched(old: &[u8], offset: u64, bytes: &[u8]) -> Result<Vec<u8>, StorageError> {
    let target = target(old.len(), offset, bytes.len())?;
    let len = target.end.max(old.len());
    let mut new = reserved(len)?;
    new.extend_from_slice(old);
    new.resize(len, 0);
    if let Some(place) = new.get_mut(target) {
        place.copy_from_slice(bytes);
    }
    Ok(new)
}

/// Where a partial write of `len` bytes lands in a value of `old_len` bytes.
///
/// A write of nothing extends nothing: there is no byte that asks for it.
pub(super) fn target(
    old_len: usize,
    offset: u64,
    len: usize,
) -> Result<Range<usize>, StorageError> {
    if len == 0 {
        return Ok(0..0);
    }
    let start = usize::try_from(offset).unwrap_or(usize::MAX);
    let end = start.saturating_add(len);
    if end > old_len.max(MemoryStorage::MAX_EXTENDED_BYTES) {
        return Err(StorageError::http(413)
            .with_detail("a partial write may extend a value in memory to 1 GiB and no further"));
    }
    Ok(start..end)
}

/// Room for `len` bytes, or HTTP 507 where the memory has none.
pub(super) fn reserved(len: usize) -> Result<Vec<u8>, StorageError> {
    let mut room = Vec::new();
    room.try_reserve_exact(len).map_err(|_| {
        StorageError::http(507).with_detail("there is not enough memory for the value")
    })?;
    Ok(room)
}
