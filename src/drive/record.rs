//! What an attempt holds of a backend, and its one entry in the books.

use core::time::Duration;

use super::Engine;
use super::observe::end_attempt_span;
use crate::error::StorageError;
use crate::health::Stamp;
use crate::port::{Clock, LocalStorage, SpanHandle};
use crate::rng::Rng;
use crate::roster::Member;
use crate::stats::Outcome;
use crate::sync::Stripe;
use crate::time::Instant;

/// What an attempt must give back: its place among the calls in flight, perhaps the probe slot,
/// its span, and one outcome.
pub(super) struct Record {
    pub(super) index: u32,
    /// Where it is counted in, and out.
    stripe: Stripe,
    pub(super) started: Instant,
    pub(super) seen: Stamp,
    /// Time to the first chunk, for a stream: its whole length says nothing about the backend.
    pub(super) latency: Option<Duration>,
    probing: bool,
    pub(super) open: bool,
    pub(super) span: Option<SpanHandle>,
}

impl Record {
    /// Counts a call in, and takes the probe slot where it is a probe. `None` where the backend
    /// takes no new calls, or where another call turned out to be probing it; then nothing is held.
    #[inline]
    pub(super) fn open<S>(
        member: &Member<S>,
        index: u32,
        probing: bool,
        now: Instant,
    ) -> Option<Self> {
        let stripe = member.enter()?;
        let mut probing = probing;
        if probing && !member.health.begin_probe(now) {
            probing = false;
            // Whoever has the slot may have found it well by now, and not yet have let go.
            if !member.health.stamp().is_up() {
                member.leave(stripe);
                return None;
            }
        }
        let seen = member.health.stamp();
        Some(Self {
            index,
            stripe,
            started: now,
            seen,
            latency: None,
            probing,
            open: true,
            span: None,
        })
    }

    /// Hands over what is held; nothing is left to give back here.
    pub(super) const fn take(&mut self) -> Self {
        Self {
            index: self.index,
            stripe: self.stripe,
            started: self.started,
            seen: self.seen,
            latency: self.latency,
            probing: core::mem::replace(&mut self.probing, false),
            open: core::mem::replace(&mut self.open, false),
            span: self.span.take(),
        }
    }

    /// Books the outcome, frees what is held, then tells who watches.
    ///
    /// In this order: a watcher that panics must not leave a count behind, nor a sink an open span.
    pub(super) fn close<S: LocalStorage, C: Clock, R: Rng>(
        &mut self,
        engine: &Engine<S, C, R>,
        member: &Member<S>,
        outcome: Outcome,
        error: Option<&StorageError>,
        now: Instant,
    ) {
        self.open = false;
        let latency = self.latency.unwrap_or(now - self.started);
        if let Some(place) = member.counters.record(self.stripe, outcome, latency, now) {
            member.latencies.record(place, latency, || member.counters.before(place));
        }
        let change = engine.judge(member, outcome, error, now, self.seen);
        self.free_probe(member);
        member.leave(self.stripe);
        if let Some(span) = self.span.take() {
            end_attempt_span(&span, outcome, latency);
        }
        engine.tell(member, change, error);
    }

    /// The call was dropped, or the backend panicked: nobody's fault, but nothing may stay held.
    pub(super) fn abandon<S: LocalStorage, C: Clock, R: Rng>(
        &mut self,
        engine: &Engine<S, C, R>,
        member: &Member<S>,
    ) {
        if self.open {
            let now = if self.span.is_some() { engine.clock.now() } else { self.started };
            self.close(engine, member, Outcome::Abort, None, now);
        }
    }

    pub(super) fn free_probe<S>(&mut self, member: &Member<S>) {
        if core::mem::take(&mut self.probing) {
            member.health.end_probe();
        }
    }
}
