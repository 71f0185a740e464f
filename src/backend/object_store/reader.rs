//! The read stream: the store's own, with its length watched.

use alloc::boxed::Box;
use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll, ready};

use ::object_store::GetResult;
use bytes::Bytes;
use futures_core::Stream;

use super::errors::storage_error;
use crate::backend::value::wrong_length;
use crate::error::StorageError;

/// Empty chunks in a row after which a stream that still owes bytes counts as broken. A file that
/// was cut short while it is read gives nothing else for ever.
const MAX_EMPTY_CHUNKS: u32 = 1_000;

type Chunks = Pin<Box<dyn Stream<Item = ::object_store::Result<Bytes>> + Send>>;

/// The read stream of an [`ObjectStoreBackend`](super::ObjectStoreBackend).
///
/// It gives exactly the bytes that the store announced. Where the store ends before, gives more or
/// fails, the last item is an error; after it the stream has ended and the store is asked nothing
/// more. Dropping the stream closes the connection or the file.
#[must_use = "a stream does nothing unless it is polled"]
pub struct ObjectStoreReader {
    chunks: Option<Chunks>,
    total: u64,
    left: u64,
    empty_chunks: u32,
}

impl ObjectStoreReader {
    pub(super) fn new(result: GetResult) -> Self {
        let total = result.range.end.saturating_sub(result.range.start);
        Self { chunks: Some(result.into_stream()), total, left: total, empty_chunks: 0 }
    }

    /// Counts a chunk. False where it is one that must not be.
    fn accept(&mut self, chunk: &Bytes) -> bool {
        self.empty_chunks = if chunk.is_empty() { self.empty_chunks.saturating_add(1) } else { 0 };
        match self.left.checked_sub(chunk.len() as u64) {
            Some(left) => self.left = left,
            None => return false,
        }
        self.empty_chunks <= MAX_EMPTY_CHUNKS
    }
}

impl Stream for ObjectStoreReader {
    type Item = Result<Bytes, StorageError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            let Some(chunks) = &mut this.chunks else { return Poll::Ready(None) };
            let end = match ready!(chunks.as_mut().poll_next(cx)) {
                Some(Ok(chunk)) if this.accept(&chunk) => {
                    if chunk.is_empty() {
                        continue;
                    }
                    return Poll::Ready(Some(Ok(chunk)));
                }
                Some(Err(error)) => Some(Err(storage_error(error))),
                None if this.left == 0 => None,
                Some(Ok(_)) | None => {
                    Some(Err(wrong_length(this.total.saturating_sub(this.left), this.total)))
                }
            };
            this.chunks = None;
            return Poll::Ready(end);
        }
    }
}

impl fmt::Debug for ObjectStoreReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectStoreReader")
            .field("total", &self.total)
            .field("left", &self.left)
            .field("ended", &self.chunks.is_none())
            .finish()
    }
}
