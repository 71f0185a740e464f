//! One backend after the other, until one answers.

use core::future::Future;

use super::attempt::Attempt;
use super::record::Entry;
use super::{Call, Request};
use crate::error::{MuxCode, MuxError, StorageError};
use crate::mode::{BackendSet, Turn, next};
use crate::name::BackendName;
use crate::port::{Clock, Event, LocalStorage};
use crate::rng::Rng;
use crate::stats::Outcome;
use crate::sync::Ordering;

impl<'a, S: LocalStorage, C: Clock, R: Rng> Call<'a, S, C, R> {
    /// Asks the backends in the order that the mode gives, and moves on after a transient failure.
    /// The attempt that served is ended by `end`, on the spot.
    ///
    /// # Errors
    ///
    /// A semantic error as it is; `BACKEND_ABORTED` where the caller gave up; `ALL_BACKENDS_DOWN`
    /// with the last failure where no backend is left.
    pub(super) fn in_turn<'q, Q: Request<S>, T, E>(
        &'q self,
        request: &'q Q,
        end: E,
    ) -> impl Future<Output = Result<T, StorageError>> + use<'a, 'q, S, C, R, Q, T, E>
    where
        E: FnOnce(&mut Attempt<'q, S, C, R>, Q::Answer) -> T,
    {
        let call = self;
        async move {
            let mut now = call.started;
            // Built once and then kept up to date: it is looked at where it is.
            let mut turn = Turn {
                operation: Q::OPERATION,
                key: request.key(),
                view: call.roster.view(now),
                origin: call.roster.origin(),
                tried: BackendSet::EMPTY,
                last: None,
                weights: call.roster.weights(),
            };
            let mut attempts = 0_u32;
            let mut last: Option<(&BackendName, StorageError)> = None;
            while let Some(at) = next(call.engine.settings.mode, &turn, call.engine) {
                turn.tried.insert(at);
                turn.last = Some(at);
                let Some(member) = call.roster.member(at) else { continue };
                let probing = turn.view.probe.contains(at);
                let Some(entry) = Entry::of(member, call.stripe, probing, now) else {
                    // Routed to a backend that drains since, or that another call probes: re-select.
                    if last.is_none() && member.is_draining() {
                        let error =
                            MuxError::new(MuxCode::BackendDraining).with_backend(&member.name);
                        last = Some((&member.name, error.into()));
                    }
                    turn.view = call.roster.view_now(now);
                    continue;
                };
                let mut attempt = Attempt::new(call.engine, member, attempts, entry, now);
                attempt.trace(call);
                if attempts > 0
                    && let Some((from, cause)) = &last
                {
                    call.move_on(from, &member.name, attempts - 1, cause);
                }
                attempts += 1;
                let mut reply = None;
                attempt.ask(call, request, &mut reply, false).await;
                let failure = match reply {
                    Some(Ok(answer)) => return Ok(end(&mut attempt, answer)),
                    Some(Err(failure)) => failure,
                    None => continue,
                };
                match failure.outcome {
                    Outcome::Abort => {
                        return Err(call.engine.aborted(&member.name, attempts - 1, failure.error));
                    }
                    Outcome::Ok | Outcome::Miss | Outcome::Semantic => return Err(failure.error),
                    Outcome::Transient | Outcome::Timeout => {}
                }
                last = Some((&member.name, failure.error));
                now = attempt.record.ended;
                turn.view = call.roster.view_now(now);
            }
            let down = call.engine.all_down(attempts);
            Err(match last {
                Some((_, error)) => down.with_source(error).into(),
                None => down.into(),
            })
        }
    }

    fn move_on(&self, from: &BackendName, to: &BackendName, attempt: u32, cause: &StorageError) {
        self.engine.totals.failovers.fetch_add(1, Ordering::Relaxed);
        self.engine.watchers.emit(|| Event::Failover {
            from: from.clone(),
            to: to.clone(),
            attempt_index: attempt,
            cause: cause.clone(),
        });
    }
}
