//! What no call of a mux can do without, by itself: it says what a target leaves for all the rest.

use std::hint::black_box;

use arc_swap::ArcSwap;
use storage_mux::Clock;
use storage_mux::runtime::tokio::TokioClock;

use crate::parts::stats::{Counters, Outcome, Reservoir};
use crate::sync::Stripe;
use crate::time::Instant;

/// The clock, the set of backends and what is counted of each.
pub(crate) struct Floor {
    clock: TokioClock,
    set: ArcSwap<usize>,
    books: Vec<(Counters, Reservoir)>,
}

impl Floor {
    pub(crate) fn new(backends: usize) -> Self {
        let book = |at| (Counters::default(), Reservoir::new(at as u64));
        let set = ArcSwap::from_pointee(backends);
        Self { clock: TokioClock::new(), set, books: (0..backends).map(book).collect() }
    }

    /// One call that all backends answer: it reads the clock when it begins and at each answer,
    /// holds on to the set of backends as it is, and counts each attempt in, and out with its
    /// outcome and its latency.
    pub(crate) fn call(&self) {
        let started = self.now();
        let held = self.set.load();
        let stripe = Stripe::current();
        for (counters, _) in &self.books {
            counters.enter(stripe);
        }
        black_box(&held);
        for (counters, latencies) in &self.books {
            let now = self.now();
            let latency = now.lapse_since(started);
            let place = counters.record(stripe, black_box(Outcome::Ok), latency, now);
            if let Some(place) = place {
                latencies.record(place, latency, || counters.before(place));
            }
        }
    }

    fn now(&self) -> Instant {
        Instant::from_nanos(self.clock.now().as_nanos())
    }
}
