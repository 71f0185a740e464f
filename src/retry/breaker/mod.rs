//! Leaves the sick alone: after some failures in a row no call is made for a while.
//!
//! - [`CircuitBreaker`]: lets calls through or refuses them, and hears how they ended.
//! - `state`: the decisions, without time or threads. `call`: an async call under a breaker.

mod call;
mod options;
mod state;

use alloc::boxed::Box;
use core::fmt;
use core::time::Duration;

pub use options::CircuitBreakerOptions;
use state::{Admission, Machine, Ticket, Word};
pub use state::{CircuitState, StateChange, Verdict};

use super::error::{CircuitOpen, InvalidOption};
use crate::port::{Attribute, Clock, Meter};
use crate::sync::{AtomicU64, Lock, Ordering};

/// A circuit breaker: closed it lets every call through, open none, half-open a few on trial.
///
/// Share one between all who call the same thing, by reference or in an `Arc`. Use it through
/// [`call`](Self::call); or, where the work is no future, through [`admit`](Self::admit).
///
/// While closed and well, a call costs two atomic loads: no lock, no clock.
///
/// A call that never ends gives no verdict, and a trial that never ends keeps its place: put a
/// [`with_timeout`](super::with_timeout) inside. A call whose future is dropped, whose caller
/// aborts or whose function panics gives its place back at once and counts neither way.
///
/// ```
/// # use storage_mux::sim::{FakeClock, run};
/// use storage_mux::retry::{CircuitBreaker, CircuitBreakerOptions, CircuitState, RetryError};
///
/// # let clock = FakeClock::new();
/// let options = CircuitBreakerOptions::new().with_failure_threshold(1);
/// let breaker = CircuitBreaker::new(options, clock.clone())?;
/// # run(&clock, async {
/// let failed = breaker.call(|| async { Err::<(), _>("down") }).await;
/// assert_eq!(failed, Err(RetryError::Failed("down")));
/// assert_eq!(breaker.state(), CircuitState::Open);
///
/// let refused = breaker.call(|| async { Err::<(), _>("not called") }).await;
/// assert!(refused.is_err_and(|error| error.code() == "RETRY.CIRCUIT_OPEN"));
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Together with a retry, which must not knock at a closed door:
///
/// ```
/// # use storage_mux::sim::{FakeClock, run};
/// # use storage_mux::SeededRng;
/// # use storage_mux::retry::{CircuitBreaker, CircuitBreakerOptions, CircuitState, RetryError};
/// # use storage_mux::retry::{RetryOptions, retry};
/// # let (clock, rng) = (FakeClock::new(), SeededRng::new(1));
/// # let (options, breaker) = (RetryOptions::new(), CircuitBreakerOptions::new());
/// # let breaker = CircuitBreaker::new(breaker, clock.clone())?;
/// # run(&clock, async {
/// let done = retry(&options, &clock, &rng)
///     .run_when(
///         |_| breaker.call(|| async { Ok::<_, &str>("value") }),
///         |error, _| error.is_retryable() && breaker.state() != CircuitState::Open,
///     )
///     .await
///     .map_err(RetryError::flatten);
/// # assert!(done.is_ok_and(|done| done.value == "value"));
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CircuitBreaker<C> {
    clock: C,
    /// The machine's [`Word`], written under the lock and read without.
    word: AtomicU64,
    machine: Lock<Machine>,
    listener: Option<Box<Listener>>,
    meter: Option<Box<dyn Meter>>,
}

type Listener = dyn Fn(&StateChange) + Send + Sync;

impl<C: Clock> CircuitBreaker<C> {
    /// A closed breaker.
    ///
    /// # Errors
    ///
    /// The first option that is out of range, as
    /// [`validate`](CircuitBreakerOptions::validate) tells it.
    pub fn new(options: CircuitBreakerOptions, clock: C) -> Result<Self, InvalidOption> {
        options.validate()?;
        let machine = Machine::new(options);
        let word = AtomicU64::new(machine.word().bits());
        Ok(Self { clock, word, machine: Lock::new(machine), listener: None, meter: None })
    }

    /// The same with a listener for the `state_change` events.
    ///
    /// It is called on the path of the call that caused the change, with no lock held: it may use
    /// this very breaker. It must not block.
    #[must_use]
    pub fn with_listener(
        mut self,
        listener: impl Fn(&StateChange) + Send + Sync + 'static,
    ) -> Self {
        self.listener = Some(Box::new(listener));
        self
    }

    /// The same, measured: `circuit_breaker.state_change.total` by `from` and `to`, and
    /// `circuit_breaker.call.duration_ms` of every [`call`](Self::call) that ran to its end.
    #[must_use]
    pub fn with_meter(mut self, meter: impl Meter + 'static) -> Self {
        self.meter = Some(Box::new(meter));
        self
    }

    /// The present state. An open breaker whose time has passed is open until a call comes.
    #[must_use]
    pub fn state(&self) -> CircuitState {
        self.load().state()
    }

    /// Asks to be let through. The permit must hear how the call ended; dropped, it says nothing
    /// for or against and gives its place back.
    ///
    /// # Errors
    ///
    /// [`CircuitOpen`] with the time after which to come back.
    #[inline]
    pub fn admit(&self) -> Result<Permit<'_, C>, CircuitOpen> {
        match self.load().ticket_if_closed() {
            Some(ticket) => Ok(Permit { breaker: self, ticket: Some(ticket) }),
            None => self.admit_on_trial(),
        }
    }

    fn admit_on_trial(&self) -> Result<Permit<'_, C>, CircuitOpen> {
        // Read before the lock is taken: a clock is foreign code.
        let now = self.clock.now();
        match self.change(|machine| machine.admit(now)) {
            Admission::Granted(ticket, change) => {
                // The permit comes first: should a listener panic, the place is given back.
                let permit = Permit { breaker: self, ticket: Some(ticket) };
                self.tell(change);
                Ok(permit)
            }
            Admission::Refused(retry_after) => Err(CircuitOpen { retry_after }),
        }
    }

    fn on_failure(&self, ticket: Ticket) {
        let now = self.clock.now();
        let change = self.change(|machine| machine.on_failure(now, ticket));
        self.tell(change);
    }

    /// Tells of a change, with no lock held.
    fn tell(&self, change: Option<StateChange>) {
        let Some(change) = change else { return };
        if let Some(meter) = &self.meter {
            let (from, to) = (change.from.as_str(), change.to.as_str());
            let attributes = [Attribute::str("from", from), Attribute::str("to", to)];
            meter.count("circuit_breaker.state_change.total", 1, &attributes);
        }
        if let Some(listener) = &self.listener {
            listener(&change);
        }
    }

    fn record_duration(&self, meter: &dyn Meter, duration: Duration) {
        meter.record("circuit_breaker.call.duration_ms", crate::time::millis(duration), &[]);
    }
}

impl<C> CircuitBreaker<C> {
    #[inline]
    fn load(&self) -> Word {
        Word::from_bits(self.word.load(Ordering::Acquire))
    }

    fn change<O>(&self, f: impl FnOnce(&mut Machine) -> O) -> O {
        self.machine.with(|machine| {
            let output = f(machine);
            self.word.store(machine.word().bits(), Ordering::Release);
            output
        })
    }
}

impl<C> fmt::Debug for CircuitBreaker<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CircuitBreaker")
            .field("state", &self.load().state())
            .finish_non_exhaustive()
    }
}

/// A call that was let through. Tell it how the call ended.
#[must_use = "dropped, it says nothing about how the call ended"]
pub struct Permit<'a, C> {
    breaker: &'a CircuitBreaker<C>,
    /// None once the outcome is known.
    ticket: Option<Ticket>,
}

impl<C: Clock> Permit<'_, C> {
    /// The call ended, and this is what it says.
    #[inline]
    pub fn settle(mut self, verdict: Verdict) {
        let Some(ticket) = self.ticket else { return };
        match verdict {
            Verdict::Ignored => {}
            Verdict::Success => {
                self.ticket = None;
                if !self.breaker.load().is_settled_by(ticket) {
                    let change = self.breaker.change(|machine| machine.on_success(ticket));
                    self.breaker.tell(change);
                }
            }
            Verdict::Failure => {
                self.breaker.on_failure(ticket);
                // Last: should the clock or a listener panic, the drop does no harm to a ticket
                // that has been counted, and gives back the place of one that has not.
                self.ticket = None;
            }
        }
    }
}

impl<C> Drop for Permit<'_, C> {
    #[inline]
    fn drop(&mut self) {
        // Only a trial occupies a place.
        if let Some(ticket) = self.ticket.take().filter(|ticket| ticket.is_trial()) {
            self.breaker.change(|machine| machine.on_release(ticket));
        }
    }
}

impl<C> fmt::Debug for Permit<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").field("ticket", &self.ticket).finish_non_exhaustive()
    }
}
