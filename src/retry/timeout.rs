//! A future against a clock and an abort signal, at no cost while the future is ready.

use core::future::{Future, poll_fn};
use core::pin::{Pin, pin};
use core::task::Poll;
use core::time::Duration;

use crate::port::Clock;
use crate::sync::{AbortSignal, Aborted};

/// How a bounded future ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bounded<T> {
    /// It completed.
    Done(T),
    /// The limit passed first. The future was dropped.
    TimedOut,
    /// The signal aborted first. The future was dropped.
    Aborted,
}

/// Drives `future` until it completes, `limit` passes or `signal` aborts.
///
/// The future is polled first, and only once it is pending is the signal looked at and one timer
/// made: a ready future costs neither. On a poll that finds several of the three, the future wins
/// over the abort and the abort over the limit. Without a limit no timer is made.
///
/// Timer and listener live inside: they are gone when this completes and when it is dropped.
pub(crate) async fn bounded<C: Clock, F: Future>(
    clock: &C,
    limit: Option<Duration>,
    signal: &AbortSignal,
    future: F,
) -> Bounded<F::Output> {
    let mut future = pin!(future);
    let mut aborted: Option<Aborted> = None;
    let mut timer = pin!(None::<C::Sleep>);
    let mut timer_is_due = limit;
    poll_fn(|cx| {
        if let Poll::Ready(output) = future.as_mut().poll(cx) {
            return Poll::Ready(Bounded::Done(output));
        }
        if signal.can_abort() {
            let aborted = aborted.get_or_insert_with(|| signal.aborted());
            if Pin::new(aborted).poll(cx).is_ready() {
                return Poll::Ready(Bounded::Aborted);
            }
        }
        if let Some(limit) = timer_is_due.take() {
            timer.set(Some(clock.sleep(limit)));
        }
        match timer.as_mut().as_pin_mut().map(|timer| timer.poll(cx)) {
            Some(Poll::Ready(())) => Poll::Ready(Bounded::TimedOut),
            Some(Poll::Pending) | None => Poll::Pending,
        }
    })
    .await
}
