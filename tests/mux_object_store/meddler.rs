//! A storage that somebody else writes to right after each look at it.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use storage_mux::backend::MuxObjectStore;
use storage_mux::{
    Capabilities, Condition, MemoryReader, MemoryStorage, MemoryWriter, Metadata, OpContext,
    Operation, Page, PageRequest, SharedStorage, Storage, StorageError, Written,
};

/// Clones share the values and what is still to be written.
#[derive(Clone, Default)]
pub(crate) struct Meddler {
    pub(crate) memory: MemoryStorage,
    writes: Arc<Mutex<VecDeque<Bytes>>>,
    without: Option<Operation>,
}

impl Meddler {
    /// Lacks this operation, as some backends do.
    pub(crate) fn without(operation: Operation) -> Self {
        Self { without: Some(operation), ..Self::default() }
    }

    /// After each `stat`, one of these becomes the value of the key.
    pub(crate) fn meddle(&self, writes: impl IntoIterator<Item = Bytes>) {
        self.writes.lock().unwrap().extend(writes);
    }

    /// What is still to be written.
    pub(crate) fn left(&self) -> usize {
        self.writes.lock().unwrap().len()
    }

    pub(crate) fn store(&self) -> MuxObjectStore {
        MuxObjectStore::new(SharedStorage::new(self.clone()))
    }
}

impl Storage for Meddler {
    type Reader = MemoryReader;
    type Writer = MemoryWriter;

    async fn get(&self, key: &str, cx: &OpContext) -> Result<Bytes, StorageError> {
        Storage::get(&self.memory, key, cx).await
    }

    async fn set(&self, key: &str, value: Bytes, cx: &OpContext) -> Result<Written, StorageError> {
        Storage::set(&self.memory, key, value, cx).await
    }

    async fn set_partial(
        &self,
        key: &str,
        offset: u64,
        bytes: Bytes,
        cx: &OpContext,
    ) -> Result<(), StorageError> {
        Storage::set_partial(&self.memory, key, offset, bytes, cx).await
    }

    async fn has(&self, key: &str, cx: &OpContext) -> Result<bool, StorageError> {
        Storage::has(&self.memory, key, cx).await
    }

    async fn delete(&self, key: &str, cx: &OpContext) -> Result<(), StorageError> {
        Storage::delete(&self.memory, key, cx).await
    }

    async fn list(
        &self,
        prefix: &str,
        page: &PageRequest,
        cx: &OpContext,
    ) -> Result<Page, StorageError> {
        Storage::list(&self.memory, prefix, page, cx).await
    }

    async fn stat(&self, key: &str, cx: &OpContext) -> Result<Metadata, StorageError> {
        let known = Storage::stat(&self.memory, key, cx).await?;
        let next = self.writes.lock().unwrap().pop_front();
        if let Some(value) = next {
            Storage::set(&self.memory, key, value, cx).await?;
        }
        Ok(known)
    }

    async fn get_stream(&self, key: &str, cx: &OpContext) -> Result<MemoryReader, StorageError> {
        Storage::get_stream(&self.memory, key, cx).await
    }

    async fn set_stream(&self, key: &str, cx: &OpContext) -> Result<MemoryWriter, StorageError> {
        Storage::set_stream(&self.memory, key, cx).await
    }

    fn capabilities(&self) -> Capabilities {
        let all = Storage::capabilities(&self.memory);
        self.without.map_or(all, |operation| all.without(operation))
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
        if self.without == Some(Operation::GetRange) {
            return Err(StorageError::unsupported());
        }
        Storage::get_range(&self.memory, key, range, cx).await
    }

    async fn set_if(
        &self,
        key: &str,
        value: Bytes,
        condition: Condition,
        cx: &OpContext,
    ) -> Result<Written, StorageError> {
        Storage::set_if(&self.memory, key, value, condition, cx).await
    }
}
