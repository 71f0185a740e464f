//! The read stream of the browser's database.

use core::pin::Pin;
use core::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use js_sys::Uint8Array;

use super::IndexedDbStorage;
use crate::backend::web::bytes::from_host;
use crate::error::StorageError;

/// The read stream of an [`IndexedDbStorage`]: parts of the value as it was when it was opened.
///
/// The value waits in the host's memory and is copied chunk by chunk. It never waits. An empty
/// value has no chunks.
#[derive(Debug)]
#[must_use = "a stream does nothing unless it is polled"]
pub struct IndexedDbReader {
    rest: Uint8Array,
}

impl IndexedDbReader {
    pub(super) const fn new(value: Uint8Array) -> Self {
        Self { rest: value }
    }
}

impl Stream for IndexedDbReader {
    type Item = Result<Bytes, StorageError>;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let rest = &mut self.get_mut().rest;
        let len = rest.length();
        if len == 0 {
            return Poll::Ready(None);
        }
        let at = len.min(IndexedDbStorage::MAX_CHUNK_BYTES);
        let chunk = from_host(&rest.subarray(0, at));
        // After an error the stream ends.
        *rest = if chunk.is_ok() { rest.subarray(at, len) } else { rest.subarray(len, len) };
        Poll::Ready(Some(chunk))
    }
}
