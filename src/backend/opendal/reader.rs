//! The read stream: the service's own, with its length watched.

use alloc::boxed::Box;
use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll, ready};

use ::opendal::{Buffer, BufferStream};
use bytes::Bytes;
use futures_core::Stream;

use super::errors::read_error;
use crate::backend::value::wrong_length;
use crate::error::StorageError;

/// The read stream of an [`OpendalBackend`](super::OpendalBackend).
///
/// It gives exactly as many bytes as the service announced. Where the service ends before, gives
/// more or fails, the last item is an error; after it the stream has ended and the service is
/// asked nothing more. Dropping the stream drops the request.
#[must_use = "a stream does nothing unless it is polled"]
pub struct OpendalReader {
    chunks: Option<Box<BufferStream>>,
    /// What has come and was not given yet: a buffer may have several pieces.
    here: Buffer,
    total: u64,
    left: u64,
}

impl OpendalReader {
    pub(super) fn new(chunks: BufferStream, total: u64) -> Self {
        Self { chunks: Some(Box::new(chunks)), here: Buffer::new(), total, left: total }
    }

    fn piece(&mut self) -> Option<Bytes> {
        let piece = self.here.next();
        piece.filter(|piece| !piece.is_empty())
    }
}

impl Stream for OpendalReader {
    type Item = Result<Bytes, StorageError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            if let Some(piece) = this.piece() {
                return Poll::Ready(Some(Ok(piece)));
            }
            let Some(chunks) = &mut this.chunks else { return Poll::Ready(None) };
            let end = match ready!(Pin::new(&mut **chunks).poll_next(cx)) {
                Some(Ok(buffer)) if buffer.len() as u64 <= this.left => {
                    this.left = this.left.saturating_sub(buffer.len() as u64);
                    this.here = buffer;
                    continue;
                }
                Some(Err(error)) => Some(Err(read_error(error))),
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

impl fmt::Debug for OpendalReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpendalReader")
            .field("total", &self.total)
            .field("left", &self.left)
            .field("ended", &self.chunks.is_none())
            .finish()
    }
}
