//! One backend's part of a write stream.

use core::pin::Pin;
use core::task::{Context, Poll};

use bytes::Bytes;
use futures_sink::Sink;

use super::settle::End;
use super::stream_watch::{StreamEnd, StreamWatch};
use crate::error::StorageError;
use crate::port::{Clock, LocalStorage};
use crate::rng::Rng;
use crate::stats::Outcome;

/// A step of a backend's sink.
pub(super) type Step<W> = fn(Pin<&mut W>, &mut Context<'_>) -> Poll<Result<(), StorageError>>;

/// A backend's sink and its open attempt, up to an end of its own.
pub(super) struct WriteLane<S: LocalStorage, C: Clock, R: Rng> {
    /// Gone once the lane has ended. A sink that is dropped before its close stores nothing.
    writer: Option<S::Writer>,
    pub(super) watch: StreamWatch<S, C, R>,
    /// The place of the backend in the order of the mux.
    pub(super) at: usize,
    pub(super) is_origin: bool,
    pub(super) end: Option<End>,
}

impl<S: LocalStorage, C: Clock, R: Rng> WriteLane<S, C, R> {
    pub(super) const fn new(
        writer: S::Writer,
        watch: StreamWatch<S, C, R>,
        at: usize,
        is_origin: bool,
    ) -> Self {
        Self { writer: Some(writer), watch, at, is_origin, end: None }
    }

    pub(super) const fn is_open(&self) -> bool {
        self.writer.is_some()
    }

    /// Lets the sink take a step, under the caller's abort and the clock. Ready where the step is
    /// done or the lane has ended.
    pub(super) fn poll(&mut self, task: &mut Context<'_>, step: Step<S::Writer>) -> Poll<()> {
        let Some(writer) = &mut self.writer else { return Poll::Ready(()) };
        if let Some(end) = self.watch.check() {
            self.fail(end);
            return Poll::Ready(());
        }
        match step(Pin::new(writer), task) {
            Poll::Ready(Ok(())) => self.watch.on_progress(),
            Poll::Ready(Err(error)) => self.fail(StreamEnd::Failed(error)),
            Poll::Pending => match self.watch.poll_wait(task) {
                Poll::Ready(end) => self.fail(end),
                Poll::Pending => return Poll::Pending,
            },
        }
        Poll::Ready(())
    }

    pub(super) fn send(&mut self, chunk: Bytes) {
        if let Some(writer) = &mut self.writer
            && let Err(error) = Pin::new(writer).start_send(chunk)
        {
            self.fail(StreamEnd::Failed(error));
        }
    }

    /// The sink is closed: the value stands.
    pub(super) fn store(&mut self) {
        if self.writer.take().is_some() {
            self.watch.end_ok();
            self.end = Some(End::Stored);
        }
    }

    /// The stream has failed elsewhere: this backend's part is dropped unclosed, by no fault of its
    /// own.
    pub(super) fn give_up(&mut self) {
        if self.writer.take().is_some() {
            let (outcome, error) =
                self.watch.end_broken(StreamEnd::Failed(StorageError::aborted()));
            self.end = Some(End::Failed(outcome, error));
        }
    }

    fn fail(&mut self, end: StreamEnd) {
        self.writer = None;
        let (outcome, error) = self.watch.end_broken(end);
        self.end = Some(End::Failed(outcome, error));
    }

    /// The failure of the lane, where it has one.
    pub(super) const fn failure(&self) -> Option<(Outcome, &StorageError)> {
        match &self.end {
            Some(End::Failed(outcome, error)) => Some((*outcome, error)),
            Some(End::Stored | End::Skipped(_) | End::GivenUp(_)) | None => None,
        }
    }
}
