//! From state to state: who is let through and what counts.

use core::time::Duration;

use storage_mux::Instant;
use storage_mux::retry::{CircuitBreaker, Verdict};
use storage_mux::sim::FakeClock;

use super::{Closed, HalfOpen, Open, breaker, fail, options, refusal, ripe, succeed, trip};
use crate::support::secs;

/// Spec: RT-06
#[test]
fn failures_in_a_row_open_it_at_the_threshold_and_not_before() {
    let clock = FakeClock::new();
    let breaker = breaker(&clock, options());
    for expected in [Closed, Closed, Open] {
        fail(&breaker);
        assert_eq!(breaker.state(), expected);
    }
}

/// Spec: RT-06
#[test]
fn a_success_in_between_starts_the_count_again() {
    let clock = FakeClock::new();
    let breaker = breaker(&clock, options());
    for _ in 0..10 {
        fail(&breaker);
        fail(&breaker);
        succeed(&breaker);
    }
    assert_eq!(breaker.state(), Closed);
}

/// Spec: RT-06
#[test]
fn it_opens_up_for_trials_when_its_time_is_over_and_not_a_nanosecond_sooner() {
    let clock = FakeClock::new();
    let breaker = breaker(&clock, options());
    trip(&breaker);
    clock.advance(secs(10) - Duration::from_nanos(1));
    assert_eq!(refusal(&breaker), Some(Duration::from_nanos(1)));
    clock.advance(Duration::from_nanos(1));
    assert_eq!(breaker.state(), Open, "until a call comes");
    let trial = breaker.admit().unwrap();
    assert_eq!(breaker.state(), HalfOpen);
    trial.settle(Verdict::Success);
    assert_eq!(breaker.state(), Closed);
}

/// Spec: RT-06
#[test]
fn trials_close_it_at_the_success_threshold_and_not_before() {
    let clock = FakeClock::new();
    let breaker = ripe(&clock, options().with_success_threshold(3));
    for expected in [HalfOpen, HalfOpen, Closed] {
        succeed(&breaker);
        assert_eq!(breaker.state(), expected);
    }
    fail(&breaker);
    fail(&breaker);
    assert_eq!(breaker.state(), Closed, "closed anew, it counts from zero");
}

/// Spec: RT-06
#[test]
fn a_failed_trial_after_good_ones_opens_it_and_the_good_ones_are_forgotten() {
    let clock = FakeClock::new();
    let breaker = ripe(&clock, options().with_success_threshold(2));
    succeed(&breaker);
    fail(&breaker);
    assert_eq!(breaker.state(), Open);
    clock.advance(secs(10));
    succeed(&breaker);
    assert_eq!(breaker.state(), HalfOpen);
}

/// Case CB-08: one failed trial is the verdict, whatever the threshold of the closed state.
///
/// Spec: RT-06
#[test]
fn one_failed_trial_opens_it_again_at_once_for_the_whole_time() {
    let clock = FakeClock::new();
    let breaker = ripe(&clock, options().with_failure_threshold(10));
    clock.advance(secs(3));
    fail(&breaker);
    assert_eq!((breaker.state(), refusal(&breaker)), (Open, Some(secs(10))));
    clock.advance(secs(10));
    succeed(&breaker);
    assert_eq!(breaker.state(), Closed);
}

/// Spec: RT-06
#[test]
fn as_many_trials_run_at_a_time_as_allowed_the_first_one_included() {
    let clock = FakeClock::new();
    let breaker = ripe(&clock, options().with_half_open_max(3).with_success_threshold(9));
    let trials: Vec<_> = (0..3).map(|_| breaker.admit().unwrap()).collect();
    assert_eq!(refusal(&breaker), Some(Duration::ZERO));
    let mut replacements = Vec::new();
    for trial in trials {
        trial.settle(Verdict::Success);
        replacements.push(breaker.admit().unwrap());
        assert_eq!(refusal(&breaker), Some(Duration::ZERO));
    }
}

/// Spec: RT-06
#[test]
fn no_outcome_of_an_earlier_state_counts_in_a_later_one() {
    let clock = FakeClock::new();
    let breaker = breaker(&clock, options().with_half_open_max(2).with_success_threshold(2));
    let closed: Vec<_> = (0..4).map(|_| breaker.admit().unwrap()).collect();
    trip(&breaker);
    clock.advance(secs(10));
    let trial = breaker.admit().unwrap();
    let mut closed = closed.into_iter();
    // Neither closes it, nor opens it, nor frees the place of another.
    closed.next().unwrap().settle(Verdict::Success);
    closed.next().unwrap().settle(Verdict::Success);
    closed.next().unwrap().settle(Verdict::Failure);
    drop(closed);
    assert_eq!(breaker.state(), HalfOpen);
    let second = breaker.admit().unwrap();
    assert_eq!(refusal(&breaker), Some(Duration::ZERO));
    trial.settle(Verdict::Failure);
    assert_eq!(breaker.state(), Open);

    // The second trial outlives the next open time and half of the next half-open one.
    clock.advance(secs(10));
    let _newcomer = breaker.admit().unwrap();
    second.settle(Verdict::Failure);
    assert_eq!(breaker.state(), HalfOpen);
    let _another = breaker.admit().unwrap();
    assert_eq!(refusal(&breaker), Some(Duration::ZERO));
}

/// Spec: RT-06
#[test]
fn trials_that_end_after_the_breaker_has_closed_do_not_count_against_it() {
    let clock = FakeClock::new();
    let one_strike = options().with_failure_threshold(1).with_half_open_max(2);
    let breaker = ripe(&clock, one_strike);
    let (good, late) = (breaker.admit().unwrap(), breaker.admit().unwrap());
    good.settle(Verdict::Success);
    late.settle(Verdict::Failure);
    assert_eq!(breaker.state(), Closed);
}

/// Case TC-01: an open time without end, and a clock at the end of time, panic nowhere.
///
/// Spec: RT-06, HE-6
#[test]
fn an_endless_open_time_never_ends_and_a_clock_that_jumps_back_only_lengthens_it() {
    for timeout in [Duration::MAX, secs(u64::MAX / 10)] {
        let clock = FakeClock::new();
        let breaker = breaker(&clock, options().with_timeout(timeout));
        succeed(&breaker);
        trip(&breaker);
        clock.advance(secs(3_153_600_000));
        assert!(refusal(&breaker).is_some_and(|wait| wait > secs(3_153_600_000)));
    }
    let clock = FakeClock::new();
    clock.advance(secs(100));
    let breaker = breaker(&clock, options());
    trip(&breaker);
    clock.jump(Instant::from_nanos(50_000_000_000));
    assert_eq!(refusal(&breaker), Some(secs(60)));
    let no_wait = CircuitBreaker::new(options().with_timeout(Duration::ZERO), clock).unwrap();
    trip(&no_wait);
    succeed(&no_wait);
    assert_eq!(no_wait.state(), Closed);
}
