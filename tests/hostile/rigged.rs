//! Parts with hooks: a storage, and a clock, that run foreign code at a chosen moment.
#![allow(unreachable_pub)]

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use storage_mux::sim::{FakeClock, FakeSleep};
use storage_mux::{
    Capabilities, Clock, Instant, MemoryStorage, Metadata, OpContext, Page, PageRequest, Storage,
    StorageError, Written,
};

type Reader = <MemoryStorage as Storage>::Reader;
type Hook = Arc<dyn Fn(&'static str) + Send + Sync>;

/// A memory store that calls its hook before each operation, and whose read stream panics when it
/// is polled after its end, as streams may.
#[derive(Clone)]
pub struct Rigged {
    pub inner: MemoryStorage,
    hook: Hook,
}

impl Rigged {
    pub fn new(hook: impl Fn(&'static str) + Send + Sync + 'static) -> Self {
        Self { inner: MemoryStorage::new(), hook: Arc::new(hook) }
    }
}

pub struct OneWay(Option<Reader>);

impl Stream for OneWay {
    type Item = Result<Bytes, StorageError>;

    fn poll_next(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let reader = this.0.as_mut().expect("polled after its end");
        let next = Pin::new(reader).poll_next(task);
        if matches!(next, Poll::Ready(None)) {
            this.0 = None;
        }
        next
    }
}

impl Storage for Rigged {
    type Reader = OneWay;
    type Writer = <MemoryStorage as Storage>::Writer;

    async fn get(&self, key: &str, cx: &OpContext) -> Result<Bytes, StorageError> {
        (self.hook)("get");
        self.inner.get(key, cx).await
    }

    async fn set(&self, key: &str, value: Bytes, cx: &OpContext) -> Result<Written, StorageError> {
        (self.hook)("set");
        self.inner.set(key, value, cx).await
    }

    async fn set_partial(
        &self,
        key: &str,
        offset: u64,
        bytes: Bytes,
        cx: &OpContext,
    ) -> Result<(), StorageError> {
        (self.hook)("set_partial");
        self.inner.set_partial(key, offset, bytes, cx).await
    }

    async fn has(&self, key: &str, cx: &OpContext) -> Result<bool, StorageError> {
        (self.hook)("has");
        self.inner.has(key, cx).await
    }

    async fn delete(&self, key: &str, cx: &OpContext) -> Result<(), StorageError> {
        (self.hook)("delete");
        self.inner.delete(key, cx).await
    }

    async fn list(
        &self,
        prefix: &str,
        page: &PageRequest,
        cx: &OpContext,
    ) -> Result<Page, StorageError> {
        (self.hook)("list");
        self.inner.list(prefix, page, cx).await
    }

    async fn stat(&self, key: &str, cx: &OpContext) -> Result<Metadata, StorageError> {
        (self.hook)("stat");
        self.inner.stat(key, cx).await
    }

    async fn get_stream(&self, key: &str, cx: &OpContext) -> Result<OneWay, StorageError> {
        (self.hook)("get_stream");
        Ok(OneWay(Some(self.inner.get_stream(key, cx).await?)))
    }

    async fn set_stream(&self, key: &str, cx: &OpContext) -> Result<Self::Writer, StorageError> {
        (self.hook)("set_stream");
        self.inner.set_stream(key, cx).await
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn depth(&self) -> usize {
        0
    }
}

type Once = Arc<Mutex<Option<Box<dyn FnOnce() + Send>>>>;

/// A clock that runs a piece of foreign code, once, the next time it is read.
#[derive(Clone, Default)]
pub struct HookClock {
    pub inner: FakeClock,
    hook: Once,
}

impl HookClock {
    pub fn on_next_reading(&self, hook: impl FnOnce() + Send + 'static) {
        *self.hook.lock().expect("no panic in a hook") = Some(Box::new(hook));
    }
}

impl Clock for HookClock {
    type Sleep = FakeSleep;

    fn now(&self) -> Instant {
        let hook = self.hook.lock().expect("no panic in a hook").take();
        if let Some(hook) = hook {
            hook();
        }
        self.inner.now()
    }

    fn sleep(&self, duration: Duration) -> FakeSleep {
        self.inner.sleep(duration)
    }
}
