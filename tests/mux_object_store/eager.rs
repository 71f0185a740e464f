//! A storage whose write stream wakes before it has answered, while another part looks.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use bytes::Bytes;
use futures_util::Sink;
use object_store::UploadPart;
use storage_mux::{
    Capabilities, MemoryReader, Metadata, OpContext, Page, PageRequest, Storage, StorageError,
    Written,
};

/// Clones share everything. It only takes streams.
#[derive(Clone, Default)]
pub(crate) struct Eager {
    /// What is polled, as from another thread, while the stream is asked for room.
    pub(crate) other: Arc<Mutex<Option<UploadPart>>>,
    /// Whether that one was woken since.
    pub(crate) woken: Arc<Flag>,
}

#[derive(Default)]
pub(crate) struct Flag(pub(crate) AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Has room at once for the first chunk, and for the second when asked again.
pub(crate) struct Stream {
    storage: Eager,
    asked: usize,
}

impl Sink<Bytes> for Stream {
    type Error = StorageError;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        let this = self.get_mut();
        this.asked += 1;
        if this.asked == 2 {
            cx.waker().wake_by_ref();
            let waker = Waker::from(this.storage.woken.clone());
            let mut other = this.storage.other.lock().unwrap();
            let part = other.as_mut().expect("the other part");
            assert!(Pin::new(part).poll(&mut Context::from_waker(&waker)).is_pending());
            this.storage.woken.0.store(false, Ordering::Relaxed);
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }

    fn start_send(self: Pin<&mut Self>, _: Bytes) -> Result<(), StorageError> {
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        Poll::Ready(Ok(()))
    }
}

impl Storage for Eager {
    type Reader = MemoryReader;
    type Writer = Stream;

    async fn get(&self, _: &str, _: &OpContext) -> Result<Bytes, StorageError> {
        Err(StorageError::unsupported())
    }

    async fn set(&self, _: &str, _: Bytes, _: &OpContext) -> Result<Written, StorageError> {
        Err(StorageError::unsupported())
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

    async fn has(&self, _: &str, _: &OpContext) -> Result<bool, StorageError> {
        Err(StorageError::unsupported())
    }

    async fn delete(&self, _: &str, _: &OpContext) -> Result<(), StorageError> {
        Err(StorageError::unsupported())
    }

    async fn list(&self, _: &str, _: &PageRequest, _: &OpContext) -> Result<Page, StorageError> {
        Err(StorageError::unsupported())
    }

    async fn stat(&self, _: &str, _: &OpContext) -> Result<Metadata, StorageError> {
        Err(StorageError::unsupported())
    }

    async fn get_stream(&self, _: &str, _: &OpContext) -> Result<MemoryReader, StorageError> {
        Err(StorageError::unsupported())
    }

    async fn set_stream(&self, _: &str, _: &OpContext) -> Result<Stream, StorageError> {
        Ok(Stream { storage: self.clone(), asked: 0 })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::all(1024)
    }

    fn depth(&self) -> usize {
        0
    }
}
