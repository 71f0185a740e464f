//! What a stream waits for besides its backend: the time between chunks, and the caller's abort.

use alloc::boxed::Box;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use super::attempt::KeptAttempt;
use super::tries::{outcome_of, timeout_error};
use crate::error::StorageError;
use crate::name::BackendName;
use crate::port::{Clock, LocalStorage, OpContext};
use crate::rng::Rng;
use crate::stats::Outcome;
use crate::sync::{AbortSignal, Aborted};
use crate::time::Instant;

/// Why a stream ends before its time.
pub(super) enum StreamEnd {
    /// The backend did not move within the timeout.
    TimedOut,
    /// The backend broke it, or, where the error says so, the caller gave up.
    Failed(StorageError),
}

/// The part of a call that a stream takes with it: the open attempt, and who may end it early.
pub(super) struct StreamWatch<S: LocalStorage, C: Clock, R: Rng> {
    /// Ends when the stream does, and with it the signal that the backend was given; before the
    /// attempt, as the fields of one that is dropped end in this order.
    cx: Option<Box<OpContext>>,
    attempt: KeptAttempt<S, C, R>,
    signal: AbortSignal,
    deadline: Option<Instant>,
    /// One box for all waits of the stream; empty while the backend is ready.
    timer: Option<Pin<Box<Option<C::Sleep>>>>,
    by_deadline: bool,
    aborted: Option<Aborted>,
}

impl<S: LocalStorage, C: Clock, R: Rng> StreamWatch<S, C, R> {
    pub(super) const fn new(
        attempt: KeptAttempt<S, C, R>,
        signal: AbortSignal,
        cx: Option<Box<OpContext>>,
    ) -> Self {
        let deadline = match &cx {
            Some(cx) => cx.deadline(),
            None => None,
        };
        let (timer, aborted) = (None, None);
        Self { attempt, signal, deadline, cx, timer, by_deadline: false, aborted }
    }

    /// The backend that the stream is fixed to.
    pub(super) fn name(&self) -> &BackendName {
        &self.attempt.member.name
    }

    pub(super) const fn index(&self) -> u32 {
        self.attempt.index()
    }

    /// The backend has moved: the time between chunks starts anew with the next wait.
    pub(super) fn on_progress(&mut self) {
        if let Some(timer) = &mut self.timer {
            timer.as_mut().set(None);
        }
    }

    /// The caller's abort, where it has come. Looked at before the backend is asked for more.
    pub(super) fn check(&self) -> Option<StreamEnd> {
        self.signal.is_aborted().then(|| StreamEnd::Failed(StorageError::aborted()))
    }

    /// The backend is not ready. Ready once the caller or the clock ends the wait.
    pub(super) fn poll_wait(&mut self, task: &mut Context<'_>) -> Poll<StreamEnd> {
        if self.signal.can_abort() {
            let aborted = self.aborted.get_or_insert_with(|| self.signal.aborted());
            if Pin::new(aborted).poll(task).is_ready() {
                return Poll::Ready(StreamEnd::Failed(StorageError::aborted()));
            }
        }
        let engine = &*self.attempt.engine;
        let timer = self.timer.get_or_insert_with(|| Box::pin(None));
        if timer.is_none() {
            let mut limit = engine.settings.backend_timeout;
            if let Some(deadline) = self.deadline {
                let left = deadline - engine.clock.now();
                self.by_deadline = left < limit;
                limit = limit.min(left);
            }
            timer.as_mut().set(Some(engine.clock.sleep(limit)));
        }
        match timer.as_mut().as_pin_mut().map(|sleep| sleep.poll(task)) {
            Some(Poll::Ready(())) if self.by_deadline => {
                let passed = "the deadline of the call has passed";
                Poll::Ready(StreamEnd::Failed(StorageError::aborted().with_detail(passed)))
            }
            Some(Poll::Ready(())) => Poll::Ready(StreamEnd::TimedOut),
            Some(Poll::Pending) | None => Poll::Pending,
        }
    }

    /// The stream has reached its end, and the backend's part of it is dropped.
    pub(super) fn end_ok(&mut self) {
        self.end(Outcome::Ok, None);
    }

    /// The stream is broken, and the backend's part of it is dropped. Gives what is to blame; an
    /// abort is not yet dressed as the mux's own error.
    pub(super) fn end_broken(&mut self, end: StreamEnd) -> (Outcome, StorageError) {
        let (outcome, error) = match end {
            StreamEnd::TimedOut => {
                let settings = &self.attempt.engine.settings;
                let limit = settings.backend_timeout;
                let error = timeout_error(self.name(), self.index(), settings.mode, limit);
                (Outcome::Timeout, error)
            }
            StreamEnd::Failed(error) => (outcome_of(&error), error),
        };
        self.end(outcome, Some(&error));
        (outcome, error)
    }

    /// The error that the caller of a stream on one backend sees.
    pub(super) fn blame(&self, outcome: Outcome, error: StorageError) -> StorageError {
        if outcome == Outcome::Abort {
            self.attempt.engine.aborted(self.name(), self.index(), error)
        } else {
            error
        }
    }

    fn end(&mut self, outcome: Outcome, error: Option<&StorageError>) {
        self.timer = None;
        self.aborted = None;
        self.cx = None;
        self.attempt.finish(outcome, error);
    }
}
