//! What chance does to a delay, and what it must not.

use core::time::Duration;

use proptest::prelude::*;
use storage_mux::retry::{Backoff, Jitter, RetryOptions};
use storage_mux::{Rng, SeededRng};

use crate::backoff::{any_attempt, any_backoff, any_duration};
use crate::support::{Fixed, NoDraw, ms, secs};

const ALL: [Jitter; 4] = [Jitter::None, Jitter::Full, Jitter::Equal, Jitter::Decorrelated];

fn draws(options: &RetryOptions, rng: &impl Rng, count: usize) -> Vec<Duration> {
    let mut delays = options.delays();
    (0..count).map(|_| delays.next(rng)).collect()
}

fn mean(delays: &[Duration]) -> f64 {
    delays.iter().map(Duration::as_secs_f64).sum::<f64>() / delays.len() as f64
}

/// Spec: RT-04
#[test]
fn the_smallest_and_the_largest_draw_give_the_ends_of_each_range() {
    let second = secs(1);
    let apply = |jitter: Jitter, draw| jitter.apply(second, second, secs(9), &Fixed(draw));
    assert_eq!(apply(Jitter::Full, 0), Duration::ZERO);
    assert_eq!(apply(Jitter::Full, u64::MAX), second);
    assert_eq!(apply(Jitter::Equal, 0), ms(500));
    assert_eq!(apply(Jitter::Equal, u64::MAX), second);
    assert_eq!(apply(Jitter::Decorrelated, 0), second);
    assert_eq!(apply(Jitter::Decorrelated, u64::MAX), secs(3));
    assert_eq!(Jitter::None.apply(second, second, secs(9), &NoDraw), second);
}

/// With the largest draws the walk triples until it meets the maximum; with the smallest it stays
/// where it began, however far it had come.
///
/// Spec: RT-04
#[test]
fn the_decorrelated_walk_starts_at_the_first_delay_and_triples_at_most() {
    let options = RetryOptions::new()
        .with_backoff(Backoff::exponential(ms(100), 2.0, secs(2)))
        .with_jitter(Jitter::Decorrelated);
    let mut delays = options.delays();
    let up: Vec<_> = (0..5).map(|_| delays.next(&Fixed(u64::MAX))).collect();
    assert_eq!(up, [300, 900, 2_000, 2_000, 2_000].map(ms));
    assert_eq!(delays.next(&Fixed(0)), ms(100));
    assert_eq!(delays.next(&Fixed(u64::MAX)), ms(300));
}

/// Case BO-04: a stated maximum is a hard promise, also with noise on it.
///
/// Spec: RT-04
#[test]
fn no_jitter_lifts_a_delay_above_the_maximum() {
    let rng = SeededRng::new(4);
    for jitter in ALL {
        let options = RetryOptions::new()
            .with_backoff(Backoff::exponential(ms(100), 2.0, ms(500)))
            .with_jitter(jitter);
        for _ in 0..500 {
            for (attempt, delay) in draws(&options, &rng, 20).into_iter().enumerate() {
                assert!(delay <= ms(500), "{jitter:?} {attempt} {delay:?}");
            }
        }
    }
}

/// Case BO-05: an empty or a one-nanosecond range is a range.
///
/// Spec: RT-04
#[test]
fn no_wait_stays_no_wait_and_a_nanosecond_at_most_one() {
    for jitter in ALL {
        for draw in [0, 1, u64::MAX / 2, u64::MAX] {
            let none = Duration::ZERO;
            for backoff in
                [Backoff::exponential(none, 2.0, secs(1)), Backoff::exponential(secs(1), 2.0, none)]
            {
                let options = RetryOptions::new().with_backoff(backoff).with_jitter(jitter);
                assert_eq!(draws(&options, &Fixed(draw), 5), [none; 5], "{jitter:?} {draw}");
            }
        }
    }
    let nano = Duration::from_nanos(1);
    let options =
        RetryOptions::new().with_backoff(Backoff::constant(nano)).with_jitter(Jitter::Equal);
    assert_eq!(draws(&options, &Fixed(0), 1), [Duration::ZERO]);
    assert_eq!(draws(&options, &Fixed(u64::MAX), 1), [nano]);
}

/// Case BO-07: jitter that is configured is applied, and evenly.
///
/// Spec: RT-03, RT-04
#[test]
fn full_and_equal_jitter_spread_evenly_over_their_ranges() {
    for (jitter, least, middle, tolerance) in
        [(Jitter::Full, ms(0), 0.5, 0.02), (Jitter::Equal, ms(500), 0.75, 0.01)]
    {
        let options =
            RetryOptions::new().with_backoff(Backoff::constant(secs(1))).with_jitter(jitter);
        let delays = draws(&options, &SeededRng::new(7), 10_000);
        assert!(delays.iter().all(|delay| (least..=secs(1)).contains(delay)));
        assert!((mean(&delays) - middle).abs() <= tolerance, "{jitter:?} {}", mean(&delays));
        let quarter = (secs(1) - least) / 4;
        for part in 0..4 {
            let from = least + quarter * part;
            let within =
                delays.iter().filter(|delay| (from..from + quarter).contains(delay)).count();
            assert!((2_300..2_700).contains(&within), "{jitter:?} {part} {within}");
        }
        let others = draws(&options, &SeededRng::new(8), 20);
        assert_ne!(others, delays[..20]);
        assert_eq!(draws(&options, &SeededRng::new(8), 20), others);
    }
}

/// Once the walk is at the maximum it is spread below it: callers do not meet at the cap.
///
/// Spec: RT-04
#[test]
fn a_walk_at_its_maximum_is_still_spread() {
    let options = RetryOptions::new()
        .with_backoff(Backoff::exponential(ms(100), 2.0, ms(150)))
        .with_jitter(Jitter::Decorrelated);
    let delays = draws(&options, &SeededRng::new(3), 10_000);
    assert!(delays.iter().all(|delay| (ms(100)..=ms(150)).contains(delay)));
    assert!((mean(&delays) - 0.125).abs() < 0.001);
}

proptest! {
    /// Spec: RT-04
    #[test]
    fn every_delay_of_every_run_keeps_to_the_bounds_of_its_jitter(
        backoff in any_backoff(),
        jitter in prop::sample::select(&ALL[..]),
        seed in any::<u64>(),
    ) {
        let options = RetryOptions::new().with_backoff(backoff).with_jitter(jitter);
        let rng = SeededRng::new(seed);
        let mut delays = options.delays();
        let mut previous = backoff.delay(1);
        // What is longer than 584 years counts as that.
        let told = |delay: Duration| delay.min(Duration::from_nanos(u64::MAX));
        for attempt in 1..=40 {
            let plain = backoff.delay(attempt);
            let delay = delays.next(&rng);
            if let Some(max) = backoff.max() {
                prop_assert!(delay <= max);
            }
            match jitter {
                Jitter::None => prop_assert_eq!(delay, plain),
                Jitter::Full => prop_assert!(delay <= plain),
                Jitter::Equal => {
                    prop_assert!(delay <= plain);
                    prop_assert!(delay >= told(plain) / 2);
                }
                _ => {
                    prop_assert!(delay >= told(backoff.delay(1)));
                    prop_assert!(delay <= previous.max(backoff.delay(1)).saturating_mul(3));
                }
            }
            previous = delay;
        }
    }

    /// Spec: RT-04
    #[test]
    fn no_jitter_panics_or_passes_the_maximum_whatever_it_is_given(
        jitter in prop::sample::select(&ALL[..]),
        delay in any_duration(),
        previous in any_duration(),
        max in any_duration(),
        draw in any::<u64>(),
        attempt in any_attempt(),
    ) {
        let used = jitter.apply(delay, previous, max, &Fixed(draw.rotate_left(attempt % 64)));
        prop_assert!(used <= max);
    }
}
