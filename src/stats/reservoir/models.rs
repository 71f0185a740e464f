//! Every order in which recorders and a reader can meet in a small reservoir.
//!
//! A record takes its place from the counters of outcomes, so the models run both.

use loom::thread;

use super::*;
use crate::stats::{Counters, Outcome};
use crate::sync::Arc;
use crate::time::Instant;

const fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}

#[derive(Default)]
struct Books<const N: usize> {
    counters: Counters,
    reservoir: Reservoir<N>,
}

impl<const N: usize> Default for Reservoir<N> {
    fn default() -> Self {
        Self::new(1)
    }
}

impl<const N: usize> Books<N> {
    fn record(&self, stripe: u32, outcome: Outcome, latency: u64) {
        let latency = millis(latency);
        let place =
            self.counters.record(Stripe::nth(stripe), outcome, latency.into(), Instant::ZERO);
        let place = place.unwrap();
        self.reservoir.record(place, latency.into(), || self.counters.before(place));
    }

    fn recorded(&self) -> u64 {
        let counted = self.counters.read();
        counted.hits + counted.misses + counted.errors
    }
}

/// Spec: SA-2, IS-2
#[test]
fn two_recorders_lose_no_record_and_a_reader_meets_only_what_was_recorded() {
    for (stripe, other) in [(0, Outcome::Ok), (0, Outcome::Miss), (1, Outcome::Ok)] {
        loom::model(move || {
            let books = Arc::new(Books::<2>::default());
            let both = [(0, Outcome::Ok, 1), (stripe, other, 9)];
            let recorders = both.map(|(stripe, outcome, latency)| {
                let books = books.clone();
                thread::spawn(move || books.record(stripe, outcome, latency))
            });
            if let Some(Percentiles { p50, p99 }) = books.reservoir.percentiles() {
                assert!([millis(1), millis(9)].contains(&p50) && [p50, millis(9)].contains(&p99));
            }
            recorders.into_iter().for_each(|recorder| recorder.join().unwrap());
            // Had both taken the same slot, one of the two would be gone.
            let both = Percentiles { p50: millis(1), p99: millis(9) };
            assert_eq!(books.reservoir.percentiles(), Some(both));
            assert_eq!(books.recorded(), 2);
        });
    }
}

/// Spec: SA-2
#[test]
fn a_reservoir_that_overflows_under_its_reader_counts_all_and_keeps_whole_samples() {
    loom::model(|| {
        let books = Arc::new(Books::<1>::default());
        let recorders =
            [(0, Outcome::Ok, 1), (1, Outcome::Miss, 3)].map(|(stripe, outcome, latency)| {
                let books = books.clone();
                thread::spawn(move || books.record(stripe, outcome, latency))
            });
        if let Some(Percentiles { p50, p99 }) = books.reservoir.percentiles() {
            assert!([millis(1), millis(3)].contains(&p50) && p50 == p99);
        }
        recorders.into_iter().for_each(|recorder| recorder.join().unwrap());
        assert_eq!(books.recorded(), 2);
        assert!(books.reservoir.percentiles().is_some());
    });
}
