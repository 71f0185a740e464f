//! The bugs of streams.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use futures_sink::Sink;
use futures_util::FutureExt;
use storage_mux::{LocalStorage, OpContext, Operation, StorageError};

use crate::bug::Bug;
use crate::store::Broken;

/// Bytes in a chunk.
const CHUNK: usize = 4_096;

/// A read stream with the bug of its store.
pub(crate) struct BrokenReader {
    value: Bytes,
    chunks: VecDeque<Bytes>,
    bug: Bug,
    aborted: bool,
    ended: bool,
}

impl BrokenReader {
    pub(crate) fn new(value: Bytes, bug: Bug, aborted: bool) -> Self {
        let mut chunks: VecDeque<Bytes> = (0..value.len())
            .step_by(CHUNK)
            .map(|start| value.slice(start..value.len().min(start + CHUNK)))
            .collect();
        match bug {
            Bug::ReaderDropsTail if chunks.len() > 1 => chunks.truncate(chunks.len() - 1),
            Bug::ReaderSwapsChunks if chunks.len() > 1 => chunks.swap(0, 1),
            _ => {}
        }
        Self { value, chunks, bug, aborted, ended: false }
    }
}

impl Stream for BrokenReader {
    type Item = Result<Bytes, StorageError>;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if this.aborted {
            return Poll::Ready(Some(Err(StorageError::http(500))));
        }
        let ended = this.ended;
        Poll::Ready(match (this.bug, this.chunks.pop_front()) {
            (Bug::ReaderGivesOnlyEmptyChunks, _) => Some(Ok(Bytes::new())),
            (_, Some(chunk)) => Some(Ok(chunk)),
            (Bug::ReaderNeverEnds, None) => Some(Ok(Bytes::from_static(b"more"))),
            (Bug::ReaderOfEmptyFails, None) if this.value.is_empty() => {
                Some(Err(StorageError::http(416)))
            }
            (Bug::ReaderBeginsAgain, None) if ended => Some(Ok(this.value.clone())),
            (Bug::ReaderFailsAfterEnd, None) if ended => Some(Err(StorageError::http(500))),
            (_, None) => {
                this.ended = true;
                None
            }
        })
    }
}

/// A write stream with the bug of its store.
pub(crate) struct BrokenWriter {
    store: Broken,
    key: Option<String>,
    chunks: Vec<Bytes>,
    ended: bool,
    closed: bool,
}

impl BrokenWriter {
    pub(crate) fn new(store: &Broken, key: String) -> Self {
        let writer = Self {
            store: store.clone(),
            key: Some(key),
            chunks: Vec::new(),
            ended: false,
            closed: false,
        };
        match store.bug {
            Bug::WriterListsScratch => writer.put_at(".tmp", Bytes::new()),
            Bug::WriterHidesOldValue => writer.remove(),
            _ => {}
        }
        writer
    }

    /// A writer that takes everything and stores nothing.
    pub(crate) fn into_the_void(store: &Broken) -> Self {
        Self { store: store.clone(), key: None, chunks: Vec::new(), ended: false, closed: false }
    }

    fn whole(&self) -> Bytes {
        self.chunks.concat().into()
    }

    fn put(&self, value: Bytes) {
        self.put_at("", value);
    }

    /// Stores at the key with `suffix`. The store inside never waits and takes every value.
    fn put_at(&self, suffix: &str, value: Bytes) {
        if let Some(key) = &self.key {
            let key = format!("{key}{suffix}");
            let _ = self.store.inner.set(&key, value, &OpContext::new()).now_or_never();
        }
    }

    fn remove(&self) {
        if let Some(key) = &self.key {
            let _ = self.store.inner.delete(key, &OpContext::new()).now_or_never();
        }
    }

    fn old(&self) -> Bytes {
        let key = self.key.as_deref().unwrap_or("none");
        let found = self.store.inner.get(key, &OpContext::new()).now_or_never();
        found.and_then(Result::ok).unwrap_or_default()
    }
}

impl Sink<Bytes> for BrokenWriter {
    type Error = StorageError;

    fn poll_ready(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        Poll::Ready(Ok(()))
    }

    fn start_send(self: Pin<&mut Self>, chunk: Bytes) -> Result<(), StorageError> {
        let this = self.get_mut();
        this.ended |= this.store.is(Bug::WriterEndsAtEmptyChunk) && chunk.is_empty();
        let dropped = this.store.is(Bug::WriterDropsThirdChunk) && this.chunks.len() == 2;
        if this.store.is(Bug::WritersShareScratch) {
            this.store.scratch.borrow_mut().extend_from_slice(&chunk);
        }
        if !this.ended {
            this.chunks.push(if dropped { Bytes::new() } else { chunk });
        }
        if this.store.is(Bug::WriterIsVisibleEarly) {
            this.put(this.whole());
        }
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        let this = self.get_mut();
        let whole = this.whole();
        match this.store.bug {
            Bug::WriterAppends => this.put([this.old(), whole].concat().into()),
            Bug::WriterOfNothingStoresNothing if whole.is_empty() => {}
            Bug::EmptyIsMissing if whole.is_empty() => this.remove(),
            Bug::WritersShareScratch => {
                let scratch = std::mem::take(&mut *this.store.scratch.borrow_mut());
                this.put(scratch.into());
            }
            _ => this.put(whole),
        }
        if let Some(key) = &this.key {
            let _ = this.store.note_version(Operation::SetStream, key).now_or_never();
        }
        this.closed = true;
        Poll::Ready(Ok(()))
    }
}

impl Drop for BrokenWriter {
    fn drop(&mut self) {
        if let (Bug::WriterListsScratch, Some(key)) = (self.store.bug, &self.key) {
            let scratch = format!("{key}.tmp");
            let _ = self.store.inner.delete(&scratch, &OpContext::new()).now_or_never();
        }
        if self.closed {
            return;
        }
        match self.store.bug {
            Bug::WriterStoresOnDrop if !self.chunks.is_empty() => self.put(self.whole()),
            Bug::WriterDropsOldOnDrop => self.remove(),
            Bug::WritersShareScratch => self.store.scratch.borrow_mut().clear(),
            _ => {}
        }
    }
}
