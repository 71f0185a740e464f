//! A memory store that looks at each `get` before it answers, and may refuse or panic.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use storage_mux::{
    Capabilities, Condition, MemoryReader, MemoryStorage, MemoryWriter, Metadata, OpContext, Page,
    PageRequest, Storage, StorageError, Written,
};

type Hook = dyn Fn(&OpContext) -> Result<(), StorageError> + Send + Sync;

pub(crate) struct Hooked {
    inner: MemoryStorage,
    hook: Arc<Hook>,
}

impl Hooked {
    pub(crate) fn new(
        hook: impl Fn(&OpContext) -> Result<(), StorageError> + Send + Sync + 'static,
    ) -> Self {
        Self { inner: MemoryStorage::new(), hook: Arc::new(hook) }
    }
}

#[deny(clippy::missing_trait_methods)]
impl Storage for Hooked {
    type Reader = MemoryReader;
    type Writer = MemoryWriter;

    async fn get(&self, key: &str, cx: &OpContext) -> Result<Bytes, StorageError> {
        (self.hook)(cx)?;
        self.inner.get(key, cx).await
    }

    async fn set(&self, key: &str, value: Bytes, cx: &OpContext) -> Result<Written, StorageError> {
        self.inner.set(key, value, cx).await
    }

    async fn set_partial(
        &self,
        key: &str,
        offset: u64,
        bytes: Bytes,
        cx: &OpContext,
    ) -> Result<(), StorageError> {
        self.inner.set_partial(key, offset, bytes, cx).await
    }

    async fn has(&self, key: &str, cx: &OpContext) -> Result<bool, StorageError> {
        self.inner.has(key, cx).await
    }

    async fn delete(&self, key: &str, cx: &OpContext) -> Result<(), StorageError> {
        self.inner.delete(key, cx).await
    }

    async fn list(
        &self,
        prefix: &str,
        page: &PageRequest,
        cx: &OpContext,
    ) -> Result<Page, StorageError> {
        self.inner.list(prefix, page, cx).await
    }

    async fn stat(&self, key: &str, cx: &OpContext) -> Result<Metadata, StorageError> {
        self.inner.stat(key, cx).await
    }

    async fn get_stream(&self, key: &str, cx: &OpContext) -> Result<MemoryReader, StorageError> {
        self.inner.get_stream(key, cx).await
    }

    async fn set_stream(&self, key: &str, cx: &OpContext) -> Result<MemoryWriter, StorageError> {
        self.inner.set_stream(key, cx).await
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn depth(&self) -> usize {
        self.inner.depth()
    }

    async fn get_range(
        &self,
        key: &str,
        range: Range<u64>,
        cx: &OpContext,
    ) -> Result<Bytes, StorageError> {
        self.inner.get_range(key, range, cx).await
    }

    async fn set_if(
        &self,
        key: &str,
        value: Bytes,
        condition: Condition,
        cx: &OpContext,
    ) -> Result<Written, StorageError> {
        self.inner.set_if(key, value, condition, cx).await
    }
}
