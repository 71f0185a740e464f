//! One backend is asked to serve a call: with its own signal, its retries in place and its
//! timeout. Whatever becomes of it, it is accounted for once.

use alloc::boxed::Box;
use core::pin::pin;
use core::time::Duration;

use super::observe::attempt_span;
use super::record::Record;
use super::{Call, Engine, Request};
use crate::error::{ErrorClass, MuxCode, MuxError, StorageError, classify};
use crate::mux_mode::MuxMode;
use crate::name::BackendName;
use crate::port::{Clock, LocalStorage, OpContext};
use crate::retry::{Bounded, Next, Tries, bounded};
use crate::rng::Rng;
use crate::roster::Member;
use crate::stats::Outcome;
use crate::sync::Arc;
use crate::time::Instant;

/// An attempt within a call's future. Dropping it abandons it.
pub(super) struct Attempt<'a, S: LocalStorage, C: Clock, R: Rng> {
    engine: &'a Engine<S, C, R>,
    member: &'a Arc<Member<S>>,
    pub(super) record: Record,
}

impl<S: LocalStorage, C: Clock, R: Rng> Drop for Attempt<'_, S, C, R> {
    fn drop(&mut self) {
        self.record.abandon(self.engine, self.member);
    }
}

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

/// A backend has answered. The attempt is still open: a stream goes on with it.
pub(super) struct Served<'a, S: LocalStorage, C: Clock, R: Rng, T> {
    pub(super) answer: T,
    /// The context of the try that succeeded, where a stream goes on with it. Its signal aborts
    /// when this is dropped.
    cx: Option<Box<OpContext>>,
    attempt: Attempt<'a, S, C, R>,
}

impl<S: LocalStorage, C: Clock, R: Rng, T> Served<'_, S, C, R, T> {
    /// Takes the time of the answer, for one that is kept until others have answered too.
    pub(super) fn timed(mut self) -> Self {
        let Attempt { engine, record, .. } = &mut self.attempt;
        record.latency = Some(engine.clock.now() - record.started);
        self
    }

    /// Closes the attempt as a success and gives the answer.
    #[inline]
    pub(super) fn finish(mut self) -> T {
        let Attempt { engine, member, record } = &mut self.attempt;
        record.close(engine, member, Outcome::Ok, None, engine.clock.now());
        self.answer
    }

    /// Takes the attempt out of the call, for a stream that is now open.
    ///
    /// The backend has proved alive, so a probe is over; the outcome is booked when the stream ends.
    pub(super) fn keep(
        mut self,
        shared: &Arc<Engine<S, C, R>>,
    ) -> (T, Option<Box<OpContext>>, KeptAttempt<S, C, R>) {
        let Attempt { engine, member, record } = &mut self.attempt;
        let now = engine.clock.now();
        record.latency.get_or_insert(now - record.started);
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
        (self.answer, self.cx, kept)
    }
}

/// A backend has not answered, and the attempt is closed.
pub(super) struct Failure {
    pub(super) index: u32,
    pub(super) outcome: Outcome,
    pub(super) error: StorageError,
    /// When it was known, so that the next attempt need not read the clock again.
    pub(super) now: Instant,
}

/// How one try went, where it gave no answer.
struct Tried {
    outcome: Outcome,
    error: StorageError,
}

impl<'a, S: LocalStorage, C: Clock, R: Rng> Attempt<'a, S, C, R> {
    /// Routes a call to a backend. `None` where it takes no new calls, or where another call
    /// turned out to be probing it; then nothing is held.
    #[inline(always)]
    pub(super) fn open(
        call: &'a Call<'a, S, C, R>,
        member: &'a Arc<Member<S>>,
        index: u32,
        probing: bool,
        now: Instant,
    ) -> Option<Self> {
        let record = Record::open(member, index, probing, now)?;
        let mut attempt = Self { engine: call.engine, member, record };
        attempt.record.span = attempt_span(
            &call.engine.watchers,
            &call.span,
            &member.name,
            index,
            call.engine.settings.mode,
        );
        Some(attempt)
    }

    /// Asks the backend, in place again where that may help. An attempt that gave an answer is
    /// still open, one that did not is closed. The context of a try goes on in `kept` where a stream
    /// goes on with it, and where the answer may not be the last word of a call that is `shared` by
    /// several attempts.
    ///
    /// The answer goes through few hands on its way, as does the attempt: moving them is most of
    /// what a call on a ready backend could cost.
    pub(super) async fn ask<Q: Request<S>>(
        &mut self,
        call: &Call<'a, S, C, R>,
        request: &Q,
        (kept, shared): (&mut Option<Box<OpContext>>, bool),
    ) -> Result<Q::Answer, Failure> {
        let engine = self.engine;
        let tries = Tries {
            options: &engine.settings.retry,
            clock: &engine.clock,
            rng: &engine.rng.0,
            signal: &call.signal,
            deadline: call.cx.deadline(),
            meter: engine.watchers.meter.as_deref(),
        };
        let mut series = tries.begin();
        let tried = loop {
            if series.is_given_up() {
                break Tried { outcome: Outcome::Abort, error: StorageError::aborted() };
            }
            let tried =
                match self.one_try(call, request, series.number(), (&mut *kept, shared)).await {
                    Ok(answer) => {
                        series.on_success();
                        return Ok(answer);
                    }
                    Err(tried) => tried,
                };
            let worth_it = || may_try_again(&tried) && !self.member.is_draining();
            match series.on_failure(worth_it) {
                Next::Stop => break tried,
                Next::Aborted => {
                    break Tried { outcome: Outcome::Abort, error: StorageError::aborted() };
                }
                Next::Wait(delay) => {
                    drop(tried);
                    series.wait(delay).await;
                }
            }
        };
        let now = engine.clock.now();
        self.record.close(engine, self.member, tried.outcome, Some(&tried.error), now);
        Err(Failure { index: self.record.index, outcome: tried.outcome, error: tried.error, now })
    }

    /// The same for an attempt that nobody else holds.
    pub(super) async fn run<Q: Request<S>>(
        mut self,
        call: &'a Call<'a, S, C, R>,
        request: &Q,
    ) -> Result<Served<'a, S, C, R, Q::Answer>, Failure> {
        let mut kept = None;
        let answer = self.ask(call, request, (&mut kept, true)).await?;
        Ok(self.served(answer, kept))
    }

    /// The backend has answered.
    #[inline]
    pub(super) fn served<T>(self, answer: T, cx: Option<Box<OpContext>>) -> Served<'a, S, C, R, T> {
        Served { answer, cx, attempt: self }
    }

    async fn one_try<Q: Request<S>>(
        &self,
        call: &Call<'a, S, C, R>,
        request: &Q,
        number: u32,
        (kept, shared): (&mut Option<Box<OpContext>>, bool),
    ) -> Result<Q::Answer, Tried> {
        let engine = self.engine;
        if number > 1 && self.member.is_draining() {
            let error = MuxError::new(MuxCode::BackendDraining).with_backend(&self.member.name);
            return Err(Tried { outcome: Outcome::Transient, error: error.into() });
        }
        let mut limit = engine.settings.backend_timeout;
        let mut by_deadline = false;
        if let Some(deadline) = call.cx.deadline() {
            let now = if number == 1 { self.record.started } else { engine.clock.now() };
            let left = deadline - now;
            by_deadline = left < limit;
            limit = limit.min(left);
        }
        if limit.is_zero() && by_deadline {
            return Err(self.deadline_passed());
        }
        let parent = self.record.span.as_ref().or(call.span.handle()).or(call.cx.parent());
        let cx = call.cx.child(parent.cloned());
        let asked = {
            // Pinned where it is made, and not moved once more.
            let answer = pin!(request.send(&self.member.storage, &cx));
            bounded(&engine.clock, Some(limit), &call.signal, answer).await
        };
        match asked {
            Bounded::Done(Ok(answer)) => {
                if Q::OPENS_STREAM || (shared && !Q::is_conclusive(&answer)) {
                    *kept = Some(Box::new(cx));
                }
                Ok(answer)
            }
            Bounded::Done(Err(error)) => Err(Tried { outcome: outcome_of(&error), error }),
            Bounded::Aborted => {
                Err(Tried { outcome: Outcome::Abort, error: StorageError::aborted() })
            }
            Bounded::TimedOut if by_deadline => Err(self.deadline_passed()),
            Bounded::TimedOut => {
                let (name, mode) = (&self.member.name, engine.settings.mode);
                let error = timeout_error(name, self.record.index, mode, limit);
                Err(Tried { outcome: Outcome::Timeout, error })
            }
        }
    }

    /// A deadline is the caller's patience: its end is an abort, and no mark against the backend.
    fn deadline_passed(&self) -> Tried {
        let error = StorageError::aborted().with_detail("the deadline of the call has passed");
        Tried { outcome: Outcome::Abort, error }
    }
}

/// The error of a backend that did not answer within `limit`.
pub(super) fn timeout_error(
    name: &BackendName,
    index: u32,
    mode: MuxMode,
    limit: Duration,
) -> StorageError {
    MuxError::new(MuxCode::BackendTimeout)
        .with_backend(name)
        .with_attempt(index)
        .with_mode(mode)
        .with_detail(alloc::format!("no answer within {limit:?}"))
        .into()
}

/// How an attempt that ended in `error` counts.
pub(super) fn outcome_of(error: &StorageError) -> Outcome {
    match classify(error) {
        ErrorClass::Transient => Outcome::Transient,
        ErrorClass::Semantic if error.is_key_not_found() => Outcome::Miss,
        ErrorClass::Semantic => Outcome::Semantic,
        ErrorClass::Abort => Outcome::Abort,
    }
}

/// Whether the same backend may be asked again at once.
///
/// Not after a timeout: the next would cost as much. Not where a nested mux has tried its own
/// backends already: nested retries multiply. Not where the backend asked to be left alone.
fn may_try_again(tried: &Tried) -> bool {
    tried.outcome == Outcome::Transient
        && tried.error.as_mux().is_none()
        && tried.error.retry_after().is_none()
}
