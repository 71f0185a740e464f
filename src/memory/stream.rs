//! The streams of a memory store.

use alloc::string::String;
use alloc::vec::Vec;
use core::pin::Pin;
use core::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use futures_sink::Sink;

use super::MemoryStorage;
use super::table::reserved;
use crate::error::StorageError;

/// The read stream of a [`MemoryStorage`]: slices of the value as it was when it was opened.
///
/// It never waits and never fails. An empty value has no chunks.
#[derive(Debug)]
#[must_use = "a stream does nothing unless it is polled"]
pub struct MemoryReader {
    rest: Bytes,
}

impl MemoryReader {
    pub(super) const fn new(value: Bytes) -> Self {
        Self { rest: value }
    }
}

impl Stream for MemoryReader {
    type Item = Result<Bytes, StorageError>;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let rest = &mut self.get_mut().rest;
        if rest.is_empty() {
            return Poll::Ready(None);
        }
        let chunk = rest.split_to(rest.len().min(MemoryStorage::MAX_CHUNK_BYTES));
        Poll::Ready(Some(Ok(chunk)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let chunks = self.rest.len().div_ceil(MemoryStorage::MAX_CHUNK_BYTES);
        (chunks, Some(chunks))
    }
}

/// The write stream of a [`MemoryStorage`]: keeps the chunks and stores their whole at close.
///
/// Dropped before, it stores nothing. It never waits. Closing it again changes nothing; a chunk
/// after the close is refused with HTTP 409.
#[derive(Debug)]
#[must_use = "a sink stores nothing unless it is closed"]
pub struct MemoryWriter {
    storage: MemoryStorage,
    key: String,
    chunks: Vec<Bytes>,
    closed: bool,
}

impl MemoryWriter {
    pub(super) const fn new(storage: MemoryStorage, key: String) -> Self {
        Self { storage, key, chunks: Vec::new(), closed: false }
    }

    fn open(&self) -> Result<(), StorageError> {
        if self.closed {
            return Err(StorageError::http(409).with_detail("the write stream is closed already"));
        }
        Ok(())
    }
}

impl Sink<Bytes> for MemoryWriter {
    type Error = StorageError;

    fn poll_ready(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        Poll::Ready(self.open())
    }

    fn start_send(self: Pin<&mut Self>, chunk: Bytes) -> Result<(), StorageError> {
        let this = self.get_mut();
        this.open()?;
        if !chunk.is_empty() {
            this.chunks.push(chunk);
        }
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        let this = self.get_mut();
        if !this.closed {
            this.closed = true;
            let value = joined(core::mem::take(&mut this.chunks))?;
            this.storage.put(&this.key, value);
        }
        Poll::Ready(Ok(()))
    }
}

/// The chunks as one value. A single chunk is taken as it is.
fn joined(mut chunks: Vec<Bytes>) -> Result<Bytes, StorageError> {
    if chunks.len() < 2 {
        return Ok(chunks.pop().unwrap_or_default());
    }
    let len = chunks.iter().fold(0_usize, |sum, chunk| sum.saturating_add(chunk.len()));
    let mut whole = reserved(len)?;
    for chunk in &chunks {
        whole.extend_from_slice(chunk);
    }
    Ok(whole.into())
}
