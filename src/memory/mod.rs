//! The reference backend: values in memory, shared by every clone of the handle.
//!
//! [`MemoryStorage`] is for tests, for caches and as the plainest example of a backend. It has
//! every operation, and no operation of it ever waits.

mod stream;
mod table;
#[cfg(test)]
mod tests;

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use bytes::Bytes;

use self::table::Table;
use crate::error::StorageError;
use crate::key::validate_key;
use crate::port::{
    Capabilities, Condition, Metadata, OpContext, Page, PageRequest, Storage, Written,
};
use crate::sync::{Arc, Lock};

pub use self::stream::{MemoryReader, MemoryWriter};

/// A storage in memory. Clones share the data.
///
/// Every operation is there and completes on its first poll. Reading copies nothing and, apart
/// from a version in the metadata, allocates nothing. Versions are a count of the writes to the
/// store, as text. Listings are sorted by the bytes of the key. A context whose signal has aborted
/// is refused with `STORAGE.ABORTED` and nothing is touched.
///
/// A write takes its memory before it changes anything: where there is none the value stays as it
/// was and the error is HTTP 507.
///
/// ```
/// use futures_util::FutureExt;
/// use storage_mux::{MemoryStorage, OpContext, Storage};
///
/// let (storage, cx) = (MemoryStorage::new(), OpContext::new());
/// let value = async {
///     storage.set("greeting", "hello".into(), &cx).await?;
///     storage.clone().get("greeting", &cx).await
/// };
/// assert_eq!(value.now_or_never(), Some(Ok("hello".into())));
/// ```
#[derive(Clone, Default)]
pub struct MemoryStorage {
    table: Arc<Lock<Table>>,
}

impl MemoryStorage {
    /// The longest key, in bytes.
    pub const MAX_KEY_BYTES: usize = 1024;

    /// The size in bytes up to which `set_partial` extends a value: one gibibyte. An offset is a
    /// small number that asks for much memory, so a slip of the caller must not exhaust it. Past
    /// this the answer is HTTP 413. Values that are handed over whole have no limit of their own.
    pub const MAX_EXTENDED_BYTES: usize = 1 << 30;

    /// The longest chunk that a read stream gives, in bytes.
    pub const MAX_CHUNK_BYTES: usize = 64 * 1024;

    /// An empty storage.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with versions that count on from `count`, for whoever hands them out of the
    /// process: a count that begins at a number drawn at random does not repeat the versions of
    /// the process before, whose values are gone.
    #[must_use]
    pub fn with_versions_after(self, count: u64) -> Self {
        self.table.with(|table| table.count_from(count));
        self
    }

    /// How many keys have a value.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table.with(|table| table.len())
    }

    /// Whether no key has a value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The keys, sorted by their bytes.
    #[must_use]
    pub fn keys(&self) -> Vec<String> {
        self.table.with(|table| table.keys())
    }

    /// What every operation with a key begins with.
    fn enter(key: &str, cx: &OpContext) -> Result<(), StorageError> {
        if cx.is_aborted() {
            return Err(StorageError::aborted());
        }
        validate_key(key, Self::MAX_KEY_BYTES)
    }

    /// Puts a whole value in its place.
    fn put(&self, key: &str, value: Bytes) -> Written {
        let (version, old) = self.table.with(|table| table.put(key, value));
        // The memory of a value may have an owner with a drop of its own: never under the lock.
        drop(old);
        Written::with_version(version.into())
    }
}

impl fmt::Debug for MemoryStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStorage").field("len", &self.len()).finish()
    }
}

#[deny(clippy::missing_trait_methods)]
impl Storage for MemoryStorage {
    type Reader = MemoryReader;
    type Writer = MemoryWriter;

    async fn get(&self, key: &str, cx: &OpContext) -> Result<Bytes, StorageError> {
        Self::enter(key, cx)?;
        self.table.with(|table| table.value(key))
    }

    async fn set(&self, key: &str, value: Bytes, cx: &OpContext) -> Result<Written, StorageError> {
        Self::enter(key, cx)?;
        Ok(self.put(key, value))
    }

    async fn set_partial(
        &self,
        key: &str,
        offset: u64,
        bytes: Bytes,
        cx: &OpContext,
    ) -> Result<(), StorageError> {
        Self::enter(key, cx)?;
        let old = self.table.with(|table| table.put_partial(key, offset, &bytes))?;
        drop(old);
        Ok(())
    }

    async fn has(&self, key: &str, cx: &OpContext) -> Result<bool, StorageError> {
        Self::enter(key, cx)?;
        Ok(self.table.with(|table| table.contains(key)))
    }

    async fn delete(&self, key: &str, cx: &OpContext) -> Result<(), StorageError> {
        Self::enter(key, cx)?;
        drop(self.table.with(|table| table.remove(key)));
        Ok(())
    }

    async fn list(
        &self,
        prefix: &str,
        page: &PageRequest,
        cx: &OpContext,
    ) -> Result<Page, StorageError> {
        if cx.is_aborted() {
            return Err(StorageError::aborted());
        }
        Ok(self.table.with(|table| table.page(prefix, page)))
    }

    async fn stat(&self, key: &str, cx: &OpContext) -> Result<Metadata, StorageError> {
        Self::enter(key, cx)?;
        self.table.with(|table| table.metadata(key))
    }

    async fn get_stream(&self, key: &str, cx: &OpContext) -> Result<MemoryReader, StorageError> {
        Self::enter(key, cx)?;
        Ok(MemoryReader::new(self.table.with(|table| table.value(key))?))
    }

    async fn set_stream(&self, key: &str, cx: &OpContext) -> Result<MemoryWriter, StorageError> {
        Self::enter(key, cx)?;
        Ok(MemoryWriter::new(self.clone(), key.into()))
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::all(Self::MAX_KEY_BYTES as u32)
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
        Self::enter(key, cx)?;
        let value = self.table.with(|table| table.value(key))?;
        let start = usize::try_from(range.start).unwrap_or(usize::MAX);
        if start >= value.len() {
            return Err(StorageError::range_not_satisfiable());
        }
        let end = usize::try_from(range.end).unwrap_or(usize::MAX).clamp(start, value.len());
        Ok(value.slice(start..end))
    }

    async fn set_if(
        &self,
        key: &str,
        value: Bytes,
        condition: Condition,
        cx: &OpContext,
    ) -> Result<Written, StorageError> {
        Self::enter(key, cx)?;
        let (version, old) = self.table.with(|table| table.put_if(key, value, &condition))?;
        drop(old);
        Ok(Written::with_version(version.into()))
    }
}
