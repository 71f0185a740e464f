//! Active health checks: a schedule that the caller runs, on the mux's own clock.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::future::{Future, poll_fn};
use core::pin::{Pin, pin};
use core::task::{Context, Poll};

use super::StorageMux;
use crate::drive::Engine;
use crate::error::{ErrorClass, MuxCode, MuxError, StorageError, classify};
use crate::port::{Clock, LocalStorage, OpContext};
use crate::retry::{Bounded, bounded};
use crate::rng::Rng;
use crate::roster::Member;
use crate::stats::Outcome;
use crate::sync::{AbortSignal, Arc, Stripe};

impl<S: LocalStorage, C: Clock, R: Rng> StorageMux<S, C, R> {
    /// The schedule of the health checks, for the caller to run beside everything else; each
    /// executor's binding can spawn it.
    ///
    /// Where the options name an interval, every backend with a check is checked once per
    /// interval: never two checks of one backend at a time, and never a burst to make up for a
    /// pause. A check that fails or takes longer than the backend timeout takes the backend down
    /// with `HEALTHCHECK_FAILED` as the cause; one that passes brings it back at once.
    ///
    /// The future ends when the mux is closed or its last handle is dropped, and no check starts
    /// after that. It keeps no handle of its own. Dropping it stops the checks. Each call of this
    /// makes a schedule of its own, so run one. A check that panics ends its schedule with it.
    pub fn health_checks(&self) -> impl Future<Output = ()> + use<S, C, R> {
        run(self.engine.clone(), self.alive.0.signal())
    }

    /// Stops the health checks for good. Calls go on as before; see [`drain`](Self::drain) to let
    /// go of backends.
    pub fn close(&self) {
        self.alive.0.abort();
    }
}

async fn run<S: LocalStorage, C: Clock, R: Rng>(engine: Arc<Engine<S, C, R>>, closed: AbortSignal) {
    let Some(interval) = engine.settings.health_check_interval else { return };
    let mut running = Vec::new();
    loop {
        let mut tick = pin!(engine.clock.sleep(interval));
        let mut aborted = closed.aborted();
        let ended = poll_fn(|task| {
            if Pin::new(&mut aborted).poll(task).is_ready() {
                return Poll::Ready(true);
            }
            keep_pending(&mut running, task);
            tick.as_mut().poll(task).map(|()| false)
        })
        .await;
        if ended {
            return;
        }
        for member in engine.rosters.load().members() {
            let at_it = running.iter().any(|(busy, _)| Arc::ptr_eq(busy, member));
            if member.health_check.is_some() && !at_it {
                let check = check(engine.clone(), member.clone(), closed.clone());
                running.push((member.clone(), Box::pin(check)));
            }
        }
    }
}

/// Polls the checks under way, and drops those that have ended.
fn keep_pending<T, F: Future>(running: &mut Vec<(T, Pin<Box<F>>)>, task: &mut Context<'_>) {
    running.retain_mut(|(_, check)| check.as_mut().poll(task).is_pending());
}

/// Counts a check among the calls in flight, so that a drained backend is never touched.
struct InFlight<'a, S>(&'a Member<S>, Stripe);

impl<S> Drop for InFlight<'_, S> {
    fn drop(&mut self) {
        self.0.leave(self.1);
    }
}

async fn check<S: LocalStorage, C: Clock, R: Rng>(
    engine: Arc<Engine<S, C, R>>,
    member: Arc<Member<S>>,
    closed: AbortSignal,
) {
    let Some(health_check) = &member.health_check else { return };
    // Another check of the same round may have closed the mux a moment ago.
    if closed.is_aborted() {
        return;
    }
    let stripe = Stripe::current();
    if !member.enter(stripe) {
        return;
    }
    let _in_flight = InFlight(&member, stripe);
    let seen = member.health.stamp();
    let timeout = engine.settings.backend_timeout;
    let result = {
        let cx = OpContext::new().with_signal(closed.clone()).child(None);
        let answer = health_check.run(&member.storage, &cx);
        bounded(&engine.clock, Some(timeout), &closed, answer).await
    };
    let cause = match result {
        Bounded::Done(Ok(())) => None,
        Bounded::Done(Err(error)) => match classify(&error) {
            ErrorClass::Semantic => None,
            ErrorClass::Transient => Some(error),
            ErrorClass::Abort => return,
        },
        Bounded::TimedOut => {
            let timeout = MuxError::new(MuxCode::BackendTimeout).with_backend(&member.name);
            Some(timeout.into())
        }
        Bounded::Aborted => return,
    };
    let failed: Option<StorageError> = cause.map(|cause| {
        let failed = MuxError::new(MuxCode::HealthcheckFailed).with_backend(&member.name);
        failed.with_source(cause).into()
    });
    let outcome = if failed.is_some() { Outcome::Transient } else { Outcome::Ok };
    let change = engine.judge(&member, outcome, failed.as_ref(), engine.clock.now(), seen);
    engine.tell(&member, change, failed.as_ref());
}
