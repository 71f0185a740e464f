//! One backend of a mux, with everything that is known of it.

use core::fmt;

use event_listener::Event;

use super::HealthCheck;
use crate::health::Health;
use crate::mode::Weight;
use crate::name::BackendName;
use crate::port::{Capabilities, LocalStorage};
use crate::stats::{Counters, Outcome, Reservoir};
use crate::sync::{AtomicBool, AtomicU64, Ordering, Stripe};
use crate::time::{Instant, Lapse};

/// A named storage, on its way into a mux.
///
/// ```
/// use storage_mux::{Backend, MemoryStorage};
///
/// let primary = Backend::new("primary", MemoryStorage::new());
/// assert_eq!(primary.name().as_str(), "primary");
/// ```
#[derive(Clone, Debug)]
pub struct Backend<S> {
    name: BackendName,
    storage: S,
    weight: Option<f64>,
    health_check: Option<HealthCheck>,
}

impl<S> Backend<S> {
    /// Names a storage.
    pub fn new(name: impl Into<BackendName>, storage: S) -> Self {
        Self { name: name.into(), storage, weight: None, health_check: None }
    }

    /// Gives it a weight: a finite number from zero up. Zero means no traffic, ever. Checked when
    /// the backend joins a mux; used by weighted mode.
    #[must_use]
    pub const fn with_weight(mut self, weight: f64) -> Self {
        self.weight = Some(weight);
        self
    }

    /// Gives it a health check. It runs where the mux has an interval for it and somebody runs
    /// [`health_checks`](crate::StorageMux::health_checks).
    #[must_use]
    pub fn with_health_check(mut self, check: HealthCheck) -> Self {
        self.health_check = Some(check);
        self
    }

    /// The name.
    pub const fn name(&self) -> &BackendName {
        &self.name
    }

    /// The storage.
    pub const fn storage(&self) -> &S {
        &self.storage
    }

    /// The weight, where it has one.
    pub const fn weight(&self) -> Option<f64> {
        self.weight
    }
}

/// A backend inside a mux.
pub(crate) struct Member<S> {
    pub(crate) name: BackendName,
    pub(crate) storage: S,
    /// As it was on joining, so that making a snapshot runs no foreign code.
    pub(crate) capabilities: Capabilities,
    /// Likewise, and so that a mux that was added to itself can tell how deep it is.
    pub(crate) depth: usize,
    pub(crate) health_check: Option<HealthCheck>,
    pub(crate) health: Health,
    pub(crate) counters: Counters,
    pub(crate) latencies: Reservoir,
    /// The bits of the weight; those of NaN, which no weight can be, where there is none.
    weight: AtomicU64,
    draining: AtomicBool,
    drain_started: AtomicU64,
    removal_told: AtomicBool,
    idle: Event,
}

impl<S> Member<S> {
    pub(crate) fn new(backend: Backend<S>, seed: u64) -> Self
    where
        S: LocalStorage,
    {
        Self {
            capabilities: backend.storage.capabilities(),
            depth: backend.storage.depth(),
            name: backend.name,
            storage: backend.storage,
            health_check: backend.health_check,
            health: Health::default(),
            counters: Counters::default(),
            latencies: Reservoir::new(seed),
            weight: AtomicU64::new(backend.weight.unwrap_or(f64::NAN).to_bits()),
            draining: AtomicBool::new(false),
            drain_started: AtomicU64::new(0),
            removal_told: AtomicBool::new(false),
            idle: Event::new(),
        }
    }

    /// The weight, checked when it was set.
    pub(crate) fn weight(&self) -> Option<Weight> {
        Weight::new(f64::from_bits(self.weight.load(Ordering::Relaxed))).ok()
    }

    /// Counts a call in, at the stripe where its end is to be counted. False where the backend takes
    /// no new calls; then nothing is under way.
    ///
    /// The count goes up before the look: a drain that starts in between either sees the count or
    /// is seen here. Both sides are sequentially consistent for that reason.
    #[inline]
    pub(crate) fn enter(&self, stripe: Stripe) -> bool {
        self.counters.enter(stripe);
        let refused = self.is_draining();
        if refused {
            self.leave(stripe);
        }
        !refused
    }

    /// Counts a call out with its outcome, at `now`, and keeps its latency. Only for a call that was
    /// counted in, there.
    #[inline]
    pub(crate) fn book(&self, stripe: Stripe, outcome: Outcome, latency: Lapse, now: Instant) {
        let place = self.counters.record(stripe, outcome, latency, now);
        self.wake_drain(stripe);
        if let Some(place) = place {
            self.latencies.record(place, latency, || self.counters.before(place));
        }
    }

    /// Counts out what has no outcome. Only for what was counted in, there.
    pub(crate) fn leave(&self, stripe: Stripe) {
        self.counters.leave(stripe);
        self.wake_drain(stripe);
    }

    /// The count went up before the look, as on the way in, and for the same reason.
    #[inline]
    fn wake_drain(&self, stripe: Stripe) {
        if self.is_draining() && self.counters.is_idle(stripe) {
            self.idle.notify(usize::MAX);
        }
    }

    pub(super) fn set_weight(&self, weight: Weight) {
        self.weight.store(weight.get().to_bits(), Ordering::Relaxed);
    }

    /// Takes no new calls from now on. False where that was so before.
    pub(super) fn start_draining(&self, now: Instant) -> bool {
        if self.is_draining() {
            return false;
        }
        self.drain_started.store(now.as_nanos(), Ordering::Relaxed);
        !self.draining.swap(true, Ordering::SeqCst)
    }

    pub(crate) fn drain_started(&self) -> Instant {
        Instant::from_nanos(self.drain_started.load(Ordering::Relaxed))
    }

    /// True for the first who asks: the removal of a backend is told once.
    pub(crate) fn tell_removal(&self) -> bool {
        !self.removal_told.swap(true, Ordering::Relaxed)
    }

    /// Waits until no call is in flight. Only ever over once the member is draining.
    pub(super) async fn idle(&self) {
        loop {
            // Listen first: a call that ends between the look and the wait is heard.
            let listener = self.idle.listen();
            if self.counters.all_ended() {
                return;
            }
            listener.await;
        }
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::SeqCst)
    }

    pub(crate) fn in_flight(&self) -> u64 {
        self.counters.in_flight()
    }
}

impl<S> fmt::Debug for Member<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Member")
            .field("name", &self.name)
            .field("health", &self.health)
            .field("in_flight", &self.in_flight())
            .field("draining", &self.is_draining())
            .finish_non_exhaustive()
    }
}
