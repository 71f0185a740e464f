//! The loop: call, look, wait, call again.

use core::future::{Future, pending};
use core::time::Duration;

use super::error::RetryError;
use super::options::{Delays, RetryOptions};
use super::timeout::{NEVER, bounded};
use crate::port::{Attribute, Clock, Meter};
use crate::rng::Rng;
use crate::sync::AbortSignal;
use crate::time::Instant;

/// One call of the function.
///
/// The default is a first attempt that nobody gives up.
#[derive(Clone, Debug)]
pub struct Attempt {
    number: u32,
    signal: AbortSignal,
}

impl Attempt {
    /// The attempt of this number, counted from one, that `signal` gives up.
    #[must_use]
    pub const fn new(number: u32, signal: AbortSignal) -> Self {
        Self { number, signal }
    }

    /// Which call it is, counted from one.
    #[must_use]
    pub const fn number(&self) -> u32 {
        self.number
    }

    /// The caller's signal. It aborts when the caller gives up.
    #[must_use]
    pub const fn signal(&self) -> &AbortSignal {
        &self.signal
    }
}

impl Default for Attempt {
    fn default() -> Self {
        Self::new(1, AbortSignal::never())
    }
}

/// A value, and what it took to get it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Retried<T> {
    /// What the function returned.
    pub value: T,
    /// How often it was called.
    pub attempts: u32,
    /// How long it all took, waiting included.
    pub total_time: Duration,
}

/// Begins a run: `options` say how often and how patiently, time and chance come from outside.
///
/// ```
/// # use storage_mux::sim::{FakeClock, run};
/// use storage_mux::SeededRng;
/// use storage_mux::retry::{RetryOptions, retry};
///
/// # let clock = FakeClock::new();
/// # let rng = SeededRng::new(7);
/// # run(&clock, async {
/// let options = RetryOptions::default();
/// let done = retry(&options, &clock, &rng)
///     .run(|attempt| async move {
///         if attempt.number() < 3 { Err("not yet") } else { Ok("value") }
///     })
///     .await?;
/// assert_eq!((done.value, done.attempts), ("value", 3));
/// # Ok::<(), storage_mux::retry::RetryError<&str>>(())
/// # }).unwrap().unwrap();
/// ```
pub const fn retry<'a, C, R>(
    options: &'a RetryOptions,
    clock: &'a C,
    rng: &'a R,
) -> Retry<'a, C, R> {
    Retry { tries: Tries { options, clock, rng, signal: &NEVER, deadline: None, meter: None } }
}

/// A run that has not begun. Made by [`retry`].
#[must_use = "nothing is called until it is run"]
pub struct Retry<'a, C, R> {
    tries: Tries<'a, C, R>,
}

impl<C, R> core::fmt::Debug for Retry<'_, C, R> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Retry")
            .field("options", self.tries.options)
            .field("signal", self.tries.signal)
            .finish_non_exhaustive()
    }
}

impl<'a, C: Clock, R: Rng> Retry<'a, C, R> {
    /// The same, given up when `signal` aborts. Each attempt receives the signal too.
    pub const fn with_signal(mut self, signal: &'a AbortSignal) -> Self {
        self.tries.signal = signal;
        self
    }

    /// The same, measured: `retry.attempt.total` by `outcome` and `retry.attempt.delay_ms` by
    /// `strategy`.
    ///
    /// Every attempt that was made or due has one outcome: `success`; `failure`, and another one
    /// is due; `exhausted`, and none is; `aborted`, where the caller's abort ended it or came
    /// before it.
    pub const fn with_meter(mut self, meter: &'a dyn Meter) -> Self {
        self.tries.meter = Some(meter);
        self
    }

    /// Calls `operation` until it succeeds, at most as often as the options allow.
    ///
    /// Abort is looked at before each call and before each wait, and it ends a wait at once. It
    /// does not end a call: the function has the signal and may act on it. A success that comes
    /// all the same is returned.
    ///
    /// Dropping the future drops the call or the wait that it is in; nothing else is left.
    ///
    /// # Errors
    ///
    /// [`RetryError::Exhausted`] with the last error, [`RetryError::Aborted`], or
    /// [`RetryError::InvalidOption`], in which case nothing was called.
    pub fn run<T, E, Fut>(
        self,
        operation: impl FnMut(Attempt) -> Fut,
    ) -> impl Future<Output = Result<Retried<T>, RetryError<E>>>
    where
        Fut: Future<Output = Result<T, E>>,
    {
        self.run_when(operation, |_, _| true)
    }

    /// The same for whoever wants the value alone: neither counted nor timed, so a first call that
    /// succeeds costs no more than itself. No clock is read.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn value<T, E, Fut>(
        self,
        mut operation: impl FnMut(Attempt) -> Fut,
    ) -> impl Future<Output = Result<T, RetryError<E>>>
    where
        Fut: Future<Output = Result<T, E>>,
    {
        let Self { tries } = self;
        async move {
            tries.options.validate()?;
            let call = |number| operation(Attempt::new(number, tries.signal.clone()));
            tries.run(call, |_, _| true, |value, _| value).await
        }
    }

    /// The same, and `should_retry` is asked before each retry, with the error and the number of
    /// the attempt that returned it. `false` ends the run.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run); an error that is not worth a retry is [`RetryError::Exhausted`].
    pub fn run_when<T, E, Fut>(
        self,
        mut operation: impl FnMut(Attempt) -> Fut,
        should_retry: impl FnMut(&E, u32) -> bool,
    ) -> impl Future<Output = Result<Retried<T>, RetryError<E>>>
    where
        Fut: Future<Output = Result<T, E>>,
    {
        let Self { tries } = self;
        async move {
            tries.options.validate()?;
            let start = tries.clock.now();
            let call = |number| operation(Attempt::new(number, tries.signal.clone()));
            let end = |value, attempts| (value, attempts);
            let (value, attempts) = tries.run(call, should_retry, end).await?;
            Ok(Retried { value, attempts, total_time: tries.clock.now() - start })
        }
    }
}

/// The engine under [`Retry`].
///
/// It reads no clock, draws no random number and allocates nothing unless a retry is due, and even
/// then reads the clock only where there is a deadline.
pub(crate) struct Tries<'a, C, R> {
    /// Validated by whoever took them in. No attempts at all count as one.
    pub(crate) options: &'a RetryOptions,
    /// Asked for sleeps, and for the time where there is a deadline.
    pub(crate) clock: &'a C,
    pub(crate) rng: &'a R,
    pub(crate) signal: &'a AbortSignal,
    /// A wait that would not be over before this instant is not begun: the last error stands.
    pub(crate) deadline: Option<Instant>,
    pub(crate) meter: Option<&'a dyn Meter>,
}

impl<'a, C: Clock, R: Rng> Tries<'a, C, R> {
    /// Calls `operation` with 1, 2, .. until it succeeds, and gives what `end` makes of the value
    /// and the number of calls.
    #[expect(clippy::manual_async_fn, reason = "an async fn moves its arguments once more")]
    pub(crate) fn run<'s, T, E, Fut, V>(
        &'s self,
        mut operation: impl FnMut(u32) -> Fut + 's,
        mut should_retry: impl FnMut(&E, u32) -> bool + 's,
        end: impl FnOnce(T, u32) -> V + 's,
    ) -> impl Future<Output = Result<V, RetryError<E>>>
    where
        Fut: Future<Output = Result<T, E>>,
    {
        async move {
            let mut series = None;
            loop {
                if self.is_given_up() {
                    return Err(RetryError::Aborted);
                }
                let number = series.as_ref().map_or(1, Series::number);
                let last = match operation(number).await {
                    Ok(value) => {
                        self.count("success");
                        return Ok(end(value, number));
                    }
                    Err(last) => last,
                };
                let series = series.get_or_insert_with(|| Series::of(self.options));
                match series.on_failure(self, || should_retry(&last, number)) {
                    Next::Stop => return Err(RetryError::Exhausted { attempts: number, last }),
                    Next::Aborted => return Err(RetryError::Aborted),
                    Next::Wait(delay) => {
                        drop(last);
                        series.wait(self, delay).await;
                    }
                }
            }
        }
    }

    /// Whether the caller has given up, before a call or during the wait for it.
    pub(crate) fn is_given_up(&self) -> bool {
        let aborted = self.signal.is_aborted();
        if aborted {
            self.count("aborted");
        }
        aborted
    }

    pub(crate) fn count(&self, outcome: &'static str) {
        if let Some(meter) = self.meter {
            meter.count("retry.attempt.total", 1, &[Attribute::str("outcome", outcome)]);
        }
    }

    fn record_delay(&self, delay: Duration) {
        if let Some(meter) = self.meter {
            let strategy = Attribute::str("strategy", self.options.backoff().strategy());
            meter.record("retry.attempt.delay_ms", crate::time::millis(delay), &[strategy]);
        }
    }
}

/// Calls in a row, from the first failure on: how each is followed by the next. A first call that
/// succeeds has no use for one.
pub(crate) struct Series<'a> {
    delays: Delays<'a>,
    number: u32,
}

/// What follows a call that has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Nothing: its error stands.
    Stop,
    /// Nothing: the caller has given up, so it is no failure.
    Aborted,
    /// Another call, after this time.
    Wait(Duration),
}

impl<'a> Series<'a> {
    /// The first call is due, or has been made.
    pub(crate) fn of(options: &'a RetryOptions) -> Self {
        Self { delays: options.delays(), number: 1 }
    }

    /// The number of the call that is due, from one.
    pub(crate) const fn number(&self) -> u32 {
        self.number
    }

    /// Decides what follows a failure; `should_retry` is asked where another call is left.
    pub(crate) fn on_failure<C: Clock, R: Rng>(
        &mut self,
        tries: &Tries<'_, C, R>,
        should_retry: impl FnOnce() -> bool,
    ) -> Next {
        // First of all: what a call returns once its caller has given up is no failure.
        if tries.is_given_up() {
            return Next::Aborted;
        }
        if self.number >= tries.options.max_attempts() || !should_retry() {
            tries.count("exhausted");
            return Next::Stop;
        }
        let delay = self.delays.next(tries.rng);
        let comes_too_late = |deadline| tries.clock.now() + delay >= deadline;
        if tries.deadline.is_some_and(comes_too_late) {
            tries.count("exhausted");
            return Next::Stop;
        }
        tries.count("failure");
        Next::Wait(delay)
    }

    /// Waits for the next call, no longer than until the caller gives up.
    pub(crate) async fn wait<C: Clock, R: Rng>(
        &mut self,
        tries: &Tries<'_, C, R>,
        delay: Duration,
    ) {
        self.number = self.number.saturating_add(1);
        tries.record_delay(delay);
        if !delay.is_zero() {
            bounded(tries.clock, Some(delay), tries.signal, pending::<()>()).await;
        }
    }
}
