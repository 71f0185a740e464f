//! Calls under a breaker: every way in and every way out.

use core::cell::Cell;
use core::future::{pending, ready};
use core::time::Duration;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_util::future::{join, join_all};
use storage_mux::retry::{Attempt, RetryError, Verdict, retry, with_timeout};
use storage_mux::sim::FakeClock;
use storage_mux::{AbortController, Clock, ErrorClass, Instant, StorageError, classify};

use super::{Closed, HalfOpen, Open, breaker, fail, options, refusal, ripe, succeed, trip};
use crate::support::{NoDraw, constant, elapsed_ms, ms, run, secs};

/// Spec: RT-06
#[test]
fn an_open_breaker_refuses_without_calling_and_says_when_to_come_back() {
    let clock = FakeClock::new();
    let breaker = breaker(&clock, options());
    trip(&breaker);
    clock.advance(secs(4));
    let called = Cell::new(false);
    let result = run(
        &clock,
        breaker.call(|| {
            called.set(true);
            ready(Ok::<_, &str>(()))
        }),
    );
    assert_eq!(result, Err(RetryError::CircuitOpen { retry_after: secs(6) }));
    assert_eq!(result.unwrap_err().code(), "RETRY.CIRCUIT_OPEN");
    assert!(!called.get());
    assert_eq!(breaker.admit().unwrap_err().code(), "RETRY.CIRCUIT_OPEN");
}

/// Case CB-01: half-open samples, it does not serve.
///
/// Spec: RT-06
#[test]
fn of_twenty_callers_at_the_end_of_the_open_time_one_gets_through() {
    let clock = FakeClock::new();
    let breaker = ripe(&clock, options());
    let calls = Cell::new(0);
    let results = run(
        &clock,
        join_all((0..20).map(|_| {
            breaker.call(|| async {
                calls.set(calls.get() + 1);
                clock.sleep(secs(5)).await;
                Ok::<_, &str>(elapsed_ms(&clock))
            })
        })),
    );
    assert_eq!(calls.get(), 1);
    assert_eq!(results.iter().filter(|result| **result == Ok(15_000)).count(), 1);
    let refused = Err(RetryError::CircuitOpen { retry_after: Duration::ZERO });
    assert_eq!(results.iter().filter(|result| **result == refused).count(), 19);
}

/// Case CB-03: a trial that is cancelled gives its place back, however it is cancelled.
///
/// Spec: RT-06
#[test]
fn a_cancelled_trial_gives_its_place_back_at_once() {
    let clock = FakeClock::new();
    let breaker = ripe(&clock, options());
    let hang = || pending::<Result<(), &str>>();

    // (a) Its future is dropped.
    let mut dropped = Box::pin(breaker.call(hang));
    run(&clock, async {
        assert!(futures_util::poll!(dropped.as_mut()).is_pending());
    });
    assert_eq!(refusal(&breaker), Some(Duration::ZERO), "the place is taken");
    drop(dropped);
    breaker.admit().unwrap().settle(Verdict::Ignored);

    // (b) Its caller aborts.
    let controller = AbortController::new();
    let signal = controller.signal();
    let abort = async { controller.abort() };
    let (aborted, ()) =
        run(&clock, join(breaker.call_with(&signal, hang, |_| panic!("no outcome")), abort));
    assert_eq!(aborted, Err(RetryError::Aborted));
    assert_eq!(controller.waiters(), 0);
    breaker.admit().unwrap().settle(Verdict::Ignored);

    // (c) A limit around it fires.
    let guarded = with_timeout(&clock, secs(1), Attempt::default(), breaker.call(hang));
    assert_eq!(run(&clock, guarded).unwrap_err().code(), "RETRY.TIMEOUT");

    assert_eq!(breaker.state(), HalfOpen);
    assert_eq!(run(&clock, breaker.call(|| ready(Ok::<_, &str>(1)))), Ok(1));
    assert_eq!(breaker.state(), Closed);
}

/// Case CB-04: a limit inside the breaker turns a hanging trial into a failed one.
///
/// Spec: RT-05, RT-06
#[test]
fn a_trial_that_hangs_is_a_failure_when_its_limit_is_over() {
    let clock = FakeClock::new();
    let breaker = ripe(&clock, options());
    let hangs = || with_timeout(&clock, secs(1), Attempt::default(), pending::<Result<(), &str>>());
    let error = run(&clock, breaker.call(hangs)).unwrap_err().flatten();
    assert_eq!(error, RetryError::Timeout { attempt: 1, limit: secs(1) });
    assert_eq!(elapsed_ms(&clock), 11_000);
    assert_eq!((breaker.state(), refusal(&breaker)), (Open, Some(secs(10))));
    clock.advance(secs(10));
    succeed(&breaker);
}

/// Case CB-05: what was let through before the trip says nothing after it.
///
/// Spec: RT-06
#[test]
fn a_slow_success_from_before_the_trip_does_not_close_it() {
    let clock = FakeClock::new();
    let breaker = breaker(&clock, options().with_timeout(secs(60)));
    let slow = breaker.call(|| async {
        clock.sleep(secs(20)).await;
        Ok::<_, &str>("data")
    });
    let trips = async {
        clock.sleep(secs(1)).await;
        trip(&breaker);
    };
    let (data, ()) = run(&clock, join(slow, trips));
    assert_eq!(data, Ok("data"));
    assert_eq!((elapsed_ms(&clock), breaker.state()), (20_000, Open));
    clock.jump(Instant::from_nanos(61_000_000_000 - 1));
    assert!(refusal(&breaker).is_some());
    clock.advance(Duration::from_nanos(1));
    succeed(&breaker);
}

/// Case CB-09: callers who hang up are no failures.
///
/// Spec: RT-06
#[test]
fn impatient_callers_do_not_open_it() {
    let clock = FakeClock::new();
    let breaker = breaker(&clock, options());
    let slow = || async {
        clock.sleep(ms(50)).await;
        Ok::<_, &str>("served")
    };
    for _ in 0..10 {
        let impatient = with_timeout(&clock, ms(10), Attempt::default(), breaker.call(slow));
        assert!(run(&clock, impatient).is_err());
    }
    for _ in 0..10 {
        let controller = AbortController::new();
        let signal = controller.signal();
        let hears_the_abort = || async {
            controller.abort();
            Err::<(), _>("cut off")
        };
        let cut_off = breaker.call_with(&signal, hears_the_abort, Verdict::of);
        assert_eq!(run(&clock, cut_off), Err(RetryError::Failed("cut off")));
    }
    assert_eq!(breaker.state(), Closed);
    assert_eq!(run(&clock, breaker.call(slow)), Ok("served"));
    fail(&breaker);
    fail(&breaker);
    assert_eq!(breaker.state(), Closed, "the count stood at zero");
}

/// Case CB-12: a panic gives the place back.
///
/// Spec: RT-06
#[test]
fn a_panicking_trial_gives_its_place_back_and_counts_neither_way() {
    let clock = FakeClock::new();
    let breaker = ripe(&clock, options());
    for late in [false, true] {
        let panicking = catch_unwind(AssertUnwindSafe(|| {
            run(
                &clock,
                breaker.call(|| async {
                    if late {
                        clock.sleep(ms(1)).await;
                    }
                    panic!("in the backend");
                    #[allow(unreachable_code)]
                    Ok::<(), &str>(())
                }),
            )
        }));
        assert!(panicking.is_err());
        assert_eq!(breaker.state(), HalfOpen);
    }
    assert_eq!(run(&clock, breaker.call(|| ready(Ok::<_, &str>(1)))), Ok(1));
    assert_eq!(breaker.state(), Closed);
}

/// Case CB-13: "not found" is an answer.
///
/// Spec: RT-06, E-2
#[test]
fn answers_that_say_no_do_not_open_it_and_end_a_run_of_failures() {
    let clock = FakeClock::new();
    let breaker = breaker(&clock, options());
    let judge = |result: &Result<(), StorageError>| match result {
        Err(error) if classify(error) == ErrorClass::Transient => Verdict::Failure,
        _ => Verdict::Success,
    };
    let never = AbortController::new().signal();
    let get = |error: StorageError| {
        run(&clock, breaker.call_with(&never, || ready(Err(error)), judge)).unwrap_err()
    };
    for _ in 0..100 {
        assert_eq!(
            get(StorageError::key_not_found()),
            RetryError::Failed(StorageError::key_not_found())
        );
    }
    for status in [503, 503, 404, 503] {
        get(StorageError::http(status));
        assert_eq!(breaker.state(), Closed);
    }
    get(StorageError::http(503));
    get(StorageError::http(503));
    assert_eq!(breaker.state(), Open);
}

/// Case CB-14: a refusal is not retried, and a trip ends the run: nobody knocks at a closed door.
///
/// Spec: RT-01, RT-06
#[test]
fn a_retry_around_an_open_breaker_returns_the_refusal_at_once() {
    let (clock, attempts) = (FakeClock::new(), constant(3, secs(1)));
    let breaker = breaker(&clock, options().with_failure_threshold(2));
    let calls = Cell::new(0);
    let guarded = || async {
        retry(&attempts, &clock, &NoDraw)
            .run_when(
                |_| {
                    breaker.call(|| {
                        calls.set(calls.get() + 1);
                        ready(Err::<(), _>("down"))
                    })
                },
                |error, _| error.is_retryable() && breaker.state() != Open,
            )
            .await
            .map_err(RetryError::flatten)
    };
    let tripped = run(&clock, guarded());
    assert_eq!(tripped, Err(RetryError::Exhausted { attempts: 2, last: "down" }));
    assert_eq!((calls.get(), elapsed_ms(&clock)), (2, 1_000));
    let refused = run(&clock, guarded());
    assert_eq!(refused, Err(RetryError::CircuitOpen { retry_after: secs(10) }));
    assert_eq!((calls.get(), elapsed_ms(&clock)), (2, 1_000));
}

/// Case CB-19: what ends a call before it reaches the other side takes no place for good.
///
/// Spec: RT-06
#[test]
fn local_refusals_leave_the_trial_to_the_next_call() {
    let clock = FakeClock::new();
    let cancelled = AbortController::new();
    cancelled.abort();
    let never = AbortController::new().signal();
    let judge = |result: &Result<(), StorageError>| match result {
        Err(error) if *error == StorageError::unsupported() => Verdict::Ignored,
        Err(error) if *error == StorageError::invalid_key("") => Verdict::Ignored,
        other => Verdict::of(other),
    };

    // Cancelled before it began: the breaker is not even asked, so it does not change state.
    let breaker = ripe(&clock, options());
    let unwanted = || -> core::future::Ready<Result<(), StorageError>> { panic!("not called") };
    let result = run(&clock, breaker.call_with(&cancelled.signal(), unwanted, judge));
    assert_eq!(result, Err(RetryError::Aborted));
    assert_eq!(breaker.state(), Open);

    for local in [StorageError::invalid_key("empty"), StorageError::unsupported()] {
        let refused = run(&clock, breaker.call_with(&never, || ready(Err(local)), judge));
        assert_eq!(refused.unwrap_err().code(), "RETRY.FAILED");
        assert_eq!(breaker.state(), HalfOpen);
    }
    assert_eq!(run(&clock, breaker.call_with(&never, || ready(Ok(())), judge)), Ok(()));
    assert_eq!(breaker.state(), Closed);
}

/// Spec: RT-06
#[test]
fn nothing_happens_before_the_first_poll() {
    let clock = FakeClock::new();
    let breaker = ripe(&clock, options());
    drop(breaker.call(|| ready(Ok::<_, &str>(()))));
    assert_eq!(breaker.state(), Open);
}

/// Spec: RT-06, RT-11
#[test]
fn a_closed_breaker_reads_no_clock_and_makes_no_timer() {
    let clock = FakeClock::new();
    let breaker = breaker(&clock, options());
    for _ in 0..100 {
        assert_eq!(run(&clock, breaker.call(|| ready(Ok::<_, &str>(1)))), Ok(1));
    }
    assert_eq!((clock.reads(), clock.timers_made()), (0, 0));
}
