//! The write stream of the host's storages.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_sink::Sink;

use super::bytes::room;
use crate::error::StorageError;

type Storing = Pin<Box<dyn Future<Output = Result<(), StorageError>>>>;
type Store = Box<dyn FnOnce(Bytes) -> Storing>;

/// The write stream of an [`IndexedDbStorage`](super::IndexedDbStorage) or a
/// [`FetchStorage`](super::FetchStorage): keeps the chunks and stores their whole at close.
///
/// Neither can take a value in parts that stay invisible, so the whole waits in memory. Dropped
/// before its close it stores nothing. Closing it again gives the same result again; a chunk after
/// the close is refused with HTTP 409.
#[must_use = "a sink stores nothing unless it is closed"]
pub struct WebWriter(State);

enum State {
    Open { chunks: Vec<Bytes>, store: Store },
    Storing(Storing),
    Closed(Result<(), StorageError>),
}

impl WebWriter {
    /// A writer that stores by `store`.
    pub(super) fn new<F>(store: impl FnOnce(Bytes) -> F + 'static) -> Self
    where
        F: Future<Output = Result<(), StorageError>> + 'static,
    {
        let store: Store = Box::new(move |value| Box::pin(store(value)));
        Self(State::Open { chunks: Vec::new(), store })
    }

    fn chunks(&mut self) -> Result<&mut Vec<Bytes>, StorageError> {
        match &mut self.0 {
            State::Open { chunks, .. } => Ok(chunks),
            State::Storing(_) | State::Closed(_) => {
                Err(StorageError::http(409).with_detail("the write stream is closed already"))
            }
        }
    }

    fn close(&mut self) {
        let closing = core::mem::replace(&mut self.0, State::Closed(Ok(())));
        self.0 = match closing {
            State::Open { chunks, store } => match joined(chunks) {
                Ok(value) => State::Storing(store(value)),
                Err(error) => State::Closed(Err(error)),
            },
            closing => closing,
        };
    }
}

impl Sink<Bytes> for WebWriter {
    type Error = StorageError;

    fn poll_ready(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        Poll::Ready(self.get_mut().chunks().map(drop))
    }

    fn start_send(self: Pin<&mut Self>, chunk: Bytes) -> Result<(), StorageError> {
        let chunks = self.get_mut().chunks()?;
        if !chunk.is_empty() {
            chunks.push(chunk);
        }
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        let this = self.get_mut();
        this.close();
        if let State::Storing(storing) = &mut this.0 {
            this.0 = State::Closed(ready!(storing.as_mut().poll(cx)));
        }
        match &this.0 {
            State::Closed(result) => Poll::Ready(result.clone()),
            State::Open { .. } | State::Storing(_) => Poll::Pending,
        }
    }
}

impl fmt::Debug for WebWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &self.0 {
            State::Open { .. } => "open",
            State::Storing(_) => "storing",
            State::Closed(_) => "closed",
        };
        f.debug_tuple("WebWriter").field(&state).finish()
    }
}

/// The chunks as one value. A single chunk is taken as it is.
fn joined(mut chunks: Vec<Bytes>) -> Result<Bytes, StorageError> {
    if chunks.len() < 2 {
        return Ok(chunks.pop().unwrap_or_default());
    }
    let len = chunks.iter().fold(0_usize, |sum, chunk| sum.saturating_add(chunk.len()));
    let mut whole = room(len)?;
    for chunk in &chunks {
        whole.extend_from_slice(chunk);
    }
    Ok(whole.into())
}
