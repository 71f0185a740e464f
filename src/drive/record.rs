//! What an attempt holds of a backend, and its one entry in the books.

use super::Engine;
use super::observe::end_attempt_span;
use crate::error::StorageError;
use crate::health::Stamp;
use crate::port::{Clock, LocalStorage, SpanHandle};
use crate::rng::Rng;
use crate::roster::Member;
use crate::stats::Outcome;
use crate::sync::Stripe;
use crate::time::{Instant, Lapse};

/// What a call holds of a backend that has let it in: a place among the calls in flight, and perhaps
/// the probe slot. Whoever gets one makes a [`Record`] of it at once, which gives both back.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    /// Where it is counted in, and out.
    stripe: Stripe,
    probing: bool,
    seen: Stamp,
}

impl Entry {
    /// Counts a call in at `stripe`, and takes the probe slot where it is a probe. `None` where the backend
    /// takes no new calls, or where another call turned out to be probing it; then nothing is held.
    #[inline(always)]
    pub(super) fn of<S>(
        member: &Member<S>,
        stripe: Stripe,
        probing: bool,
        now: Instant,
    ) -> Option<Self> {
        if !member.enter(stripe) {
            return None;
        }
        let probing = probing && {
            let has_slot = member.health.begin_probe(now);
            // Whoever has the slot may have found it well by now, and not yet have let go.
            if !has_slot && !member.health.stamp().is_up() {
                member.leave(stripe);
                return None;
            }
            has_slot
        };
        Some(Self { stripe, probing, seen: member.health.stamp() })
    }
}

/// What an attempt must give back: what it holds of the backend, its span, and one outcome.
pub(super) struct Record {
    pub(super) index: u32,
    stripe: Stripe,
    pub(super) started: Instant,
    /// When the backend answered or failed, once it has.
    pub(super) ended: Instant,
    pub(super) seen: Stamp,
    /// Time to the first chunk, for a stream: its whole length says nothing about the backend.
    pub(super) latency: Option<Lapse>,
    probing: bool,
    pub(super) open: bool,
    pub(super) span: Option<SpanHandle>,
}

impl Record {
    #[inline(always)]
    pub(super) const fn new(entry: Entry, index: u32, now: Instant) -> Self {
        let Entry { stripe, probing, seen } = entry;
        let (latency, open, span) = (None, true, None);
        Self { index, stripe, started: now, ended: now, seen, latency, probing, open, span }
    }

    /// Hands over what is held; nothing is left to give back here.
    pub(super) const fn take(&mut self) -> Self {
        Self {
            index: self.index,
            stripe: self.stripe,
            started: self.started,
            ended: self.ended,
            seen: self.seen,
            latency: self.latency,
            probing: core::mem::replace(&mut self.probing, false),
            open: core::mem::replace(&mut self.open, false),
            span: self.span.take(),
        }
    }

    /// Lets the outcome count, frees what is held, then tells who watches.
    ///
    /// In this order: what ends a call in flight comes last, so that whoever finds none finds their
    /// outcomes too; and a watcher that panics must not leave a count behind, nor a sink an open
    /// span.
    #[inline(always)]
    pub(super) fn close<S: LocalStorage, C: Clock, R: Rng>(
        &mut self,
        engine: &Engine<S, C, R>,
        member: &Member<S>,
        outcome: Outcome,
        error: Option<&StorageError>,
        now: Instant,
    ) {
        self.open = false;
        let latency = self.latency.unwrap_or_else(|| now.lapse_since(self.started));
        let change = engine.judge(member, outcome, error, now, self.seen);
        self.free_probe(member);
        member.book(self.stripe, outcome, latency, now);
        if let Some(span) = self.span.take() {
            end_attempt_span(&span, outcome, latency.as_duration());
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
