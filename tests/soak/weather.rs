//! A store in memory that fails, dawdles and hangs by chance.

use std::future::pending;
use std::ops::Range;
use std::time::Duration;

use bytes::Bytes;
use storage_mux::{
    Capabilities, Condition, MemoryReader, MemoryStorage, MemoryWriter, Metadata, OpContext, Page,
    PageRequest, Rng, SeededRng, Storage, StorageError, Written,
};

/// One store, and the chance that decides over each operation.
pub(crate) struct Weather {
    inner: MemoryStorage,
    chance: SeededRng,
}

impl Weather {
    pub(crate) fn new(seed: u64) -> Self {
        Self { inner: MemoryStorage::new(), chance: SeededRng::new(seed) }
    }

    /// Of a thousand operations 30 fail at once, 40 after a while, 2 hang, and 150 take some time.
    async fn pass(&self) -> Result<(), StorageError> {
        let draw = self.chance.next_u64();
        let wait = Duration::from_millis(1 + (draw >> 32) % 5);
        match draw % 1_000 {
            0..30 => Err(StorageError::http(503)),
            30..70 => {
                tokio::time::sleep(wait).await;
                Err(StorageError::http(500))
            }
            70..72 => pending().await,
            72..222 => {
                tokio::time::sleep(wait).await;
                Ok(())
            }
            222..400 => {
                tokio::task::yield_now().await;
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

impl Storage for Weather {
    type Reader = MemoryReader;
    type Writer = MemoryWriter;

    async fn get(&self, key: &str, cx: &OpContext) -> Result<Bytes, StorageError> {
        self.pass().await?;
        Storage::get(&self.inner, key, cx).await
    }

    async fn set(&self, key: &str, value: Bytes, cx: &OpContext) -> Result<Written, StorageError> {
        self.pass().await?;
        Storage::set(&self.inner, key, value, cx).await
    }

    async fn set_partial(
        &self,
        key: &str,
        offset: u64,
        bytes: Bytes,
        cx: &OpContext,
    ) -> Result<(), StorageError> {
        self.pass().await?;
        Storage::set_partial(&self.inner, key, offset, bytes, cx).await
    }

    async fn has(&self, key: &str, cx: &OpContext) -> Result<bool, StorageError> {
        self.pass().await?;
        Storage::has(&self.inner, key, cx).await
    }

    async fn delete(&self, key: &str, cx: &OpContext) -> Result<(), StorageError> {
        self.pass().await?;
        Storage::delete(&self.inner, key, cx).await
    }

    async fn list(
        &self,
        prefix: &str,
        page: &PageRequest,
        cx: &OpContext,
    ) -> Result<Page, StorageError> {
        self.pass().await?;
        Storage::list(&self.inner, prefix, page, cx).await
    }

    async fn stat(&self, key: &str, cx: &OpContext) -> Result<Metadata, StorageError> {
        self.pass().await?;
        Storage::stat(&self.inner, key, cx).await
    }

    async fn get_stream(&self, key: &str, cx: &OpContext) -> Result<MemoryReader, StorageError> {
        self.pass().await?;
        Storage::get_stream(&self.inner, key, cx).await
    }

    async fn set_stream(&self, key: &str, cx: &OpContext) -> Result<MemoryWriter, StorageError> {
        self.pass().await?;
        Storage::set_stream(&self.inner, key, cx).await
    }

    fn capabilities(&self) -> Capabilities {
        Storage::capabilities(&self.inner)
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
        self.pass().await?;
        Storage::get_range(&self.inner, key, range, cx).await
    }

    async fn set_if(
        &self,
        key: &str,
        value: Bytes,
        condition: Condition,
        cx: &OpContext,
    ) -> Result<Written, StorageError> {
        self.pass().await?;
        Storage::set_if(&self.inner, key, value, condition, cx).await
    }
}
