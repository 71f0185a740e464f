//! A future against a clock and an abort signal, at no cost while the future is ready.
//!
//! - [`with_timeout`]: the public form, for one attempt at a fallible call.
//! - [`bounded`]: the mechanism, which the retry loop, the breaker and the mux share.

use core::future::{Future, poll_fn};
use core::pin::{Pin, pin};
use core::task::Poll;
use core::time::Duration;

use super::error::RetryError;
use super::run::Attempt;
use crate::port::Clock;
use crate::sync::{AbortSignal, Aborted};

/// Gives `future` the time `limit` and no more. The attempt tells its number, for the error, and
/// brings the caller's signal.
///
/// Inside a retry it bounds each attempt; around one it bounds them all, waits included.
///
/// The timer is made once the future is found pending, and is gone when this ends or is dropped. A
/// future that is ready on the very poll that finds the time over wins.
///
/// ```
/// # use storage_mux::sim::{FakeClock, run};
/// use core::time::Duration;
/// use storage_mux::retry::{Attempt, RetryError, with_timeout};
///
/// # let clock = FakeClock::new();
/// # run(&clock, async {
/// let limit = Duration::from_secs(2);
/// let hangs = core::future::pending::<Result<(), &str>>();
/// let late = with_timeout(&clock, limit, Attempt::default(), hangs).await;
/// assert_eq!(late, Err(RetryError::Timeout { attempt: 1, limit }));
/// # }).unwrap();
/// ```
///
/// # Errors
///
/// [`RetryError::Timeout`] and [`RetryError::Aborted`], in which cases the future was dropped (and
/// never polled, if the signal had aborted before); [`RetryError::Failed`] with its own error.
pub async fn with_timeout<C: Clock, T, E>(
    clock: &C,
    limit: Duration,
    attempt: Attempt,
    future: impl Future<Output = Result<T, E>>,
) -> Result<T, RetryError<E>> {
    if attempt.signal().is_aborted() {
        return Err(RetryError::Aborted);
    }
    match bounded(clock, Some(limit), attempt.signal(), future).await {
        Bounded::Done(result) => result.map_err(RetryError::Failed),
        Bounded::TimedOut => Err(RetryError::Timeout { attempt: attempt.number(), limit }),
        Bounded::Aborted => Err(RetryError::Aborted),
    }
}

/// The signal of those who have none.
pub(crate) static NEVER: AbortSignal = AbortSignal::never();

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
#[expect(clippy::manual_async_fn, reason = "an async fn moves its arguments once more")]
pub(crate) fn bounded<'a, C: Clock, F: Future>(
    clock: &'a C,
    mut limit: Option<Duration>,
    signal: &'a AbortSignal,
    future: F,
) -> impl Future<Output = Bounded<F::Output>> + use<'a, C, F> {
    async move {
        let mut future = pin!(future);
        if let Poll::Ready(output) = poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await {
            return Bounded::Done(output);
        }
        // Only made here, still within the poll that found the future pending.
        let mut aborted: Option<Aborted> = None;
        let mut timer = pin!(None::<C::Sleep>);
        let mut is_known_pending = true;
        poll_fn(|cx| {
            if !core::mem::take(&mut is_known_pending)
                && let Poll::Ready(output) = future.as_mut().poll(cx)
            {
                return Poll::Ready(Bounded::Done(output));
            }
            if signal.can_abort() {
                let aborted = aborted.get_or_insert_with(|| signal.aborted());
                if Pin::new(aborted).poll(cx).is_ready() {
                    return Poll::Ready(Bounded::Aborted);
                }
            }
            if let Some(limit) = limit.take() {
                timer.set(Some(clock.sleep(limit)));
            }
            match timer.as_mut().as_pin_mut().map(|timer| timer.poll(cx)) {
                Some(Poll::Ready(())) => Poll::Ready(Bounded::TimedOut),
                Some(Poll::Pending) | None => Poll::Pending,
            }
        })
        .await
    }
}
