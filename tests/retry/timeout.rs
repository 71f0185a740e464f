//! A limit on one call.

use core::cell::Cell;
use core::future::{Future, pending, poll_fn};
use core::task::Poll;
use core::time::Duration;
use std::rc::Rc;

use futures_util::future::join;
use storage_mux::retry::{Attempt, RetryError, with_timeout};
use storage_mux::sim::FakeClock;
use storage_mux::{AbortController, Clock};

use crate::support::{elapsed_ms, ms, run, secs};

/// Spec: RT-05
#[test]
fn a_ready_future_makes_no_timer_and_reads_no_clock() {
    let clock = FakeClock::new();
    let done = with_timeout(&clock, ms(0), Attempt::default(), async { Ok::<_, &str>(5) });
    assert_eq!(run(&clock, done), Ok(5));
    assert_eq!((clock.timers_made(), clock.reads()), (0, 0));
}

/// Spec: RT-05, RT-07
#[test]
fn a_late_future_is_dropped_and_the_error_tells_attempt_and_limit() {
    let clock = FakeClock::new();
    let held = Rc::new(());
    let in_future = held.clone();
    let hangs = async move {
        let _held = in_future;
        pending::<Result<(), &str>>().await
    };
    let attempt = Attempt::new(7, Default::default());
    let error = run(&clock, with_timeout(&clock, ms(250), attempt, hangs)).unwrap_err();
    assert_eq!(error, RetryError::Timeout { attempt: 7, limit: ms(250) });
    assert_eq!(error.code(), "RETRY.TIMEOUT");
    assert_eq!((elapsed_ms(&clock), Rc::strong_count(&held)), (250, 1));
}

/// One nanosecond before the limit is in time, and so is the very instant of the limit: a ready
/// future wins.
///
/// Spec: RT-05
#[test]
fn a_future_that_ends_on_the_limit_is_in_time_and_one_that_ends_after_it_is_not() {
    let limit = Duration::from_nanos(1_000);
    for (takes, in_time) in [(999, true), (1_000, true), (1_001, false)] {
        let clock = FakeClock::new();
        let slow = async {
            clock.sleep(Duration::from_nanos(takes)).await;
            Ok::<_, &str>(())
        };
        let result = run(&clock, with_timeout(&clock, limit, Attempt::default(), slow));
        assert_eq!(result.is_ok(), in_time, "{takes}");
        assert_eq!(clock.waiting(), 0, "the timer is freed either way");
    }
}

/// Spec: RT-05, RT-08
#[test]
fn a_future_that_fails_in_time_is_told_apart_from_a_late_one_and_frees_the_timer() {
    let clock = FakeClock::new();
    let fails = async {
        clock.sleep(ms(1)).await;
        Err::<(), _>("refused")
    };
    let error = run(&clock, with_timeout(&clock, ms(9), Attempt::default(), fails)).unwrap_err();
    assert_eq!((error, error.code()), (RetryError::Failed("refused"), "RETRY.FAILED"));
    assert_eq!((clock.timers_made(), clock.waiting()), (2, 0));
}

/// Spec: RT-05
#[test]
fn the_callers_signal_ends_it_before_its_time_and_frees_timer_and_listener() {
    let clock = FakeClock::new();
    let controller = AbortController::new();
    let attempt = Attempt::new(1, controller.signal());
    let abort = async {
        clock.sleep(ms(3)).await;
        controller.abort();
    };
    let hangs = pending::<Result<(), &str>>();
    let (result, ()) = run(&clock, join(with_timeout(&clock, secs(9), attempt, hangs), abort));
    assert_eq!(result, Err(RetryError::Aborted));
    assert_eq!(elapsed_ms(&clock), 3);
    assert_eq!((clock.waiting(), controller.waiters()), (0, 0));
}

/// Spec: RT-02, RT-05
#[test]
fn a_signal_that_has_aborted_keeps_the_future_from_being_polled() {
    let clock = FakeClock::new();
    let controller = AbortController::new();
    controller.abort();
    let polled = Cell::new(false);
    let future = async {
        polled.set(true);
        Ok::<_, &str>(())
    };
    let attempt = Attempt::new(1, controller.signal());
    assert_eq!(
        run(&clock, with_timeout(&clock, secs(9), attempt, future)),
        Err(RetryError::Aborted)
    );
    assert!(!polled.get());
}

/// When both are found on one poll: the caller's abort is the stronger reason.
///
/// Spec: RT-05
#[test]
fn on_one_poll_a_value_beats_the_abort_and_the_abort_beats_the_limit() {
    for (has_value, expected) in [(true, Ok(1)), (false, Err(RetryError::Aborted))] {
        let clock = FakeClock::new();
        let controller = AbortController::new();
        let released = Cell::new(false);
        let value =
            poll_fn(|_| if released.get() { Poll::Ready(Ok::<_, &str>(1)) } else { Poll::Pending });
        let attempt = Attempt::new(1, controller.signal());
        let mut bounded = core::pin::pin!(with_timeout(&clock, ms(5), attempt, value));
        let result = run(&clock, async {
            assert!(futures_util::poll!(bounded.as_mut()).is_pending());
            released.set(has_value);
            controller.abort();
            clock.advance(ms(5));
            bounded.await
        });
        assert_eq!(result, expected);
    }
}

/// Case TC-03: the limit has a timer of its own and needs no wake-up from the stuck call.
///
/// Spec: RT-05
#[test]
fn a_call_that_never_wakes_its_task_is_ended_by_the_limit_after_two_polls() {
    let clock = FakeClock::new();
    let polls = Cell::new(0);
    let dead = poll_fn(|_| {
        polls.set(polls.get() + 1);
        Poll::<Result<(), &str>>::Pending
    });
    let result = run(&clock, with_timeout(&clock, secs(1), Attempt::default(), dead));
    assert_eq!(result, Err(RetryError::Timeout { attempt: 1, limit: secs(1) }));
    assert_eq!((elapsed_ms(&clock), polls.get()), (1_000, 2));
}

/// Case TC-01: the longest limits mean "practically never" and panic nowhere.
///
/// Spec: RT-05
#[test]
fn an_endless_limit_lets_a_slow_call_end() {
    for limit in [Duration::MAX, secs(u64::MAX / 10)] {
        let clock = FakeClock::new();
        clock.advance(secs(1));
        let slow = async {
            clock.sleep(secs(31_536_000)).await;
            Ok::<_, &str>("at last")
        };
        let result = run(&clock, with_timeout(&clock, limit, Attempt::default(), slow));
        assert_eq!(result, Ok("at last"));
    }
}

/// However often the task is woken, there is one timer.
///
/// Spec: RT-05
#[test]
fn a_call_that_is_polled_many_times_makes_one_timer() {
    let clock = FakeClock::new();
    let busy = async {
        for _ in 0..50 {
            crate::support::yield_now().await;
        }
        Ok::<_, &str>(())
    };
    let result = run(&clock, with_timeout(&clock, secs(1), Attempt::default(), busy));
    assert_eq!((result, clock.timers_made(), clock.waiting()), (Ok(()), 1, 0));
}

/// Spec: RT-05
#[test]
fn dropping_it_frees_the_timer() {
    let clock = FakeClock::new();
    let controller = AbortController::new();
    let attempt = Attempt::new(1, controller.signal());
    let mut bounded =
        Box::pin(with_timeout(&clock, secs(1), attempt, pending::<Result<(), &str>>()));
    let mut cx = core::task::Context::from_waker(core::task::Waker::noop());
    assert!(bounded.as_mut().poll(&mut cx).is_pending());
    assert_eq!((clock.waiting(), controller.waiters()), (1, 1));
    drop(bounded);
    assert_eq!((clock.waiting(), controller.waiters()), (0, 0));
}
