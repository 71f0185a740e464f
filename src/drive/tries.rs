//! The tries of one attempt: with a signal of their own, a timeout each and waits between them.

use alloc::boxed::Box;
use core::future::{Future, poll_fn};
use core::pin::pin;
use core::time::Duration;

use super::attempt::Attempt;
use super::{Call, Request};
use crate::error::{ErrorClass, MuxCode, MuxError, StorageError, classify};
use crate::mux_mode::MuxMode;
use crate::name::BackendName;
use crate::port::{Clock, LocalStorage, OpContext};
use crate::retry::{Bounded, Next, Series, Tries, bounded};
use crate::rng::Rng;
use crate::stats::Outcome;

/// How a try went, and with it an attempt, where it gave no answer.
pub(super) struct Failure {
    pub(super) outcome: Outcome,
    pub(super) error: StorageError,
}

impl Failure {
    /// The caller has given up.
    fn aborted() -> Self {
        Self { outcome: Outcome::Abort, error: StorageError::aborted() }
    }

    /// The backend has answered that it cannot.
    fn of(error: StorageError) -> Self {
        Self { outcome: outcome_of(&error), error }
    }

    /// A deadline is the caller's patience: its end is an abort, and no mark against the backend.
    fn too_late() -> Self {
        let error = StorageError::aborted().with_detail("the deadline of the call has passed");
        Self { outcome: Outcome::Abort, error }
    }
}

impl<S: LocalStorage, C: Clock, R: Rng> Call<'_, S, C, R> {
    /// How often and how patiently one backend is asked.
    fn tries(&self) -> Tries<'_, C, R> {
        let engine = self.engine;
        Tries {
            options: &engine.settings.retry,
            clock: &engine.clock,
            rng: &engine.rng.0,
            signal: &self.signal,
            deadline: self.cx.deadline(),
            meter: engine.watchers.meter.as_deref(),
        }
    }

    /// Counts the outcome of a try.
    fn count_try(&self, outcome: &'static str) {
        if self.engine.watchers.meter.is_some() {
            self.tries().count(outcome);
        }
    }
}

/// How long one try may take.
struct Limit {
    time: Duration,
    /// The caller's patience ends before the backend's time does.
    by_deadline: bool,
}

impl<'a, S: LocalStorage, C: Clock, R: Rng> Attempt<'a, S, C, R> {
    /// Asks the backend, in place again where that may help, and puts what comes of it into `end`.
    /// The attempt is closed then, but for two: that of a stream that was opened, and that of an
    /// answer among several that are `raced` for. The context of the try stays with the attempt
    /// where a stream goes on with it, and where the answer may not be the last word of a race.
    ///
    /// Whatever is told to others is told when nothing of the backend's is held any more, neither
    /// its future nor the context of the try: a sink may call back, and a drain may be over.
    ///
    /// What a first try that succeeds has no use for is only made behind it, and its answer is put
    /// where it is wanted: to hand it from one future to the next costs more than to find it.
    pub(super) fn ask<'s, Q: Request<S>>(
        &'s mut self,
        call: &'s Call<'a, S, C, R>,
        request: &'s Q,
        end: &'s mut Option<Result<Q::Answer, Failure>>,
        raced: bool,
    ) -> impl Future<Output = ()> + use<'s, 'a, S, C, R, Q> {
        let attempt = self;
        async move {
            let member = attempt.member;
            let mut series = None;
            loop {
                if call.signal.is_aborted() {
                    call.count_try("aborted");
                    *end = Some(Err(Failure::aborted()));
                    break;
                }
                let limit = match attempt.limit(call, series.is_none()) {
                    Ok(limit) => limit,
                    Err(failure) => {
                        call.count_try("exhausted");
                        *end = Some(Err(failure));
                        break;
                    }
                };
                let cx = attempt.context(call);
                let asked = {
                    let mut sent = pin!(request.send(&member.storage, &cx));
                    let put = pin!(poll_fn(|task| {
                        sent.as_mut().poll(task).map(|result| match result {
                            Ok(answer) => {
                                attempt.record.ended = call.engine.clock.now();
                                *end = Some(Ok(answer));
                            }
                            Err(error) => *end = Some(Err(Failure::of(error))),
                        })
                    }));
                    bounded(&call.engine.clock, Some(limit.time), &call.signal, put).await
                };
                match asked {
                    Bounded::Done(()) => {}
                    Bounded::Aborted => *end = Some(Err(Failure::aborted())),
                    Bounded::TimedOut => *end = Some(Err(attempt.timed_out(&limit))),
                }
                if let Some(Ok(answer)) = end {
                    call.count_try("success");
                    if Q::OPENS_STREAM || (raced && !Q::is_conclusive(answer)) {
                        attempt.cx = Some(Box::new(cx));
                    } else {
                        drop(cx);
                    }
                    if !Q::OPENS_STREAM && !raced {
                        attempt.finish();
                    }
                    return;
                }
                drop(cx);
                let tries = call.tries();
                let series = series.get_or_insert_with(|| Series::of(tries.options));
                let worth_it = || {
                    matches!(end, Some(Err(failure)) if may_help(failure)) && !member.is_draining()
                };
                match series.on_failure(&tries, worth_it) {
                    Next::Stop => break,
                    Next::Aborted => {
                        *end = Some(Err(Failure::aborted()));
                        break;
                    }
                    Next::Wait(delay) => {
                        *end = None;
                        series.wait(&tries, delay).await;
                    }
                }
            }
            if let Some(Err(Failure { outcome, error })) = end {
                attempt.fail(*outcome, error);
            }
        }
    }

    /// The time that a try has: that of the backend, or what the caller's deadline leaves of it.
    #[inline(always)]
    fn limit(&self, call: &Call<'a, S, C, R>, is_first: bool) -> Result<Limit, Failure> {
        let engine = self.engine;
        if !is_first && self.member.is_draining() {
            let error = MuxError::new(MuxCode::BackendDraining).with_backend(&self.member.name);
            return Err(Failure { outcome: Outcome::Transient, error: error.into() });
        }
        let time = engine.settings.backend_timeout;
        let Some(deadline) = call.cx.deadline() else {
            return Ok(Limit { time, by_deadline: false });
        };
        let left = deadline - if is_first { self.record.started } else { engine.clock.now() };
        if left.is_zero() && !time.is_zero() {
            return Err(Failure::too_late());
        }
        Ok(Limit { time: time.min(left), by_deadline: left < time })
    }

    /// A context for a try, under the span of the attempt.
    #[inline(always)]
    fn context(&self, call: &Call<'a, S, C, R>) -> OpContext {
        let parent = self.record.span.as_ref().or(call.span.handle()).or(call.cx.parent());
        call.cx.child(parent.cloned())
    }

    #[cold]
    fn timed_out(&self, limit: &Limit) -> Failure {
        if limit.by_deadline {
            return Failure::too_late();
        }
        let (name, mode) = (&self.member.name, self.engine.settings.mode);
        let error = timeout_error(name, self.record.index, mode, limit.time);
        Failure { outcome: Outcome::Timeout, error }
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
fn may_help(failure: &Failure) -> bool {
    failure.outcome == Outcome::Transient
        && failure.error.as_mux().is_none()
        && failure.error.retry_after().is_none()
}
