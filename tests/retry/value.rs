//! The value of a run, and nothing else of it.

use storage_mux::AbortController;
use storage_mux::retry::{RetryError, RetryOptions, retry};
use storage_mux::sim::FakeClock;

use crate::support::{NoDraw, constant, elapsed_ms, ms, run};

/// Spec: RT-01, RT-02, RT-09
#[test]
fn the_value_alone_reads_no_clock_and_fails_as_a_run_does() {
    let (clock, options) = (FakeClock::new(), constant(3, ms(10)));
    let value = |until: u32| {
        let tries = retry(&options, &clock, &NoDraw).value(move |attempt| async move {
            if attempt.number() < until { Err("down") } else { Ok(attempt.number() * 100) }
        });
        run(&clock, tries)
    };
    assert_eq!((value(1), clock.reads(), elapsed_ms(&clock)), (Ok(100), 0, 0));
    assert_eq!((value(3), clock.timers_made()), (Ok(300), 2));
    assert_eq!(value(4), Err(RetryError::Exhausted { attempts: 3, last: "down" }));

    let controller = AbortController::new();
    controller.abort();
    let signal = controller.signal();
    let mut calls = 0;
    let given_up = retry(&options, &clock, &NoDraw).with_signal(&signal).value(|_| {
        calls += 1;
        async { Ok::<_, &str>(1) }
    });
    assert_eq!((run(&clock, given_up), calls), (Err(RetryError::Aborted), 0));
    let none = RetryOptions::new().with_max_attempts(0);
    let refused = retry(&none, &clock, &NoDraw).value(|_| async { Ok::<_, &str>(1) });
    assert!(matches!(run(&clock, refused), Err(RetryError::InvalidOption(_))));
}
