//! The handle of a future that an executor has taken in.

use alloc::sync::Arc;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll, Waker};

use crate::sync::Lock;

/// What became of a task, shared between its future and its handle.
pub(super) struct Outcome<T>(Lock<Slot<T>>);

struct Slot<T> {
    output: Option<T>,
    over: bool,
    waiter: Option<Waker>,
}

impl<T> Outcome<T> {
    pub(super) const fn new() -> Self {
        Self(Lock::new(Slot { output: None, over: false, waiter: None }))
    }

    pub(super) fn end(&self, output: Option<T>) {
        let waiter = self.0.with(|slot| {
            slot.over = true;
            slot.output = output;
            slot.waiter.take()
        });
        waiter.into_iter().for_each(Waker::wake);
    }
}

/// A future that an [`Executor`](super::Executor) has taken in.
///
/// As a future it gives the output once, and `None` where the task was cancelled or the output
/// was taken before. Dropping it lets the task go on unwatched.
pub struct Task<T> {
    outcome: Arc<Outcome<T>>,
    cancelled: Arc<AtomicBool>,
    wake: Waker,
}

impl<T> Task<T> {
    pub(super) const fn new(
        outcome: Arc<Outcome<T>>,
        cancelled: Arc<AtomicBool>,
        wake: Waker,
    ) -> Self {
        Self { outcome, cancelled, wake }
    }

    /// Whether it has ended or was cancelled.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.outcome.0.with(|slot| slot.over)
    }

    /// The output, once, where the task has ended.
    #[must_use]
    pub fn take(&self) -> Option<T> {
        self.outcome.0.with(|slot| slot.output.take())
    }

    /// Drops the future at the executor's next step, as a caller drops a call that is under way.
    /// On a task that has ended this does nothing.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
        if !self.is_over() {
            self.outcome.end(None);
        }
        self.wake.wake_by_ref();
    }
}

impl<T> Future for Task<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let mut old = None;
        let poll = self.outcome.0.with(|slot| {
            if slot.over {
                return Poll::Ready(slot.output.take());
            }
            old = slot.waiter.replace(cx.waker().clone());
            Poll::Pending
        });
        drop(old);
        poll
    }
}

impl<T> fmt::Debug for Task<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").field("over", &self.is_over()).finish()
    }
}
