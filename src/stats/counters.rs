//! Counters of a backend and of a mux.

use core::time::Duration;

use super::Outcome;
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
    pub(crate) fn record(&self, outcome: Outcome, latency: Duration) {
        let counter = match outcome {
            Outcome::Ok => &self.hits,
            Outcome::Miss => &self.misses,
            Outcome::Semantic | Outcome::Transient => &self.errors,
            Outcome::Timeout => {
                self.timeouts.fetch_add(1, Ordering::Relaxed);
                &self.errors
            }
            Outcome::Abort => {
                // How long a caller had patience says nothing about the backend.
                self.cancelled.fetch_add(1, Ordering::Relaxed);
                return;
            }
        };
        counter.fetch_add(1, Ordering::Relaxed);
        self.last_latency.store(nanos(latency).min(NONE - 1), Ordering::Relaxed);
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
            counters.record(outcome, Duration::from_millis(5));
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
        (0..3).for_each(|_| counters.record(Outcome::Ok, Duration::ZERO));
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
}
