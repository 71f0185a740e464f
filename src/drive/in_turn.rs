//! One backend after the other, until one answers.

use super::attempt::{Attempt, Served};
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
    /// What served is ended by `end`, on the spot.
    ///
    /// # Errors
    ///
    /// A semantic error as it is; `BACKEND_ABORTED` where the caller gave up; `ALL_BACKENDS_DOWN`
    /// with the last failure where no backend is left.
    pub(super) async fn in_turn<Q: Request<S>, T>(
        &'a self,
        request: &Q,
        end: impl FnOnce(Served<'a, S, C, R, Q::Answer>) -> T,
    ) -> Result<T, StorageError> {
        let mut now = self.started;
        let mut view = self.roster.view(now);
        let mut tried = BackendSet::EMPTY;
        let mut attempts = 0_u32;
        let mut last: Option<(&BackendName, StorageError)> = None;
        let mut previous = None;
        loop {
            let turn = Turn {
                operation: Q::OPERATION,
                key: request.key(),
                view,
                origin: self.roster.origin(),
                tried,
                last: previous,
                weights: self.roster.weights(),
            };
            let Some(at) = next(self.engine.settings.mode, &turn, self.engine) else { break };
            tried.insert(at);
            previous = Some(at);
            let Some(member) = self.roster.member(at) else { continue };
            let probing = view.probe.contains(at);
            let Some(mut attempt) = Attempt::open(self, member, attempts, probing, now) else {
                // Routed to a backend that drains since, or that another call probes: re-select.
                if last.is_none() && member.is_draining() {
                    let error = MuxError::new(MuxCode::BackendDraining).with_backend(&member.name);
                    last = Some((&member.name, error.into()));
                }
                view = self.roster.view_now(now);
                continue;
            };
            if attempts > 0
                && let Some((from, cause)) = &last
            {
                self.move_on(from, &member.name, attempts - 1, cause);
            }
            attempts += 1;
            let mut kept = None;
            let failure = match attempt.ask(self, request, (&mut kept, false)).await {
                Ok(answer) => return Ok(end(attempt.served(answer, kept))),
                Err(failure) => failure,
            };
            match failure.outcome {
                Outcome::Abort => {
                    return Err(self.engine.aborted(&member.name, attempts - 1, failure.error));
                }
                Outcome::Ok | Outcome::Miss | Outcome::Semantic => return Err(failure.error),
                Outcome::Transient | Outcome::Timeout => {}
            }
            last = Some((&member.name, failure.error));
            now = failure.now;
            view = self.roster.view_now(now);
        }
        let down = self.engine.all_down(attempts);
        Err(match last {
            Some((_, error)) => down.with_source(error).into(),
            None => down.into(),
        })
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
