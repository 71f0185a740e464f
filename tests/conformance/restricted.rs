//! Honest storages that can do less than all.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use storage_mux::{
    Capabilities, Condition, LocalStorage, MemoryReader, MemoryStorage, MemoryWriter, Metadata,
    OpContext, Operation, Page, PageRequest, Storage, StorageError, Written, validate_key,
};

/// A memory storage with fewer operations or shorter keys, which it declares and keeps to.
pub(crate) struct Restricted {
    inner: MemoryStorage,
    capabilities: Capabilities,
    largest_set: AtomicUsize,
}

impl Restricted {
    pub(crate) fn new(
        inner: MemoryStorage,
        restrict: impl FnOnce(Capabilities) -> Capabilities,
    ) -> Self {
        let capabilities = restrict(Storage::capabilities(&inner));
        Self { inner, capabilities, largest_set: AtomicUsize::new(0) }
    }

    /// The size of the largest value that was set whole.
    pub(crate) fn largest_set(&self) -> usize {
        self.largest_set.load(Ordering::SeqCst)
    }

    fn check(&self, operation: Operation, key: &str) -> Result<(), StorageError> {
        if !self.capabilities.contains(operation) {
            return Err(StorageError::unsupported());
        }
        if operation == Operation::List {
            return Ok(());
        }
        validate_key(key, self.capabilities.max_key_bytes())
    }
}

#[deny(clippy::missing_trait_methods)]
impl Storage for Restricted {
    type Reader = MemoryReader;
    type Writer = MemoryWriter;

    async fn get(&self, key: &str, cx: &OpContext) -> Result<Bytes, StorageError> {
        self.check(Operation::Get, key)?;
        Storage::get(&self.inner, key, cx).await
    }

    async fn set(&self, key: &str, value: Bytes, cx: &OpContext) -> Result<Written, StorageError> {
        self.check(Operation::Set, key)?;
        self.largest_set.fetch_max(value.len(), Ordering::SeqCst);
        Storage::set(&self.inner, key, value, cx).await
    }

    async fn set_partial(
        &self,
        key: &str,
        offset: u64,
        bytes: Bytes,
        cx: &OpContext,
    ) -> Result<(), StorageError> {
        self.check(Operation::SetPartial, key)?;
        Storage::set_partial(&self.inner, key, offset, bytes, cx).await
    }

    async fn has(&self, key: &str, cx: &OpContext) -> Result<bool, StorageError> {
        self.check(Operation::Has, key)?;
        Storage::has(&self.inner, key, cx).await
    }

    async fn delete(&self, key: &str, cx: &OpContext) -> Result<(), StorageError> {
        self.check(Operation::Delete, key)?;
        Storage::delete(&self.inner, key, cx).await
    }

    async fn list(
        &self,
        prefix: &str,
        page: &PageRequest,
        cx: &OpContext,
    ) -> Result<Page, StorageError> {
        self.check(Operation::List, prefix)?;
        Storage::list(&self.inner, prefix, page, cx).await
    }

    async fn stat(&self, key: &str, cx: &OpContext) -> Result<Metadata, StorageError> {
        self.check(Operation::Stat, key)?;
        Storage::stat(&self.inner, key, cx).await
    }

    async fn get_stream(&self, key: &str, cx: &OpContext) -> Result<MemoryReader, StorageError> {
        self.check(Operation::GetStream, key)?;
        Storage::get_stream(&self.inner, key, cx).await
    }

    async fn set_stream(&self, key: &str, cx: &OpContext) -> Result<MemoryWriter, StorageError> {
        self.check(Operation::SetStream, key)?;
        Storage::set_stream(&self.inner, key, cx).await
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
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
        self.check(Operation::GetRange, key)?;
        Storage::get_range(&self.inner, key, range, cx).await
    }

    async fn set_if(
        &self,
        key: &str,
        value: Bytes,
        condition: Condition,
        cx: &OpContext,
    ) -> Result<Written, StorageError> {
        self.check(Operation::SetIf, key)?;
        Storage::set_if(&self.inner, key, value, condition, cx).await
    }
}

/// Writes the methods that every implementor must have, and none of the provided ones.
macro_rules! required_methods {
    () => {
        type Reader = MemoryReader;
        type Writer = MemoryWriter;

        async fn get(&self, key: &str, cx: &OpContext) -> Result<Bytes, StorageError> {
            Storage::get(&self.0, key, cx).await
        }

        async fn set(
            &self,
            key: &str,
            value: Bytes,
            cx: &OpContext,
        ) -> Result<Written, StorageError> {
            Storage::set(&self.0, key, value, cx).await
        }

        async fn set_partial(
            &self,
            key: &str,
            offset: u64,
            bytes: Bytes,
            cx: &OpContext,
        ) -> Result<(), StorageError> {
            Storage::set_partial(&self.0, key, offset, bytes, cx).await
        }

        async fn has(&self, key: &str, cx: &OpContext) -> Result<bool, StorageError> {
            Storage::has(&self.0, key, cx).await
        }

        async fn delete(&self, key: &str, cx: &OpContext) -> Result<(), StorageError> {
            Storage::delete(&self.0, key, cx).await
        }

        async fn list(
            &self,
            prefix: &str,
            page: &PageRequest,
            cx: &OpContext,
        ) -> Result<Page, StorageError> {
            Storage::list(&self.0, prefix, page, cx).await
        }

        async fn stat(&self, key: &str, cx: &OpContext) -> Result<Metadata, StorageError> {
            Storage::stat(&self.0, key, cx).await
        }

        async fn get_stream(
            &self,
            key: &str,
            cx: &OpContext,
        ) -> Result<MemoryReader, StorageError> {
            Storage::get_stream(&self.0, key, cx).await
        }

        async fn set_stream(
            &self,
            key: &str,
            cx: &OpContext,
        ) -> Result<MemoryWriter, StorageError> {
            Storage::set_stream(&self.0, key, cx).await
        }

        fn capabilities(&self) -> Capabilities {
            Storage::capabilities(&self.0).without(Operation::GetRange).without(Operation::SetIf)
        }

        fn depth(&self) -> usize {
            0
        }
    };
}

/// A storage as it was written before the provided operations existed.
pub(crate) struct Minimal(pub(crate) MemoryStorage);

impl Storage for Minimal {
    required_methods!();
}

/// The same for a single thread.
pub(crate) struct MinimalLocal(pub(crate) MemoryStorage);

impl LocalStorage for MinimalLocal {
    required_methods!();
}
