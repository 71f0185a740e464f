//! Counters of a backend and of a mux.

use core::time::Duration;

use super::{Outcome, Place, SLOTS};
use crate::sync::{AtomicU64, Ordering, STRIPES, Stripe, Striped};
use crate::time::{Instant, Lapse};

/// The latency that stands for "none yet".
const NONE: u64 = u64::MAX;

/// The outcomes of one backend's attempts, and the attempts under way. Each attempt counts once, so
/// at rest attempts = hits + misses + errors + cancelled. Counters wrap after 2^64.
///
/// Every thread counts in a share of its own, and only a report adds them up.
#[derive(Debug)]
pub(crate) struct Counters {
    shares: Striped<Share>,
    /// The stripe of whoever made the backend. Draws are told apart by the way from there, so that
    /// one thread alone draws the same whichever number it has.
    home: Stripe,
}

/// What one stripe has counted.
#[derive(Debug)]
struct Share {
    /// Attempts that have come in. Those that are under way are these without all that have ended.
    entered: AtomicU64,
    hits: AtomicU64,
    misses: AtomicU64,
    errors: AtomicU64,
    timeouts: AtomicU64,
    cancelled: AtomicU64,
    /// What has ended and was no attempt: it was turned away, or is a health check.
    unbooked: AtomicU64,
    last_latency: AtomicU64,
    /// When that was, to tell whose is the last of all.
    last_at: AtomicU64,
    /// How many were recorded in the other stripes when this one last looked.
    elsewhere: AtomicU64,
}

impl Default for Share {
    fn default() -> Self {
        Self {
            entered: AtomicU64::new(0),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            errors: AtomicU64::new(0),
            timeouts: AtomicU64::new(0),
            cancelled: AtomicU64::new(0),
            unbooked: AtomicU64::new(0),
            last_latency: AtomicU64::new(NONE),
            last_at: AtomicU64::new(0),
            elsewhere: AtomicU64::new(0),
        }
    }
}

impl Share {
    const fn recorded(&self) -> [&AtomicU64; 3] {
        [&self.hits, &self.misses, &self.errors]
    }

    fn ended(&self) -> u64 {
        let all = self.recorded().into_iter().chain([&self.cancelled, &self.unbooked]);
        sum(all, Ordering::SeqCst)
    }

    /// How many are under way, or more: what came in and ended between the two looks is among them.
    /// Never fewer, since the ends are looked at before the beginnings.
    fn in_flight_at_most(&self) -> u64 {
        let ended = self.ended();
        self.entered.load(Ordering::SeqCst).wrapping_sub(ended)
    }

    /// How many are under way, for a report: as many as there were at some moment of the look, or
    /// fewer, where too much ends meanwhile to find one.
    fn in_flight(&self) -> u64 {
        const LOOKS: usize = 8;
        let mut ended = self.ended();
        let mut at_least = 0;
        for _ in 0..LOOKS {
            let entered = self.entered.load(Ordering::SeqCst);
            let before = core::mem::replace(&mut ended, self.ended());
            // What has ended since may have begun since: then there are seemingly fewer than none.
            at_least = match entered.wrapping_sub(ended) {
                fewer if fewer > u64::MAX / 2 => 0,
                more => more,
            };
            if before == ended {
                break;
            }
        }
        at_least
    }
}

impl Default for Counters {
    fn default() -> Self {
        Self { shares: Striped::default(), home: Stripe::current() }
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
    /// Counts an attempt in. Its end is counted in the same stripe.
    ///
    /// Sequentially consistent, as is every end: a drain looks at the difference.
    #[inline]
    pub(crate) fn enter(&self, stripe: Stripe) {
        self.shares.of(stripe).entered.fetch_add(1, Ordering::SeqCst);
    }

    /// Counts out what came in and has no outcome.
    pub(crate) fn leave(&self, stripe: Stripe) {
        self.shares.of(stripe).unbooked.fetch_add(1, Ordering::SeqCst);
    }

    /// Whether nothing of a stripe is under way. The last to end finds it so: only then can it have
    /// been the last of all.
    pub(crate) fn is_idle(&self, stripe: Stripe) -> bool {
        self.shares.of(stripe).in_flight_at_most() == 0
    }

    /// Whether all have ended. Once nobody new comes in that stays so, and whoever ends last in a
    /// stripe finds it [idle](Self::is_idle).
    pub(crate) fn all_ended(&self) -> bool {
        self.shares.iter().all(|share| share.in_flight_at_most() == 0)
    }

    /// How many attempts are under way, each share of them at a moment of its own.
    pub(crate) fn in_flight(&self) -> u64 {
        self.shares.iter().map(Share::in_flight).fold(0, u64::wrapping_add)
    }

    /// Counts the outcome of an attempt that ended at `now`, which counts it out. Its place among all that were answered
    /// or failed, for the sample of their latencies; `None` for one that was given up: how long a
    /// caller had patience says nothing about the backend.
    ///
    /// The place costs no count of its own: it is that of the outcome, and those of the others as
    /// they stand. What other stripes have counted is looked at while the sample fills, and later
    /// on where [`before`](Self::before) asks. While it fills, of attempts that end at the very same
    /// time one may find fewer before it than there were, never more; a serial number is never given
    /// twice.
    #[inline]
    pub(crate) fn record(
        &self,
        stripe: Stripe,
        outcome: Outcome,
        latency: Lapse,
        now: Instant,
    ) -> Option<Place> {
        let share = self.shares.of(stripe);
        let (kind, counter) = match outcome {
            Outcome::Ok => (0, &share.hits),
            Outcome::Miss => (1, &share.misses),
            Outcome::Semantic | Outcome::Transient => (2, &share.errors),
            Outcome::Timeout => {
                share.timeouts.fetch_add(1, Ordering::Relaxed);
                (2, &share.errors)
            }
            Outcome::Abort => {
                share.cancelled.fetch_add(1, Ordering::SeqCst);
                return None;
            }
        };
        // Before its own, and not to be moved behind it: two that each counted the other in would
        // both take themselves for the later one.
        let [mut here, mut others] = [0_u64; 2];
        for (other, count) in share.recorded().into_iter().enumerate() {
            let count = count.load(Ordering::Acquire);
            here = here.wrapping_add(count);
            others = others.wrapping_add(if other == kind { 0 } else { count });
        }
        let mut elsewhere = share.elsewhere.load(Ordering::Relaxed);
        if here.saturating_add(elsewhere) < SLOTS as u64 {
            elsewhere = self.look_elsewhere(stripe);
        }
        share.last_latency.store(latency.as_nanos().min(NONE - 1), Ordering::Relaxed);
        share.last_at.store(now.as_nanos(), Ordering::Relaxed);
        let own = counter.fetch_add(1, Ordering::SeqCst);
        let here = own.wrapping_add(others);
        let serial = own.wrapping_mul(3).wrapping_add(kind as u64);
        let serial =
            serial.wrapping_mul(STRIPES as u64).wrapping_add(stripe.relative_to(self.home));
        Some(Place { at_least: here.wrapping_add(elsewhere), here, serial, stripe })
    }

    /// How many were recorded before the one at `place`, those of the other stripes as they stand
    /// now.
    pub(crate) fn before(&self, place: Place) -> u64 {
        place.here.wrapping_add(self.look_elsewhere(place.stripe))
    }

    fn look_elsewhere(&self, stripe: Stripe) -> u64 {
        let own = self.shares.of(stripe);
        let others = self.shares.iter().filter(|share| !core::ptr::eq(*share, own));
        let elsewhere = sum(others.flat_map(Share::recorded), Ordering::Acquire);
        own.elsewhere.store(elsewhere, Ordering::Relaxed);
        elsewhere
    }

    pub(crate) fn read(&self) -> Counted {
        let all = |counter: fn(&Share) -> &AtomicU64| {
            sum(self.shares.iter().map(counter), Ordering::Relaxed)
        };
        let last = self.shares.iter().filter_map(|share| {
            let latency = share.last_latency.load(Ordering::Relaxed);
            (latency != NONE).then(|| (share.last_at.load(Ordering::Relaxed), latency))
        });
        Counted {
            hits: all(|share| &share.hits),
            misses: all(|share| &share.misses),
            errors: all(|share| &share.errors),
            timeouts: all(|share| &share.timeouts),
            cancelled: all(|share| &share.cancelled),
            last_latency: last.max().map(|(_, latency)| Duration::from_nanos(latency)),
        }
    }
}

fn sum<'a>(counters: impl Iterator<Item = &'a AtomicU64>, ordering: Ordering) -> u64 {
    counters.fold(0, |sum, counter| sum.wrapping_add(counter.load(ordering)))
}

/// What a mux counts over all its backends.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    pub(crate) calls: Striped<AtomicU64>,
    pub(crate) failovers: AtomicU64,
    pub(crate) fanout_partials: AtomicU64,
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRIPE: Stripe = Stripe::nth(0);

    impl Counters {
        fn note(&self, outcome: Outcome, latency: Duration) -> Option<Place> {
            self.record(STRIPE, outcome, latency.into(), Instant::ZERO)
        }
    }

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
            let _ = counters.note(outcome, Duration::from_millis(5));
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
        counters.note(Outcome::Ok, Duration::ZERO);
        assert_eq!(counters.read().last_latency, Some(Duration::ZERO));
        counters.note(Outcome::Ok, Duration::MAX);
        assert_eq!(counters.read().last_latency, Some(Duration::from_nanos(u64::MAX - 1)));
    }

    /// Case SM-07. Spec: SA-1
    #[test]
    fn a_counter_that_is_full_begins_again_and_breaks_nothing() {
        let counters = Counters::default();
        counters.shares.of(STRIPE).hits.store(u64::MAX - 1, Ordering::Relaxed);
        for _ in 0..3 {
            let _ = counters.note(Outcome::Ok, Duration::ZERO);
        }
        assert_eq!(counters.read().hits, 1);
    }

    /// Spec: SA-1
    #[test]
    fn an_abort_leaves_the_last_latency_alone() {
        let counters = Counters::default();
        counters.note(Outcome::Ok, Duration::from_millis(5));
        counters.note(Outcome::Abort, Duration::from_millis(90));
        assert_eq!(counters.read().last_latency, Some(Duration::from_millis(5)));
    }

    /// Spec: SA-2
    #[test]
    fn places_count_up_over_all_outcomes_but_those_given_up_and_no_serial_comes_twice() {
        let counters = Counters::default();
        let outcomes =
            [Outcome::Ok, Outcome::Miss, Outcome::Abort, Outcome::Timeout, Outcome::Transient];
        let places: alloc::vec::Vec<_> = (0..50)
            .filter_map(|at| counters.note(outcomes[at % 5], Duration::from_millis(1)))
            .collect();
        let before: alloc::vec::Vec<_> = places.iter().map(|place| place.at_least).collect();
        assert_eq!(before, (0..40).collect::<alloc::vec::Vec<_>>());
        let mut serials: alloc::vec::Vec<_> = places.iter().map(|place| place.serial).collect();
        serials.sort_unstable();
        serials.dedup();
        assert_eq!(serials.len(), 40);
    }

    #[cfg(feature = "std")]
    mod striped {
        use super::*;

        fn at(nanos: u64) -> Instant {
            Instant::from_nanos(nanos)
        }

        /// Spec: SA-1
        #[test]
        fn what_stripes_count_apart_is_told_together_and_the_last_latency_is_that_of_the_latest() {
            let counters = Counters::default();
            let one = Duration::from_millis(1);
            for (stripe, ended) in [(0, 10), (1, 30), (2, 20)] {
                let stripe = Stripe::nth(stripe);
                counters.record(stripe, Outcome::Ok, (one * ended).into(), at(u64::from(ended)));
                counters.record(stripe, Outcome::Abort, one.into(), at(90));
            }
            assert_eq!(counters.read().hits, 3);
            assert_eq!(counters.read().cancelled, 3);
            assert_eq!(counters.read().last_latency, Some(one * 30));
        }

        /// Spec: SA-1
        #[test]
        fn attempts_under_way_are_summed_and_each_end_counts_out_in_its_own_stripe() {
            let counters = Counters::default();
            let [a, b] = [0, 1].map(Stripe::nth);
            let outcomes =
                [Outcome::Ok, Outcome::Miss, Outcome::Semantic, Outcome::Timeout, Outcome::Abort];
            for outcome in outcomes {
                [a, a, b].into_iter().for_each(|stripe| counters.enter(stripe));
                assert_eq!(counters.in_flight(), 3);
                counters.record(a, outcome, Duration::ZERO.into(), at(1));
                assert!(!counters.is_idle(a), "{outcome:?}");
                counters.leave(a);
                assert!(counters.is_idle(a) && !counters.is_idle(b));
                assert_eq!(counters.in_flight(), 1);
                counters.record(b, outcome, Duration::ZERO.into(), at(1));
                assert_eq!(counters.in_flight(), 0, "{outcome:?}");
            }
        }

        /// Spec: SA-2
        #[test]
        fn while_the_sample_fills_places_are_exact_and_later_on_where_they_are_asked_for() {
            let counters = Counters::default();
            let places: alloc::vec::Vec<_> = (0..1_000_u32)
                .map(|n| {
                    let stripe = Stripe::nth(n % 3);
                    let place = counters.record(stripe, Outcome::Ok, Duration::ZERO.into(), at(0));
                    let place = place.unwrap();
                    (place, counters.before(place))
                })
                .collect();
            for (n, (place, before)) in places.iter().enumerate() {
                assert_eq!(*before, n as u64);
                assert!(place.at_least <= *before);
                assert!(n >= SLOTS || place.at_least == *before, "{n}: {place:?}");
            }
            let mut serials: alloc::vec::Vec<_> =
                places.iter().map(|(place, _)| place.serial).collect();
            serials.sort_unstable();
            serials.dedup();
            assert_eq!(serials.len(), 1_000);
        }
    }
}
