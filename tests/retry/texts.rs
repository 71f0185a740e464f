//! What the parts say of themselves to those who look at them.

use storage_mux::AbortController;
use storage_mux::retry::{CircuitBreaker, CircuitBreakerOptions, CircuitState, Verdict, retry};
use storage_mux::sim::FakeClock;

use crate::support::{NoDraw, constant, ms};

/// Spec: RT-06, RT-10
#[test]
fn a_state_reads_as_in_events_and_measurements_and_keeps_to_a_width() {
    let names = [
        (CircuitState::Closed, "closed"),
        (CircuitState::Open, "open"),
        (CircuitState::HalfOpen, "half-open"),
    ];
    for (state, name) in names {
        assert_eq!((state.as_str(), state.to_string()), (name, name.to_string()));
        assert_eq!(format!("{state:>10}"), format!("{name:>10}"));
    }
}

#[test]
fn a_breaker_shows_its_state_and_a_permit_whether_it_is_a_trial() {
    let clock = FakeClock::new();
    let options = CircuitBreakerOptions::new().with_failure_threshold(1).with_timeout(ms(0));
    let breaker = CircuitBreaker::new(options, clock).unwrap();
    assert!(format!("{breaker:?}").contains("state: Closed"));
    let permit = breaker.admit().unwrap();
    assert!(format!("{permit:?}").contains("trial: false"));
    permit.settle(Verdict::Failure);
    assert!(format!("{breaker:?}").contains("state: Open"));
    let trial = breaker.admit().unwrap();
    assert!(format!("{trial:?}").contains("trial: true"));
}

#[test]
fn a_run_that_has_not_begun_shows_its_options_and_whether_it_was_given_up() {
    let (clock, options) = (FakeClock::new(), constant(7, ms(1)));
    let controller = AbortController::new();
    let signal = controller.signal();
    let text = format!("{:?}", retry(&options, &clock, &NoDraw).with_signal(&signal));
    for part in [format!("{options:?}"), format!("{signal:?}")] {
        assert!(text.contains(&part), "{text}");
    }
}
