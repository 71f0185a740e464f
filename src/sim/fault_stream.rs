//! Streams that break, stall and dawdle on schedule.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use futures_sink::Sink;

use super::{FakeClock, FakeSleep, Fault, StreamFault};
use crate::error::StorageError;
use crate::port::Clock;

/// Counts chunks and lets the fault happen when its turn comes.
#[derive(Debug)]
struct Turn {
    fault: Option<StreamFault>,
    clock: FakeClock,
    sleep: Option<FakeSleep>,
    /// Whether the wait before this chunk is over.
    waited: bool,
}

impl Turn {
    /// Ready once this chunk may pass, with the error that takes its place if there is one.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        let Some(StreamFault { after_chunks: 0, fault, repeats }) = &self.fault else {
            return Poll::Ready(Ok(()));
        };
        let (wait, error) = match fault {
            _ if self.waited => return Poll::Ready(Ok(())),
            Fault::None | Fault::LoseAnswer(_) => return Poll::Ready(Ok(())),
            Fault::Fail(error) => (None, Some(error.clone())),
            Fault::Delay(wait) => (Some(*wait), None),
            Fault::DelayThenFail(wait, error) => (Some(*wait), Some(error.clone())),
            Fault::Hang => return Poll::Pending,
        };
        if let Some(wait) = wait {
            let sleep = self.sleep.get_or_insert_with(|| self.clock.sleep(wait));
            ready!(Pin::new(sleep).poll(cx));
            self.sleep = None;
            if *repeats && error.is_none() {
                self.waited = true;
                return Poll::Ready(Ok(()));
            }
        }
        self.fault = None;
        Poll::Ready(error.map_or(Ok(()), Err))
    }

    fn passed(&mut self) {
        self.waited = false;
        if let Some(fault) = &mut self.fault {
            fault.after_chunks = fault.after_chunks.saturating_sub(1);
        }
    }

    /// The error that a writer's close gives although the value was stored.
    fn lost(&mut self) -> Result<(), StorageError> {
        match self.fault.take() {
            Some(StreamFault { after_chunks: 0, fault: Fault::LoseAnswer(error), .. }) => {
                Err(error)
            }
            _ => Ok(()),
        }
    }
}

/// The read stream of a [`FaultStorage`](super::FaultStorage).
#[derive(Debug)]
pub struct FaultReader<R> {
    inner: R,
    turn: Turn,
    broken: bool,
    /// What is left of a chunk that was too large.
    rest: Bytes,
    chunk_bytes: usize,
}

impl<R> FaultReader<R> {
    pub(super) fn new(
        inner: R,
        fault: Option<StreamFault>,
        clock: FakeClock,
        chunk_bytes: Option<usize>,
    ) -> Self {
        let turn = Turn { fault, clock, sleep: None, waited: false };
        let chunk_bytes = chunk_bytes.unwrap_or(usize::MAX);
        Self { inner, turn, broken: false, rest: Bytes::new(), chunk_bytes }
    }
}

impl<R: Stream<Item = Result<Bytes, StorageError>> + Unpin> Stream for FaultReader<R> {
    type Item = Result<Bytes, StorageError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if this.broken {
            return Poll::Ready(None);
        }
        let turn = ready!(this.turn.poll(cx)).and_then(|()| match &this.turn.fault {
            Some(StreamFault { after_chunks: 0, fault: Fault::LoseAnswer(error), .. }) => {
                Err(error.clone())
            }
            _ => Ok(()),
        });
        if let Err(error) = turn {
            this.broken = true;
            return Poll::Ready(Some(Err(error)));
        }
        if this.rest.is_empty() {
            match ready!(Pin::new(&mut this.inner).poll_next(cx)) {
                Some(Ok(chunk)) => this.rest = chunk,
                other => {
                    this.turn.passed();
                    return Poll::Ready(other);
                }
            }
        }
        this.turn.passed();
        let chunk = this.rest.split_to(this.rest.len().min(this.chunk_bytes));
        Poll::Ready(Some(Ok(chunk)))
    }
}

/// The write stream of a [`FaultStorage`](super::FaultStorage).
#[derive(Debug)]
pub struct FaultWriter<W> {
    inner: W,
    turn: Turn,
}

impl<W> FaultWriter<W> {
    pub(super) const fn new(inner: W, fault: Option<StreamFault>, clock: FakeClock) -> Self {
        Self { inner, turn: Turn { fault, clock, sleep: None, waited: false } }
    }
}

impl<W: Sink<Bytes, Error = StorageError> + Unpin> Sink<Bytes> for FaultWriter<W> {
    type Error = StorageError;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        let this = self.get_mut();
        ready!(this.turn.poll(cx))?;
        Pin::new(&mut this.inner).poll_ready(cx)
    }

    fn start_send(self: Pin<&mut Self>, item: Bytes) -> Result<(), StorageError> {
        let this = self.get_mut();
        this.turn.passed();
        Pin::new(&mut this.inner).start_send(item)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        Pin::new(&mut self.get_mut().inner).poll_flush(cx)
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        let this = self.get_mut();
        ready!(this.turn.poll(cx))?;
        ready!(Pin::new(&mut this.inner).poll_close(cx))?;
        Poll::Ready(this.turn.lost())
    }
}
