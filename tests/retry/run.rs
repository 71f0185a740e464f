//! The loop: how often, how long, and who ends it.

use core::cell::{Cell, RefCell};
use core::time::Duration;

use storage_mux::retry::{Backoff, Jitter, RetryError, RetryOptions, retry};
use storage_mux::sim::{FakeClock, run};
use storage_mux::{AbortController, Clock, SeededRng};

fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

fn constant(attempts: u32, delay: Duration) -> RetryOptions {
    RetryOptions::new()
        .with_max_attempts(attempts)
        .with_backoff(Backoff::constant(delay))
        .with_jitter(Jitter::None)
}

/// Spec: RT-01
#[test]
fn a_success_comes_with_its_value_the_calls_it_took_and_the_time_it_took() {
    let (clock, rng, options) = (FakeClock::new(), SeededRng::new(1), constant(5, ms(10)));
    let done = run(
        &clock,
        retry(&options, &clock, &rng).run(|attempt| async move {
            if attempt.number() < 3 { Err("down") } else { Ok(attempt.number() * 100) }
        }),
    )
    .unwrap()
    .unwrap();
    assert_eq!((done.value, done.attempts, done.total_time), (300, 3, ms(20)));
}

/// Case RT-01: the limit counts calls, the first one included.
///
/// Spec: RT-01, RT-07
#[test]
fn a_limit_of_three_means_three_calls_and_two_waits_and_one_means_one_call_and_none() {
    for (limit, waits) in [(3, 2), (1, 0)] {
        let (clock, rng, options) = (FakeClock::new(), SeededRng::new(1), constant(limit, ms(10)));
        let calls = Cell::new(0);
        let result = run(
            &clock,
            retry(&options, &clock, &rng).run(|_| {
                calls.set(calls.get() + 1);
                async { Err::<(), _>("down") }
            }),
        )
        .unwrap();
        assert_eq!(result.unwrap_err(), RetryError::Exhausted { attempts: limit, last: "down" });
        assert_eq!(calls.get(), limit);
        assert_eq!(clock.timers_made(), waits);
    }
}

/// Case RT-03: an abort during the wait is noticed at once, and the timer goes with it.
///
/// Spec: RT-02
#[test]
fn an_abort_ends_a_wait_at_once_and_leaves_no_timer() {
    let (clock, rng, options) = (FakeClock::new(), SeededRng::new(1), constant(3, ms(60_000)));
    let controller = AbortController::new();
    let signal = controller.signal();
    let calls = RefCell::new(Vec::new());
    let abort_after_a_second = async {
        clock.sleep(ms(1_000)).await;
        controller.abort();
    };
    let (result, ()) = run(
        &clock,
        futures_util::future::join(
            retry(&options, &clock, &rng).with_signal(&signal).run(|attempt| {
                calls.borrow_mut().push(attempt.number());
                async { Err::<(), _>("down") }
            }),
            abort_after_a_second,
        ),
    )
    .unwrap();
    assert_eq!(result.unwrap_err(), RetryError::Aborted);
    assert_eq!(clock.now().as_nanos(), 1_000_000_000);
    assert_eq!(*calls.borrow(), [1]);
    assert_eq!((clock.waiting(), controller.waiters()), (0, 0));
}
