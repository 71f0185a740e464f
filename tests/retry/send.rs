//! Where the parts may cross threads the futures may too, and where they may not they still run.

use core::cell::Cell;
use core::time::Duration;
use std::rc::Rc;
use std::sync::Arc;

use storage_mux::retry::{
    Attempt, CircuitBreaker, CircuitBreakerOptions, Permit, RetryError, RetryOptions, Verdict,
    retry, with_timeout,
};
use storage_mux::sim::{FakeClock, Recorder};
use storage_mux::{AbortController, SeededRng};

use crate::support::{constant, ms, run};

fn crosses_threads<T: Send>(value: T) -> T {
    value
}

fn shared<T: Send + Sync>(_: &T) {}

/// Spec: RT-01, RT-05, RT-06
#[test]
fn every_future_can_be_spawned_where_its_parts_can_cross_threads() {
    let clock = FakeClock::new();
    let breaker = CircuitBreaker::new(CircuitBreakerOptions::new(), clock.clone()).unwrap();
    shared(&breaker);
    shared(&RetryError::Failed("down"));
    let breaker = Arc::new(breaker);
    let task = {
        let (clock, breaker) = (clock.clone(), breaker.clone());
        async move {
            let (options, rng) = (RetryOptions::default(), SeededRng::new(1));
            let (signal, meter) = (AbortController::new().signal(), Recorder::new());
            retry(&options, &clock, &rng)
                .with_signal(&signal)
                .with_meter(&meter)
                .run_when(
                    |attempt: Attempt| {
                        let (clock, breaker) = (&clock, &breaker);
                        async move {
                            let signal = attempt.signal().clone();
                            let call = || async { Ok::<_, String>(attempt.number()) };
                            let guarded = breaker.call_with(&signal, call, Verdict::of);
                            with_timeout(clock, Duration::from_secs(1), attempt.clone(), guarded)
                                .await
                        }
                    },
                    |error, _| error.is_retryable(),
                )
                .await
        }
    };
    let done = run(&clock, crosses_threads(task)).unwrap();
    assert_eq!(done.value, 1);
    let permit: Permit<'_, FakeClock> = breaker.admit().unwrap();
    crosses_threads(permit).settle(Verdict::Success);
}

/// Spec: RT-01, RT-05, RT-06
#[test]
fn values_errors_and_functions_that_stay_on_one_thread_are_served_too() {
    let (clock, options) = (FakeClock::new(), constant(3, ms(1)));
    let breaker = CircuitBreaker::new(CircuitBreakerOptions::new(), clock.clone()).unwrap();
    let calls = Rc::new(Cell::new(0));
    let done = run(
        &clock,
        retry(&options, &clock, &SeededRng::new(1)).run(|_| {
            let calls = calls.clone();
            breaker.call(|| async move {
                calls.set(calls.get() + 1);
                if calls.get() < 3 { Err(calls) } else { Ok(calls) }
            })
        }),
    );
    assert_eq!(done.unwrap().value.get(), 3);
}
