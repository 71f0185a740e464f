//! The loop: call, look, wait, call again.

use core::future::{Future, pending};
use core::time::Duration;

use super::error::RetryError;
use super::options::RetryOptions;
use super::timeout::{Bounded, NEVER, bounded};
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
    pub async fn run<T, E, Fut>(
        self,
        operation: impl FnMut(Attempt) -> Fut,
    ) -> Result<Retried<T>, RetryError<E>>
    where
        Fut: Future<Output = Result<T, E>>,
    {
        self.run_when(operation, |_, _| true).await
    }

    /// The same, and `should_retry` is asked before each retry, with the error and the number of
    /// the attempt that returned it. `false` ends the run.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run); an error that is not worth a retry is [`RetryError::Exhausted`].
    pub async fn run_when<T, E, Fut>(
        self,
        mut operation: impl FnMut(Attempt) -> Fut,
        should_retry: impl FnMut(&E, u32) -> bool,
    ) -> Result<Retried<T>, RetryError<E>>
    where
        Fut: Future<Output = Result<T, E>>,
    {
        let Self { tries } = self;
        tries.options.validate()?;
        let start = tries.clock.now();
        let signal = tries.signal;
        let (value, attempts) = tries
            .run(|number| operation(Attempt::new(number, signal.clone())), should_retry)
            .await?;
        Ok(Retried { value, attempts, total_time: tries.clock.now() - start })
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

impl<C: Clock, R: Rng> Tries<'_, C, R> {
    /// Calls `operation` with 1, 2, .. until it succeeds; the value and the number of calls.
    pub(crate) async fn run<T, E, Fut>(
        &self,
        mut operation: impl FnMut(u32) -> Fut,
        mut should_retry: impl FnMut(&E, u32) -> bool,
    ) -> Result<(T, u32), RetryError<E>>
    where
        Fut: Future<Output = Result<T, E>>,
    {
        let mut delays = self.options.delays();
        let mut attempt = 1_u32;
        loop {
            if self.signal.is_aborted() {
                return Err(self.aborted());
            }
            let last = match operation(attempt).await {
                Ok(value) => {
                    self.count("success");
                    return Ok((value, attempt));
                }
                Err(last) => last,
            };
            // First of all: what a call returns once its caller has given up is no failure.
            if self.signal.is_aborted() {
                return Err(self.aborted());
            }
            if attempt >= self.options.max_attempts() || !should_retry(&last, attempt) {
                self.count("exhausted");
                return Err(RetryError::Exhausted { attempts: attempt, last });
            }
            let delay = delays.next(self.rng);
            let comes_too_late = |deadline| self.clock.now() + delay >= deadline;
            if self.deadline.is_some_and(comes_too_late) {
                self.count("exhausted");
                return Err(RetryError::Exhausted { attempts: attempt, last });
            }
            self.count("failure");
            drop(last);
            self.record_delay(delay);
            if !delay.is_zero() {
                let wait = bounded(self.clock, Some(delay), self.signal, pending::<()>());
                if wait.await == Bounded::Aborted {
                    return Err(self.aborted());
                }
            }
            attempt = attempt.saturating_add(1);
        }
    }

    fn aborted<E>(&self) -> RetryError<E> {
        self.count("aborted");
        RetryError::Aborted
    }

    fn count(&self, outcome: &'static str) {
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
