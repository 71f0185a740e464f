//! Cases about a failure rate. Our breaker has none: it counts failures with no success between
//! them, so no window has to fill and one path alone, a failure, can open it.

use std::time::Duration;

use storage_mux::retry::{CircuitBreaker, CircuitBreakerOptions, CircuitState, Verdict};
use storage_mux::sim::FakeClock;

fn breaker(failures: u32) -> CircuitBreaker<FakeClock> {
    let options = CircuitBreakerOptions::new()
        .with_failure_threshold(failures)
        .with_timeout(Duration::from_secs(5));
    CircuitBreaker::new(options, FakeClock::new()).expect("options in range")
}

fn settle(breaker: &CircuitBreaker<FakeClock>, verdicts: &str) {
    for letter in verdicts.chars() {
        let verdict = if letter == 'F' { Verdict::Failure } else { Verdict::Success };
        breaker.admit().expect("closed").settle(verdict);
    }
}

/// Case CB-11: with a rate, five failures of ten had to open it on a tenth call that succeeds. A
/// run of failures opens it on the last of them, and no success can leave an opening overdue.
///
/// Spec: RT-06
#[test]
fn a_run_of_failures_opens_it_at_once_whatever_comes_after() {
    let overdue = breaker(5);
    settle(&overdue, "FFFF");
    assert_eq!(overdue.state(), CircuitState::Closed);
    settle(&overdue, "F");
    assert_eq!(overdue.state(), CircuitState::Open);

    let broken_up = breaker(6);
    settle(&broken_up, "FFFFFSSSSS");
    assert_eq!(broken_up.state(), CircuitState::Closed, "five in a row are not six");
}

/// Case CB-16: the first call of all fails. One is not ten, unless one is what was asked for.
///
/// Spec: RT-06
#[test]
fn one_failure_opens_it_only_where_the_threshold_is_one() {
    let patient = breaker(10);
    settle(&patient, "FSSSSSSSSS");
    assert_eq!(patient.state(), CircuitState::Closed);

    let strict = breaker(1);
    settle(&strict, "F");
    assert_eq!(strict.state(), CircuitState::Open);
}
