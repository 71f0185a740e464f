//! How delays grow, without chance.

use core::time::Duration;

use proptest::prelude::*;
use storage_mux::retry::{Backoff, clamp_delay};

use crate::support::{ms, secs};

fn first_five(backoff: Backoff) -> [Duration; 5] {
    [1, 2, 3, 4, 5].map(|attempt| backoff.delay(attempt))
}

/// Case BO-09: the first delay is the stated one, and each next one is one step on.
///
/// Spec: RT-04
#[test]
fn the_first_delay_is_the_initial_one_and_no_step_is_missed() {
    assert_eq!(
        first_five(Backoff::exponential(ms(100), 2.0, secs(30))),
        [100, 200, 400, 800, 1_600].map(ms)
    );
    assert_eq!(first_five(Backoff::linear(ms(100), ms(100))), [100, 200, 300, 400, 500].map(ms));
    assert_eq!(first_five(Backoff::linear(ms(100), ms(30))), [100, 130, 160, 190, 220].map(ms));
    assert_eq!(first_five(Backoff::constant(ms(100))), [ms(100); 5]);
    assert_eq!(Backoff::linear(ms(100), ms(100)).delay(0), ms(100));
}

/// Spec: RT-04
#[test]
fn a_factor_with_a_fraction_is_rounded_to_the_nanosecond() {
    let backoff = Backoff::exponential(ms(100), 1.1, secs(30));
    assert_eq!(backoff.delay(2), ms(110));
    assert_eq!(backoff.delay(3), ms(121));
    // The product of the floats lies just below the whole number here.
    assert_eq!(Backoff::exponential(ms(100), 1.4, secs(30)).delay(3), ms(196));
    assert_eq!(Backoff::exponential(ms(100), 1.5, secs(30)).delay(3), ms(225));
    assert_eq!(Backoff::exponential(ms(100), 1.0, secs(30)).delay(u32::MAX), ms(100));
}

/// Spec: RT-04
#[test]
fn the_maximum_is_reached_exactly_and_never_passed() {
    let backoff = Backoff::exponential(ms(100), 2.0, ms(400));
    assert_eq!(first_five(backoff), [100, 200, 400, 400, 400].map(ms));
    let backoff = Backoff::exponential(ms(100), 2.0, ms(399));
    assert_eq!(first_five(backoff), [100, 200, 399, 399, 399].map(ms));
    let backoff = Backoff::linear(ms(100), ms(100)).with_max(ms(250));
    assert_eq!(first_five(backoff), [100, 200, 250, 250, 250].map(ms));
    assert_eq!(Backoff::constant(ms(100)).with_max(ms(40)).delay(1), ms(40));
}

/// Case BO-01: the cap holds also where the uncapped value could not be told.
///
/// Spec: RT-04
#[test]
fn the_cap_comes_before_the_overflow_and_nothing_falls_back_to_zero() {
    let below_the_first = Backoff::exponential(secs(1), 2.0, ms(10));
    for attempt in 1..=100 {
        assert_eq!(below_the_first.delay(attempt), ms(10));
    }
    let backoff = Backoff::exponential(ms(100), 2.0, secs(30));
    for attempt in (10..=10_000).chain([u32::MAX - 1, u32::MAX]) {
        assert_eq!(backoff.delay(attempt), secs(30), "{attempt}");
    }
}

/// Case BO-03: a large factor reaches the cap, also where its power is infinite.
///
/// Spec: RT-04
#[test]
fn an_infinite_power_is_the_cap() {
    let backoff = Backoff::exponential(ms(100), 10.0, secs(60));
    for attempt in 300..=400 {
        assert_eq!(backoff.delay(attempt), secs(60));
    }
    assert_eq!(Backoff::exponential(Duration::ZERO, 10.0, secs(60)).delay(400), Duration::ZERO);
    // Validation refuses it; used all the same, it waits rather than to hammer.
    assert_eq!(Backoff::exponential(ms(100), f64::NAN, secs(60)).delay(3), secs(60));
}

/// Case TC-01: the longest durations saturate.
///
/// Spec: RT-04
#[test]
fn the_longest_durations_saturate_in_every_strategy() {
    let max = Duration::MAX;
    assert_eq!(Backoff::constant(max).delay(9), max);
    assert_eq!(Backoff::linear(max, max).delay(u32::MAX), max);
    assert_eq!(Backoff::linear(ms(1), max).delay(2), max);
    assert_eq!(Backoff::exponential(max, 2.0, max).delay(1), max);
    assert_eq!(Backoff::exponential(max, 2.0, max).delay(9), max);
    assert_eq!(Backoff::exponential(ms(1), 2.0, max).delay(1_000), max);
    assert_eq!(Backoff::exponential(ms(1), 2.0, max).delay(2), ms(2));
}

/// Spec: RT-04
#[test]
fn clamping_keeps_to_both_bounds_and_prefers_the_maximum() {
    for (delay, clamped) in [(9, 10), (10, 10), (11, 11), (19, 19), (20, 20), (21, 20)] {
        assert_eq!(clamp_delay(ms(delay), ms(10), ms(20)), ms(clamped));
    }
    assert_eq!(clamp_delay(ms(25), ms(30), ms(20)), ms(20));
}

/// Any duration, with the extremes often.
pub(crate) fn any_duration() -> impl Strategy<Value = Duration> {
    prop_oneof![
        4 => (0..=600_000_u64).prop_map(ms),
        2 => any::<u64>().prop_map(Duration::from_nanos),
        1 => (any::<u64>(), 0..1_000_000_000_u32).prop_map(|(s, n)| Duration::new(s, n)),
        1 => Just(Duration::ZERO),
        1 => Just(Duration::from_nanos(1)),
        1 => Just(Duration::MAX),
    ]
}

/// Any backoff at all, also one that would be refused.
pub(crate) fn any_backoff() -> impl Strategy<Value = Backoff> {
    prop_oneof![
        any_duration().prop_map(Backoff::constant),
        (any_duration(), any_duration()).prop_map(|(a, b)| Backoff::linear(a, b)),
        (any_duration(), any_duration(), any_duration())
            .prop_map(|(a, b, max)| Backoff::linear(a, b).with_max(max)),
        (any_duration(), any::<f64>(), any_duration())
            .prop_map(|(a, factor, max)| Backoff::exponential(a, factor, max)),
        (any_duration(), 1.0..16.0_f64, any_duration())
            .prop_map(|(a, factor, max)| Backoff::exponential(a, factor, max)),
    ]
}

pub(crate) fn any_attempt() -> impl Strategy<Value = u32> {
    prop_oneof![1..100_u32, any::<u32>()]
}

proptest! {
    /// Spec: RT-04
    #[test]
    fn no_backoff_panics_or_passes_its_maximum(backoff in any_backoff(), attempt in any_attempt()) {
        let delay = backoff.delay(attempt);
        prop_assert!(delay <= backoff.max().unwrap_or(Duration::MAX));
    }

    /// A factor is far enough from 1 here for its powers to differ.
    ///
    /// Spec: RT-04
    #[test]
    fn delays_never_shrink_from_one_attempt_to_the_next(
        initial in any_duration(),
        step in any_duration(),
        thousandths in prop_oneof![Just(1_000_u32), 1_001..20_000_u32],
        max in any_duration(),
        attempt in any_attempt(),
    ) {
        let factor = f64::from(thousandths) / 1_000.0;
        for backoff in [
            Backoff::constant(initial),
            Backoff::linear(initial, step),
            Backoff::linear(initial, step).with_max(max),
            Backoff::exponential(initial, factor, max),
        ] {
            prop_assert!(backoff.delay(attempt) <= backoff.delay(attempt.saturating_add(1)));
        }
    }

    /// The model counts in whole nanoseconds and multiplies step by step.
    ///
    /// Spec: RT-04
    #[test]
    fn whole_factors_agree_with_whole_number_arithmetic(
        initial in 0..10_000_000_u64,
        factor in 1..20_u32,
        max in 0..1_000_000_000_000_u64,
        attempt in 1..300_u32,
    ) {
        let mut expected = u128::from(initial);
        for _ in 1..attempt {
            expected = (expected * u128::from(factor)).min(u128::from(max));
        }
        let expected = Duration::from_nanos(u64::try_from(expected.min(u128::from(max))).unwrap());
        let nanos = Duration::from_nanos;
        let backoff = Backoff::exponential(nanos(initial), f64::from(factor), nanos(max));
        prop_assert_eq!(backoff.delay(attempt), expected);
    }

    /// Spec: RT-04
    #[test]
    fn linear_delays_agree_with_whole_number_arithmetic(
        initial in any::<u32>(),
        increment in any::<u32>(),
        attempt in 1..u32::MAX,
    ) {
        let expected = u128::from(initial) + u128::from(attempt - 1) * u128::from(increment);
        let backoff = Backoff::linear(ms(initial.into()), ms(increment.into()));
        prop_assert_eq!(backoff.delay(attempt).as_millis(), expected);
    }
}
