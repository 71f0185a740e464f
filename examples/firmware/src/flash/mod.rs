//! A storage on a NOR chip, which erases whole sectors and otherwise only clears bits.
//!
//! The chip is simulated in RAM. The store on it finds nothing again after a restart; one for a
//! real chip must.

mod chip;
mod log;

use core::cell::{Cell, RefCell};

use bytes::Bytes;
use embassy_time::Timer;
use storage_mux::{
    Capabilities, LocalStorage, MemoryReader, MemoryWriter, Metadata, OpContext, Operation, Page,
    PageRequest, StorageError, Written, validate_key,
};

use self::log::Log;

/// The longest key, in bytes.
const MAX_KEY_BYTES: usize = 64;

/// The storage. Shared by reference count.
#[derive(Default)]
pub struct FlashStore {
    log: RefCell<Log>,
    broken: Cell<bool>,
}

impl FlashStore {
    /// An empty chip.
    pub fn new() -> Self {
        Self::default()
    }

    /// From now on the chip answers nothing but errors, or works again.
    pub fn set_broken(&self, broken: bool) {
        self.broken.set(broken);
    }

    /// How many sectors were erased so far.
    pub fn erases(&self) -> u32 {
        self.log.borrow().erases()
    }

    fn enter(&self, key: &str, cx: &OpContext) -> Result<(), StorageError> {
        if cx.is_aborted() {
            return Err(StorageError::aborted());
        }
        if self.broken.get() {
            return Err(StorageError::other("the flash chip does not answer"));
        }
        validate_key(key, MAX_KEY_BYTES)
    }

    /// Appends to the log. The time that it takes comes first, so that it happens at once or,
    /// where the future is dropped, not at all.
    async fn append(
        &self,
        key: &str,
        value: Option<&[u8]>,
        cx: &OpContext,
    ) -> Result<(), StorageError> {
        self.enter(key, cx)?;
        Timer::after_millis(1).await;
        self.log.borrow_mut().append(key, value)
    }

    fn size(&self, key: &str) -> Option<usize> {
        self.log.borrow().value(key).map(<[u8]>::len)
    }
}

impl LocalStorage for FlashStore {
    type Reader = MemoryReader;
    type Writer = MemoryWriter;

    async fn get(&self, key: &str, cx: &OpContext) -> Result<Bytes, StorageError> {
        self.enter(key, cx)?;
        let log = self.log.borrow();
        log.value(key).map(Bytes::copy_from_slice).ok_or_else(StorageError::key_not_found)
    }

    async fn set(&self, key: &str, value: Bytes, cx: &OpContext) -> Result<Written, StorageError> {
        self.append(key, Some(&value), cx).await?;
        Ok(Written::default())
    }

    async fn has(&self, key: &str, cx: &OpContext) -> Result<bool, StorageError> {
        self.enter(key, cx)?;
        Ok(self.size(key).is_some())
    }

    async fn delete(&self, key: &str, cx: &OpContext) -> Result<(), StorageError> {
        self.append(key, None, cx).await
    }

    async fn list(
        &self,
        prefix: &str,
        page: &PageRequest,
        cx: &OpContext,
    ) -> Result<Page, StorageError> {
        self.enter("any", cx)?;
        Ok(self.log.borrow().page(prefix, page))
    }

    async fn stat(&self, key: &str, cx: &OpContext) -> Result<Metadata, StorageError> {
        self.enter(key, cx)?;
        let size = self.size(key).ok_or_else(StorageError::key_not_found)?;
        Ok(Metadata::new(size as u64))
    }

    async fn set_partial(
        &self,
        _: &str,
        _: u64,
        _: Bytes,
        _: &OpContext,
    ) -> Result<(), StorageError> {
        Err(StorageError::unsupported())
    }

    async fn get_stream(&self, _: &str, _: &OpContext) -> Result<MemoryReader, StorageError> {
        Err(StorageError::unsupported())
    }

    async fn set_stream(&self, _: &str, _: &OpContext) -> Result<MemoryWriter, StorageError> {
        Err(StorageError::unsupported())
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::none(MAX_KEY_BYTES as u32)
            .with(Operation::Get)
            .with(Operation::Set)
            .with(Operation::Has)
            .with(Operation::Delete)
            .with(Operation::List)
            .with(Operation::Stat)
    }

    fn depth(&self) -> usize {
        0
    }
}
