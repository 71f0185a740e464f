//! The loop: how often, how long, and who ends it.

use core::cell::{Cell, RefCell};
use core::error::Error;
use std::rc::Rc;

use futures_util::future::join;
use storage_mux::retry::{Jitter, RetryError, RetryOptions, retry, with_timeout};
use storage_mux::sim::FakeClock;
use storage_mux::{
    AbortController, Clock, ErrorClass, NetworkFault, SeededRng, StorageError, classify,
};

use crate::support::{NoDraw, constant, elapsed_ms, ms, run, secs, yield_now};

/// Spec: RT-01
#[test]
fn a_success_comes_with_its_value_the_calls_it_took_and_the_time_it_took() {
    let (clock, options) = (FakeClock::new(), constant(5, ms(10)));
    clock.advance(secs(5));
    let done = run(
        &clock,
        retry(&options, &clock, &NoDraw).run(|attempt| async move {
            if attempt.number() < 3 { Err("down") } else { Ok(attempt.number() * 100) }
        }),
    )
    .unwrap();
    assert_eq!((done.value, done.attempts, done.total_time), (300, 3, ms(20)));
}

/// Spec: RT-01, RT-03
#[test]
fn a_first_call_that_succeeds_makes_no_timer_and_leaves_nothing_to_chance() {
    let (clock, options) = (FakeClock::new(), RetryOptions::default());
    let done =
        run(&clock, retry(&options, &clock, &NoDraw).run(|_| async { Ok::<_, &str>(7) })).unwrap();
    assert_eq!((done.value, done.attempts, done.total_time), (7, 1, ms(0)));
    assert_eq!((clock.timers_made(), clock.reads()), (0, 2));
}

/// Case RT-01: the limit counts calls, the first one included.
///
/// Spec: RT-01, RT-07
#[test]
fn a_limit_of_three_means_three_calls_and_two_waits_and_one_means_one_call_and_none() {
    for (limit, waits) in [(3, 2), (1, 0)] {
        let (clock, options) = (FakeClock::new(), constant(limit, ms(10)));
        let calls = Cell::new(0);
        let result = run(
            &clock,
            retry(&options, &clock, &NoDraw).run(|_| {
                calls.set(calls.get() + 1);
                async { Err::<(), _>("down") }
            }),
        );
        assert_eq!(result.unwrap_err(), RetryError::Exhausted { attempts: limit, last: "down" });
        assert_eq!(calls.get(), limit);
        assert_eq!(clock.timers_made(), waits);
        assert_eq!(elapsed_ms(&clock), waits * 10);
    }
}

/// Case RT-01: a limit of zero is refused; it is neither no call nor endless calls.
///
/// Spec: RT-09
#[test]
fn a_limit_of_zero_is_refused_by_name_before_anything_is_called() {
    let (clock, options) = (FakeClock::new(), RetryOptions::new().with_max_attempts(0));
    let calls = Cell::new(0);
    let result = run(
        &clock,
        retry(&options, &clock, &NoDraw).run(|_| {
            calls.set(calls.get() + 1);
            async { Ok::<(), &str>(()) }
        }),
    );
    let Err(RetryError::InvalidOption(invalid)) = result else { panic!("{result:?}") };
    assert_eq!((invalid.field(), calls.get()), ("max_attempts", 0));
}

/// Spec: RT-07, RT-08
#[test]
fn exhaustion_carries_the_number_of_calls_and_the_last_error_and_not_the_first() {
    let (clock, options) = (FakeClock::new(), constant(4, ms(1)));
    let error = run(
        &clock,
        retry(&options, &clock, &NoDraw).run(|attempt| async move {
            let status = 500 + u16::try_from(attempt.number()).unwrap();
            Err::<(), _>(StorageError::http(status))
        }),
    )
    .unwrap_err();
    assert_eq!(error.code(), "RETRY.EXHAUSTED");
    let source = error.source().and_then(|source| source.downcast_ref::<StorageError>());
    assert_eq!(source, Some(&StorageError::http(504)));
    assert_eq!(error.into_inner(), Some(StorageError::http(504)));
}

/// Spec: RT-01
#[test]
fn the_caller_is_asked_before_each_retry_with_error_and_attempt_and_no_ends_the_run() {
    let (clock, options) = (FakeClock::new(), constant(9, ms(10)));
    let asked = RefCell::new(Vec::new());
    let result = run(
        &clock,
        retry(&options, &clock, &NoDraw).run_when(
            |attempt| async move { Err::<(), _>(attempt.number() * 10) },
            |error, attempt| {
                asked.borrow_mut().push((*error, attempt));
                attempt < 3
            },
        ),
    );
    assert_eq!(result.unwrap_err(), RetryError::Exhausted { attempts: 3, last: 30 });
    assert_eq!(*asked.borrow(), [(10, 1), (20, 2), (30, 3)]);
    assert_eq!(elapsed_ms(&clock), 20);
}

/// After the last attempt there is no retry to ask about.
///
/// Spec: RT-01
#[test]
fn the_caller_is_not_asked_when_no_attempt_is_left() {
    let (clock, options) = (FakeClock::new(), constant(2, ms(10)));
    let asked = Cell::new(0);
    let result = run(
        &clock,
        retry(&options, &clock, &NoDraw).run_when(
            |_| async { Err::<(), _>("down") },
            |_, _| {
                asked.set(asked.get() + 1);
                true
            },
        ),
    );
    assert!(result.is_err());
    assert_eq!(asked.get(), 1);
}

/// Case RT-10: an error that no repeat can cure is not repeated.
///
/// Spec: RT-01, E-2
#[test]
fn a_permanent_error_takes_one_call_and_no_wait() {
    for permanent in [
        StorageError::http(403),
        StorageError::invalid_key("empty"),
        StorageError::unsupported(),
        StorageError::key_not_found(),
    ] {
        let (clock, options) = (FakeClock::new(), constant(5, secs(1)));
        let result = run(
            &clock,
            retry(&options, &clock, &NoDraw).run_when(
                |_| {
                    let error = permanent.clone();
                    async move { Err::<(), _>(error) }
                },
                |error, _| classify(error) == ErrorClass::Transient,
            ),
        );
        assert_eq!(result, Err(RetryError::Exhausted { attempts: 1, last: permanent }));
        assert_eq!(clock.timers_made(), 0);
    }
}

/// Case RT-02: a time limit around the whole run cuts its waits too.
///
/// Spec: RT-05
#[test]
fn a_limit_around_a_run_ends_it_in_the_middle_of_a_wait_and_no_call_starts_later() {
    let (clock, options) = (FakeClock::new(), constant(10, secs(3)));
    let called_at = RefCell::new(Vec::new());
    let whole = retry(&options, &clock, &NoDraw).run(|_| {
        called_at.borrow_mut().push(elapsed_ms(&clock));
        async { Err::<(), _>("down") }
    });
    let result = run(&clock, with_timeout(&clock, secs(5), Default::default(), whole));
    assert_eq!(result.unwrap_err().code(), "RETRY.TIMEOUT");
    assert_eq!(elapsed_ms(&clock), 5_000);
    assert_eq!(*called_at.borrow(), [0, 3_000]);
    assert_eq!(clock.waiting(), 0);
}

/// Case RT-03: an abort during the wait is noticed at once, and the timer goes with it.
///
/// Spec: RT-02
#[test]
fn an_abort_ends_a_wait_at_once_and_leaves_no_timer() {
    let (clock, options) = (FakeClock::new(), constant(3, secs(60)));
    let controller = AbortController::new();
    let signal = controller.signal();
    let calls = RefCell::new(Vec::new());
    let abort_after_a_second = async {
        clock.sleep(secs(1)).await;
        controller.abort();
    };
    let (result, ()) = run(
        &clock,
        join(
            retry(&options, &clock, &NoDraw).with_signal(&signal).run(|attempt| {
                calls.borrow_mut().push(attempt.number());
                async { Err::<(), _>("down") }
            }),
            abort_after_a_second,
        ),
    );
    let error = result.unwrap_err();
    assert_eq!((error, error.code()), (RetryError::Aborted, "RETRY.ABORTED"));
    assert_eq!(elapsed_ms(&clock), 1_000);
    assert_eq!(*calls.borrow(), [1]);
    assert_eq!((clock.waiting(), controller.waiters()), (0, 0));
}

/// Spec: RT-02
#[test]
fn an_abort_before_the_first_call_means_no_call_at_all() {
    let (clock, options) = (FakeClock::new(), constant(3, ms(10)));
    let controller = AbortController::new();
    controller.abort();
    let calls = Cell::new(0);
    let result = run(
        &clock,
        retry(&options, &clock, &NoDraw).with_signal(&controller.signal()).run(|_| {
            calls.set(calls.get() + 1);
            async { Ok::<(), &str>(()) }
        }),
    );
    assert_eq!(result.unwrap_err(), RetryError::Aborted);
    assert_eq!((calls.get(), clock.timers_made()), (0, 0));
}

/// The same holds for the last attempt: what fails after an abort is aborted, not exhausted.
///
/// Spec: RT-02
#[test]
fn a_call_that_fails_after_the_abort_ends_the_run_as_aborted_and_nobody_is_asked() {
    for attempts in [1, 3] {
        let (clock, options) = (FakeClock::new(), constant(attempts, ms(10)));
        let controller = AbortController::new();
        let result = run(
            &clock,
            retry(&options, &clock, &NoDraw).with_signal(&controller.signal()).run_when(
                |attempt| {
                    controller.abort();
                    async move {
                        // The function has the signal and acts on it.
                        attempt.signal().aborted().await;
                        Err::<(), _>("cut off")
                    }
                },
                |_, _| panic!("no retry is due"),
            ),
        );
        assert_eq!(result.unwrap_err(), RetryError::Aborted);
        assert_eq!(clock.timers_made(), 0);
    }
}

/// Spec: RT-02
#[test]
fn a_call_that_succeeds_in_spite_of_the_abort_gives_its_value() {
    let (clock, options) = (FakeClock::new(), constant(3, ms(10)));
    let controller = AbortController::new();
    let done = run(
        &clock,
        retry(&options, &clock, &NoDraw).with_signal(&controller.signal()).run(|_| {
            controller.abort();
            async { Ok::<_, &str>("stored") }
        }),
    );
    assert_eq!(done.unwrap().value, "stored");
}

/// Case RT-04: a token that outlives many runs keeps no trace of them.
///
/// Spec: RT-02, AB-1
#[test]
fn a_signal_shared_by_a_hundred_thousand_runs_has_as_many_waiters_in_each_and_none_at_the_end() {
    let (clock, options) = (FakeClock::new(), constant(2, ms(1)));
    let controller = AbortController::new();
    let signal = controller.signal();
    for _ in 0..100_000 {
        let failing = retry(&options, &clock, &NoDraw)
            .with_signal(&signal)
            .run(|_| async { Err::<(), _>("down") });
        let watch = async {
            yield_now().await;
            (controller.waiters(), clock.waiting())
        };
        let (result, waiting) = run(&clock, join(failing, watch));
        assert!(result.is_err());
        assert_eq!(waiting, (1, 1));
    }
    assert_eq!((controller.waiters(), clock.waiting()), (0, 0));
}

/// Case RT-12: a call that never ends is ended by the limit of each attempt, and then retried.
///
/// Spec: RT-05, RT-07
#[test]
fn a_limit_inside_the_run_ends_each_hanging_attempt_and_lets_the_next_one_begin() {
    let clock = FakeClock::new();
    let options = RetryOptions::new()
        .with_max_attempts(4)
        .with_backoff(storage_mux::retry::Backoff::exponential(secs(1), 2.0, secs(30)))
        .with_jitter(Jitter::None);
    let calls = Cell::new(0);
    let result = run(
        &clock,
        retry(&options, &clock, &NoDraw).run(|attempt| {
            calls.set(calls.get() + 1);
            let hangs = core::future::pending::<Result<(), &str>>();
            with_timeout(&clock, secs(2), attempt, hangs)
        }),
    );
    assert_eq!(
        result.map_err(RetryError::flatten),
        Err(RetryError::Timeout { attempt: 4, limit: secs(2) }),
    );
    assert_eq!((calls.get(), elapsed_ms(&clock)), (4, 15_000));
}

/// Spec: RT-03
#[test]
fn the_same_seed_waits_the_same_and_another_seed_does_not() {
    let waited = |seed| {
        let (clock, rng) = (FakeClock::new(), SeededRng::new(seed));
        let options = RetryOptions::new().with_max_attempts(6);
        let failed = retry(&options, &clock, &rng).run(|_| async { Err::<(), _>("down") });
        assert!(run(&clock, failed).is_err());
        clock.now()
    };
    assert_eq!(waited(1), waited(1));
    assert_ne!(waited(1), waited(2));
}

/// Spec: RT-02
#[test]
fn a_run_that_is_dropped_in_a_wait_leaves_neither_timer_nor_listener() {
    let (clock, options) = (FakeClock::new(), constant(3, secs(60)));
    let controller = AbortController::new();
    let signal = controller.signal();
    let held = Rc::new(());
    let in_call = held.clone();
    {
        let dropped = retry(&options, &clock, &NoDraw).with_signal(&signal).run(move |_| {
            let held = in_call.clone();
            async move {
                let _held = held;
                Err::<(), _>("down")
            }
        });
        let mut dropped = core::pin::pin!(dropped);
        run(&clock, async {
            assert!(futures_util::poll!(dropped.as_mut()).is_pending());
        });
        assert_eq!((clock.waiting(), controller.waiters()), (1, 1));
    }
    assert_eq!((clock.waiting(), controller.waiters(), Rc::strong_count(&held)), (0, 0, 1));
}

/// Spec: RT-04
#[test]
fn a_wait_of_nothing_makes_no_timer() {
    let (clock, options) = (FakeClock::new(), constant(3, ms(0)));
    let failed = retry(&options, &clock, &NoDraw)
        .run(|_| async { Err::<(), _>(StorageError::network(NetworkFault::Reset)) });
    assert_eq!(run(&clock, failed).unwrap_err().code(), "RETRY.EXHAUSTED");
    assert_eq!(clock.timers_made(), 0);
}

/// Case TC-01: the longest duration there is means "practically never" and panics nowhere.
///
/// Spec: RT-04
#[test]
fn endless_waits_can_be_asked_for_and_aborted() {
    for delay in [core::time::Duration::MAX, secs(u64::MAX / 10)] {
        let (clock, options) = (FakeClock::new(), constant(3, delay));
        clock.advance(secs(1));
        let controller = AbortController::new();
        let signal = controller.signal();
        let failed = retry(&options, &clock, &NoDraw)
            .with_signal(&signal)
            .run(|_| async { Err::<(), _>("down") });
        let abort_after_a_year = async {
            clock.sleep(secs(31_536_000)).await;
            controller.abort();
        };
        let (result, ()) = run(&clock, join(failed, abort_after_a_year));
        assert_eq!(result.unwrap_err(), RetryError::Aborted);

        let ready = retry(&options, &clock, &NoDraw).run(|_| async { Ok::<_, &str>(1) });
        assert_eq!(run(&clock, ready).unwrap().value, 1);
    }
}
