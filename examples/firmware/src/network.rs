//! A backend behind a network that has good times and bad ones.

use core::cell::Cell;

use bytes::Bytes;
use embassy_time::{Instant, Timer};
use storage_mux::{
    Capabilities, LocalStorage, MemoryReader, MemoryStorage, MemoryWriter, Metadata, OpContext,
    Page, PageRequest, StorageError, Written,
};

/// How the network behaves for a while.
#[derive(Clone, Copy)]
pub enum Weather {
    /// Answers take this many milliseconds.
    Fine(u64),
    /// No answer ever comes.
    Hangs,
    /// The server answers with this HTTP status.
    Fails(u16),
}

/// A server in memory, reached over a network whose weather is known in advance.
pub struct Network {
    server: MemoryStorage,
    since: Instant,
    forecast: &'static [(u64, Weather)],
    refusals: Cell<u32>,
    asked: Cell<u32>,
}

impl Network {
    /// A network with this forecast: until when, in milliseconds from now, and what. The last
    /// entry stays.
    pub fn new(forecast: &'static [(u64, Weather)]) -> Self {
        let (refusals, asked) = (Cell::new(0), Cell::new(0));
        Self { server: MemoryStorage::new(), since: Instant::now(), forecast, refusals, asked }
    }

    /// What the server holds.
    pub fn server(&self) -> &MemoryStorage {
        &self.server
    }

    /// The next `calls` calls are refused, whatever the weather.
    pub fn refuse(&self, calls: u32) {
        self.refusals.set(calls);
    }

    /// How often it was asked for anything.
    pub fn asked(&self) -> u32 {
        self.asked.get()
    }

    async fn reach(&self) -> Result<(), StorageError> {
        self.asked.set(self.asked.get() + 1);
        if let Some(left) = self.refusals.get().checked_sub(1) {
            self.refusals.set(left);
            return Err(StorageError::http(503));
        }
        let now = self.since.elapsed().as_millis();
        let coming = self.forecast.iter().find(|(until, _)| now < *until);
        match coming.or(self.forecast.last()).map(|(_, weather)| *weather) {
            Some(Weather::Hangs) => core::future::pending().await,
            Some(Weather::Fails(status)) => Err(StorageError::http(status)),
            Some(Weather::Fine(millis)) => {
                Timer::after_millis(millis).await;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

impl LocalStorage for Network {
    type Reader = MemoryReader;
    type Writer = MemoryWriter;

    async fn get(&self, key: &str, cx: &OpContext) -> Result<Bytes, StorageError> {
        self.reach().await?;
        self.server.get(key, cx).await
    }

    async fn set(&self, key: &str, value: Bytes, cx: &OpContext) -> Result<Written, StorageError> {
        self.reach().await?;
        self.server.set(key, value, cx).await
    }

    async fn set_partial(
        &self,
        key: &str,
        offset: u64,
        bytes: Bytes,
        cx: &OpContext,
    ) -> Result<(), StorageError> {
        self.reach().await?;
        self.server.set_partial(key, offset, bytes, cx).await
    }

    async fn has(&self, key: &str, cx: &OpContext) -> Result<bool, StorageError> {
        self.reach().await?;
        self.server.has(key, cx).await
    }

    async fn delete(&self, key: &str, cx: &OpContext) -> Result<(), StorageError> {
        self.reach().await?;
        self.server.delete(key, cx).await
    }

    async fn list(
        &self,
        prefix: &str,
        page: &PageRequest,
        cx: &OpContext,
    ) -> Result<Page, StorageError> {
        self.reach().await?;
        self.server.list(prefix, page, cx).await
    }

    async fn stat(&self, key: &str, cx: &OpContext) -> Result<Metadata, StorageError> {
        self.reach().await?;
        self.server.stat(key, cx).await
    }

    async fn get_stream(&self, key: &str, cx: &OpContext) -> Result<MemoryReader, StorageError> {
        self.reach().await?;
        self.server.get_stream(key, cx).await
    }

    async fn set_stream(&self, key: &str, cx: &OpContext) -> Result<MemoryWriter, StorageError> {
        self.reach().await?;
        self.server.set_stream(key, cx).await
    }

    fn capabilities(&self) -> Capabilities {
        use storage_mux::Operation::{GetRange, SetIf};

        self.server.capabilities().without(GetRange).without(SetIf)
    }

    fn depth(&self) -> usize {
        0
    }
}
