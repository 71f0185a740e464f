//! A backend that leaves: it takes no new calls, and goes when its last call has ended.

use super::{Member, Rosters};
use crate::error::{MuxCode, MuxError};
use crate::port::{Clock, OpContext};
use crate::retry::{Bounded, bounded};
use crate::sync::Arc;
use crate::time::Instant;

/// A drain that somebody waits for. Dropping it leaves the backend draining: another drain waits
/// again.
#[derive(Debug)]
pub(crate) struct Draining<S> {
    pub(crate) member: Arc<Member<S>>,
    /// Whether this drain is the one that closed the gate.
    pub(crate) started_now: bool,
}

impl<S> Rosters<S> {
    /// Closes the gate of a backend. Calls in flight go on.
    ///
    /// # Errors
    ///
    /// `BACKEND_NOT_FOUND`.
    pub(crate) fn drain(&self, name: &str, now: Instant) -> Result<Draining<S>, MuxError> {
        self.replace(|roster| {
            let at = roster.position(name).ok_or_else(|| not_found(name))?;
            let member = roster.member(at).ok_or_else(|| not_found(name))?.clone();
            let started_now = member.start_draining(now);
            Ok((roster.refreshed(self.mode()), Draining { member, started_now }))
        })
    }

    /// Takes a drained backend out of the set. False where another drain was first.
    pub(crate) fn purge(&self, gone: &Arc<Member<S>>) -> bool {
        let purged = self
            .replace(|roster| roster.without(gone, self.mode()).map(|rest| (rest, ())).ok_or(()));
        purged.is_ok()
    }
}

impl<S> Draining<S> {
    /// Waits until the last call has ended.
    ///
    /// # Errors
    ///
    /// `BACKEND_ABORTED` where the caller no longer waits, by signal or by deadline. The backend
    /// stays draining.
    pub(crate) async fn idle<C: Clock>(&self, clock: &C, cx: &OpContext) -> Result<(), MuxError> {
        let left = cx.deadline().map(|deadline| deadline - clock.now());
        match bounded(clock, left, &cx.signal(), self.member.idle()).await {
            Bounded::Done(()) => Ok(()),
            Bounded::TimedOut | Bounded::Aborted => {
                let detail = "it stays draining";
                let aborted = MuxError::new(MuxCode::BackendAborted);
                Err(aborted.with_backend(&self.member.name).with_detail(detail))
            }
        }
    }
}

/// The error for a name that nobody has.
pub(super) fn not_found(name: &str) -> MuxError {
    MuxError::new(MuxCode::BackendNotFound).with_backend(&name.into())
}
