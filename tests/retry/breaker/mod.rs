//! The circuit breaker: who is let through, who is refused, and what counts.

mod calls;
mod listener;
mod model;
mod states;
mod threads;

use core::time::Duration;

use storage_mux::retry::{CircuitBreaker, CircuitBreakerOptions, CircuitState, Verdict};
use storage_mux::sim::FakeClock;

use crate::support::secs;

pub(super) use CircuitState::{Closed, HalfOpen, Open};

pub(super) type Breaker = CircuitBreaker<FakeClock>;

/// Opens at three failures for ten seconds.
pub(super) fn options() -> CircuitBreakerOptions {
    CircuitBreakerOptions::new().with_failure_threshold(3).with_timeout(secs(10))
}

pub(super) fn breaker(clock: &FakeClock, options: CircuitBreakerOptions) -> Breaker {
    CircuitBreaker::new(options, clock.clone()).unwrap()
}

pub(super) fn succeed(breaker: &Breaker) {
    breaker.admit().unwrap().settle(Verdict::Success);
}

pub(super) fn fail(breaker: &Breaker) {
    breaker.admit().unwrap().settle(Verdict::Failure);
}

/// Fails until it opens, which no breaker of these tests takes more than ten calls for.
pub(super) fn trip(breaker: &Breaker) {
    for _ in 0..=10 {
        if breaker.state() == Open {
            return;
        }
        fail(breaker);
    }
    panic!("it does not open: {breaker:?}");
}

/// A breaker whose open time has just passed.
pub(super) fn ripe(clock: &FakeClock, options: CircuitBreakerOptions) -> Breaker {
    let breaker = breaker(clock, options);
    trip(&breaker);
    clock.advance(secs(10));
    breaker
}

pub(super) fn refusal(breaker: &Breaker) -> Option<Duration> {
    breaker.admit().err().map(|open| open.retry_after)
}
