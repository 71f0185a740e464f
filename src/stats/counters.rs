//! Counters of a backend and of a mux.

use core::time::Duration;

use super::{Outcome, Place};
use crate::sync::{AtomicU64, Ordering};
use crate::time::nanos;

/// The latency that stands for "none yet".
const NONE: u64 = u64::MAX;

/// The outcomes of one backend's attempts. Each attempt counts once, so at rest
/// attempts = hits + misses + errors + cancelled. Counters wrap after 2^64.
#[derive(Debug)]
pub(crate) struct Counters {
    hits: AtomicU64,
    misses: AtomicU64,
    errors: AtomicU64,
    timeouts: AtomicU64,
    cancelled: AtomicU64,
    last_latency: AtomicU64,
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            errors: AtomicU64::new(0),
            timeouts: AtomicU64::new(0),
            cancelled: AtomicU64::new(0),
            last_latency: AtomicU64::new(NONE),
        }
    }
}

/// A copy of the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) hits: u64,
    pub(crate) misses: u64,
    pub(crate) errors: u64,
    pub(crate) timeouts: u64,
    pub(crate) cancelled: u64,
    pub(crate) last_latency: Option<Duration>,
}

impl Counters {
    /// Counts an attempt. Its place among all that were answered or failed, for the sample of their
    /// latencies; `None` for one that was given up: how long a caller had patience says nothing
    /// about the backend.
    ///
    /// The place costs no count of its own: it is that of the outcome, and those of the others as
    /// they stand. Of attempts that end at the very same time one may find fewer before it than there
    /// were, never more; a serial number is never given twice.
    pub(crate) fn record(&self, outcome: Outcome, latency: Duration) -> Option<Place> {
        let (kind, counter) = match outcome {
            Outcome::Ok => (0, &self.hits),
            Outcome::Miss => (1, &self.misses),
            Outcome::Semantic | Outcome::Transient => (2, &self.errors),
            Outcome::Timeout => {
                self.timeouts.fetch_add(1, Ordering::Relaxed);
                (2, &self.errors)
            }
            Outcome::Abort => {
                self.cancelled.fetch_add(1, Ordering::Relaxed);
                return None;
            }
        };
        // Before its own, and not to be moved behind it: two that each counted the other in would
        // both take themselves for the later one.
        let others = [&self.hits, &self.misses, &self.errors]
            .into_iter()
            .enumerate()
            .filter(|(other, _)| *other != kind)
            .fold(0, |sum: u64, (_, other)| sum.wrapping_add(other.load(Ordering::Acquire)));
        let own = counter.fetch_add(1, Ordering::Release);
        self.last_latency.store(nanos(latency).min(NONE - 1), Ordering::Relaxed);
        let serial = own.wrapping_mul(3).wrapping_add(kind as u64);
        Some(Place { before: own.wrapping_add(others), serial })
    }

    pub(crate) fn read(&self) -> Counted {
        let last = self.last_latency.load(Ordering::Relaxed);
        Counted {
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
            errors: self.errors.load(Ordering::Relaxed),
            timeouts: self.timeouts.load(Ordering::Relaxed),
            cancelled: self.cancelled.load(Ordering::Relaxed),
            last_latency: (last != NONE).then_some(Duration::from_nanos(last)),
        }
    }
}

/// What a mux counts over all its backends.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    pub(crate) calls: AtomicU64,
    pub(crate) failovers: AtomicU64,
    pub(crate) fanout_partials: AtomicU64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spec: SA-1
    #[test]
    fn every_outcome_counts_once_and_a_timeout_is_an_error_too() {
        let counters = Counters::default();
        assert_eq!(counters.read().last_latency, None);
        for outcome in [
            Outcome::Ok,
            Outcome::Miss,
            Outcome::Semantic,
            Outcome::Transient,
            Outcome::Timeout,
            Outcome::Abort,
        ] {
            let _ = counters.record(outcome, Duration::from_millis(5));
        }
        let read = counters.read();
        assert_eq!((read.hits, read.misses, read.errors), (1, 1, 3));
        assert_eq!((read.timeouts, read.cancelled), (1, 1));
        assert_eq!(read.last_latency, Some(Duration::from_millis(5)));
    }

    /// Case SM-07. Spec: SA-1
    #[test]
    fn the_shortest_and_the_longest_latency_are_both_told() {
        let counters = Counters::default();
        counters.record(Outcome::Ok, Duration::ZERO);
        assert_eq!(counters.read().last_latency, Some(Duration::ZERO));
        counters.record(Outcome::Ok, Duration::MAX);
        assert_eq!(counters.read().last_latency, Some(Duration::from_nanos(u64::MAX - 1)));
    }

    /// Case SM-07. Spec: SA-1
    #[test]
    fn a_counter_that_is_full_begins_again_and_breaks_nothing() {
        let counters = Counters { hits: AtomicU64::new(u64::MAX - 1), ..Counters::default() };
        for _ in 0..3 {
            let _ = counters.record(Outcome::Ok, Duration::ZERO);
        }
        assert_eq!(counters.read().hits, 1);
    }

    /// Spec: SA-1
    #[test]
    fn an_abort_leaves_the_last_latency_alone() {
        let counters = Counters::default();
        counters.record(Outcome::Ok, Duration::from_millis(5));
        counters.record(Outcome::Abort, Duration::from_millis(90));
        assert_eq!(counters.read().last_latency, Some(Duration::from_millis(5)));
    }

    /// Spec: SA-2
    #[test]
    fn places_count_up_over_all_outcomes_but_those_given_up_and_no_serial_comes_twice() {
        let counters = Counters::default();
        let outcomes =
            [Outcome::Ok, Outcome::Miss, Outcome::Abort, Outcome::Timeout, Outcome::Transient];
        let places: alloc::vec::Vec<_> = (0..50)
            .filter_map(|at| counters.record(outcomes[at % 5], Duration::from_millis(1)))
            .collect();
        let before: alloc::vec::Vec<_> = places.iter().map(|place| place.before).collect();
        assert_eq!(before, (0..40).collect::<alloc::vec::Vec<_>>());
        let mut serials: alloc::vec::Vec<_> = places.iter().map(|place| place.serial).collect();
        serials.sort_unstable();
        serials.dedup();
        assert_eq!(serials.len(), 40);
    }
}
