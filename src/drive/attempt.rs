//! One backend is asked to serve a call. Whatever becomes of it, it is accounted for once.

use alloc::boxed::Box;
use core::future::Future;

use super::observe::attempt_span;
use super::record::{Entry, Record};
use super::tries::Failure;
use super::{Call, Engine, Request};
use crate::error::StorageError;
use crate::port::{Clock, LocalStorage, OpContext};
use crate::rng::Rng;
use crate::roster::Member;
use crate::stats::Outcome;
use crate::sync::Arc;
use crate::time::Instant;

/// An attempt within a call's future. Dropping it abandons it.
pub(super) struct Attempt<'a, S: LocalStorage, C: Clock, R: Rng> {
    pub(super) engine: &'a Engine<S, C, R>,
    pub(super) member: &'a Arc<Member<S>>,
    pub(super) record: Record,
    /// The context of the try that succeeded, where something goes on with it. Its signal aborts
    /// when this is dropped.
    pub(super) cx: Option<Box<OpContext>>,
}

impl<S: LocalStorage, C: Clock, R: Rng> Drop for Attempt<'_, S, C, R> {
    #[inline]
    fn drop(&mut self) {
        // Before the attempt is counted out: once it is, a drain may be over.
        self.cx = None;
        self.record.abandon(self.engine, self.member);
    }
}

impl<'a, S: LocalStorage, C: Clock, R: Rng> Attempt<'a, S, C, R> {
    /// An attempt on a backend that has let the call in.
    ///
    /// Made of few words and where it stays: a record that is put together in one place and carried
    /// to another costs more than all the rest of it.
    #[inline(always)]
    pub(super) const fn new(
        engine: &'a Engine<S, C, R>,
        member: &'a Arc<Member<S>>,
        index: u32,
        entry: Entry,
        now: Instant,
    ) -> Self {
        Self { engine, member, record: Record::new(entry, index, now), cx: None }
    }

    /// Opens the span of the attempt, where there is a tracer.
    #[inline]
    pub(super) fn trace(&mut self, call: &Call<'_, S, C, R>) {
        let (watchers, mode) = (&self.engine.watchers, self.engine.settings.mode);
        if watchers.tracer.is_some() {
            let (name, index) = (&self.member.name, self.record.index);
            self.record.span = attempt_span(watchers, &call.span, name, index, mode);
        }
    }

    /// The backend has answered, and that is all.
    #[inline(always)]
    pub(super) fn finish(&mut self) {
        let ended = self.record.ended;
        self.record.close(self.engine, self.member, Outcome::Ok, None, ended);
    }

    /// Takes the attempt out of the call, for a stream that is now open.
    ///
    /// The backend has proved alive, so a probe is over; the outcome is booked when the stream ends.
    pub(super) fn keep(&mut self, shared: &Arc<Engine<S, C, R>>) -> Kept<S, C, R> {
        let Self { engine, member, record, cx } = self;
        record.latency = Some(record.ended.lapse_since(record.started));
        // It may have waited for others since.
        let now = engine.clock.now();
        let change = engine.judge(member, Outcome::Ok, None, now, record.seen);
        record.free_probe(member);
        // After its own recovery alone: one that was opened before an outage says as little about
        // it later on, and neither ends nor renews it.
        if change.is_some() {
            record.seen = member.health.stamp();
        }
        let kept =
            KeptAttempt { engine: shared.clone(), member: member.clone(), record: record.take() };
        kept.engine.tell(&kept.member, change, None);
        (kept, cx.take())
    }

    /// The backend has failed, or the caller has given up.
    #[cold]
    pub(super) fn fail(&mut self, outcome: Outcome, error: &StorageError) {
        let ended = self.engine.clock.now();
        self.record.ended = ended;
        self.record.close(self.engine, self.member, outcome, Some(error), ended);
    }

    /// Asks the backend, as one of several attempts that may be `raced`, and goes with what `end`
    /// makes of the answer. `None` never comes.
    pub(super) fn run<'q, Q: Request<S>, T, E: FnOnce(Self, Q::Answer) -> T>(
        self,
        call: &'a Call<'a, S, C, R>,
        request: &'q Q,
        raced: bool,
        end: E,
    ) -> impl Future<Output = Lane<T>> + use<'a, 'q, S, C, R, Q, T, E> {
        let mut attempt = self;
        async move {
            let mut reply = None;
            attempt.ask(call, request, &mut reply, raced).await;
            match reply? {
                Ok(answer) => Some(Ok(end(attempt, answer))),
                Err(failure) => Some(Err((attempt.record.index, failure))),
            }
        }
    }
}

/// How one of several attempts ended: with an answer, or with its number and a failure.
pub(super) type Lane<T> = Option<Result<T, (u32, Failure)>>;

/// What a stream goes on with: its attempt, and the context of the try that opened it.
pub(super) type Kept<S, C, R> = (KeptAttempt<S, C, R>, Option<Box<OpContext>>);

/// An attempt that outlives its call's future, in a stream. Dropping it abandons it.
pub(super) struct KeptAttempt<S: LocalStorage, C: Clock, R: Rng> {
    pub(super) engine: Arc<Engine<S, C, R>>,
    pub(super) member: Arc<Member<S>>,
    record: Record,
}

impl<S: LocalStorage, C: Clock, R: Rng> KeptAttempt<S, C, R> {
    /// The stream has ended, one way or another.
    pub(super) fn finish(&mut self, outcome: Outcome, error: Option<&StorageError>) {
        if self.record.open {
            let now = self.engine.clock.now();
            self.record.close(&self.engine, &self.member, outcome, error, now);
        }
    }

    pub(super) const fn index(&self) -> u32 {
        self.record.index
    }
}

impl<S: LocalStorage, C: Clock, R: Rng> Drop for KeptAttempt<S, C, R> {
    fn drop(&mut self) {
        self.record.abandon(&self.engine, &self.member);
    }
}

/// A backend has answered, and others may still. The attempt is still open.
pub(super) struct Served<'a, S: LocalStorage, C: Clock, R: Rng, T> {
    pub(super) answer: T,
    attempt: Attempt<'a, S, C, R>,
}

impl<'a, S: LocalStorage, C: Clock, R: Rng, T> Served<'a, S, C, R, T> {
    pub(super) const fn new(attempt: Attempt<'a, S, C, R>, answer: T) -> Self {
        Self { answer, attempt }
    }

    /// Closes the attempt as a success and gives the answer. It took as long as the answer did,
    /// however long it has waited for others since.
    pub(super) fn finish(mut self) -> T {
        let Attempt { engine, member, record, .. } = &mut self.attempt;
        record.latency = Some(record.ended.lapse_since(record.started));
        record.close(engine, member, Outcome::Ok, None, engine.clock.now());
        self.answer
    }

    /// Takes the attempt out of the call, for a stream that is now open.
    pub(super) fn keep(mut self, shared: &Arc<Engine<S, C, R>>) -> (T, Kept<S, C, R>) {
        let kept = self.attempt.keep(shared);
        (self.answer, kept)
    }
}
