//! Values chunk by chunk. They are small, so both streams hold them whole.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use bytes::Bytes;
use embedded_storage_async::nor_flash::NorFlash;
use futures_core::Stream;
use futures_sink::Sink;

use super::FlashStorage;
use super::error::too_long;
use crate::error::StorageError;
use crate::port::{LocalStorage, OpContext};

/// The read stream of a [`FlashStorage`]: the value as it was when it was opened, in one chunk.
///
/// It never waits and never fails. An empty value has no chunks.
#[derive(Debug)]
#[must_use = "a stream does nothing unless it is polled"]
pub struct FlashReader(pub(super) Bytes);

impl Stream for FlashReader {
    type Item = Result<Bytes, StorageError>;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let chunk = core::mem::take(&mut self.get_mut().0);
        Poll::Ready((!chunk.is_empty()).then_some(Ok(chunk)))
    }
}

/// The write stream of a [`FlashStorage`]: keeps the chunks and writes their whole at close.
///
/// A chunk past the limit of a value fails the stream with HTTP 413. Dropped before its close the
/// stream writes nothing; dropped while it closes, the value may or may not stand, but never by
/// half. Closing it again changes nothing; a chunk after the close is refused with HTTP 409, and
/// after an error every call gives that error again.
#[must_use = "a sink stores nothing unless it is closed"]
pub struct FlashWriter<F: NorFlash> {
    storage: FlashStorage<F>,
    key: String,
    value: Vec<u8>,
    step: Step,
}

enum Step {
    Open,
    Closing(Pin<Box<dyn Future<Output = Result<(), StorageError>>>>),
    Closed,
    Failed(StorageError),
}

impl<F: NorFlash> FlashWriter<F> {
    pub(super) const fn new(storage: FlashStorage<F>, key: String) -> Self {
        Self { storage, key, value: Vec::new(), step: Step::Open }
    }

    fn open(&self) -> Result<(), StorageError> {
        match &self.step {
            Step::Open => Ok(()),
            Step::Failed(error) => Err(error.clone()),
            Step::Closing(_) | Step::Closed => {
                Err(StorageError::http(409).with_detail("the write stream is closed already"))
            }
        }
    }
}

/// Nothing in it is pinned but what lies in a box.
impl<F: NorFlash> Unpin for FlashWriter<F> {}

impl<F: NorFlash> fmt::Debug for FlashWriter<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlashWriter")
            .field("key", &self.key)
            .field("bytes", &self.value.len())
            .finish_non_exhaustive()
    }
}

impl<F: NorFlash + 'static> Sink<Bytes> for FlashWriter<F> {
    type Error = StorageError;

    fn poll_ready(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        Poll::Ready(self.open())
    }

    fn start_send(self: Pin<&mut Self>, chunk: Bytes) -> Result<(), StorageError> {
        let this = self.get_mut();
        this.open()?;
        let limit = this.storage.shared.max_value_bytes;
        if chunk.len() > limit.saturating_sub(this.value.len()) {
            this.value = Vec::new();
            this.step = Step::Failed(too_long(limit));
            return this.open();
        }
        this.value.extend_from_slice(&chunk);
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        Poll::Ready(match &self.step {
            Step::Failed(error) => Err(error.clone()),
            _ => Ok(()),
        })
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        let this = self.get_mut();
        if matches!(this.step, Step::Open) {
            let (storage, key) = (this.storage.clone(), core::mem::take(&mut this.key));
            let value = Bytes::from(core::mem::take(&mut this.value));
            this.step = Step::Closing(Box::pin(async move {
                storage.set(&key, value, &OpContext::new()).await.map(drop)
            }));
        }
        if let Step::Closing(closing) = &mut this.step {
            let Poll::Ready(result) = closing.as_mut().poll(cx) else { return Poll::Pending };
            this.step = result.map_or_else(Step::Failed, |()| Step::Closed);
        }
        match &this.step {
            Step::Failed(error) => Poll::Ready(Err(error.clone())),
            _ => Poll::Ready(Ok(())),
        }
    }
}
