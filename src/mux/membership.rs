//! Backends that come, go and change their weight while calls are under way.

use super::operations::PLAIN;
use super::{StorageMux, With};
use crate::error::{MuxCode, MuxError};
use crate::port::{Clock, Event, LocalStorage, OpContext};
use crate::rng::Rng;
use crate::roster::{Backend, Draining};

/// Changes of membership. A call keeps the set that it started with.
impl<S: LocalStorage, C: Clock, R: Rng> StorageMux<S, C, R> {
    /// Adds a backend at the end of the order. New calls see it at once.
    ///
    /// # Errors
    ///
    /// `BACKEND_NAME_CONFLICT`, also while one of that name still drains; `CAPACITY_EXCEEDED`,
    /// `RECURSION_DEPTH_EXCEEDED`, `INVALID_OPTION` for a name that is empty or not printable,
    /// `INVALID_WEIGHT`, and in weighted mode `WEIGHTED_REQUIRES_WEIGHTS`. Nothing has changed
    /// then, and no event is emitted.
    pub fn add_backend(&self, backend: Backend<S>) -> Result<(), MuxError> {
        let (name, weight) = (backend.name().clone(), backend.weight());
        self.engine.rosters.add(backend)?;
        self.engine.watchers.emit(|| Event::BackendAdded { name, weight });
        Ok(())
    }

    /// Gives a backend a new weight.
    ///
    /// # Errors
    ///
    /// `INVALID_WEIGHT` for a negative, infinite or undefined weight, and in weighted mode where
    /// no backend would be left with one; `BACKEND_NOT_FOUND`. The old weights stay in force then.
    pub fn set_weight(&self, name: &str, weight: f64) -> Result<(), MuxError> {
        let from = self.engine.rosters.set_weight(name, weight)?;
        let to = weight + 0.0;
        self.engine.watchers.emit(|| Event::WeightChanged { name: name.into(), from, to });
        Ok(())
    }

    /// Lets a backend finish the calls that it has and then takes it out of the set; its name is
    /// free again. New calls skip it at once. Draining the last backend is legal: calls then fail
    /// with `ALL_BACKENDS_DOWN`.
    ///
    /// Dropping the future ends the wait, not the drain: the backend stays draining, and draining
    /// it again waits again. [`With::drain`] waits no longer than its context allows.
    ///
    /// # Errors
    ///
    /// `BACKEND_NOT_FOUND`.
    pub async fn drain(&self, name: &str) -> Result<(), MuxError> {
        self.with(&PLAIN).drain(name).await
    }

    /// Drains a backend and says that it was removed. See [`drain`](Self::drain).
    ///
    /// # Errors
    ///
    /// `BACKEND_NOT_FOUND`.
    pub async fn remove_backend(&self, name: &str) -> Result<(), MuxError> {
        self.with(&PLAIN).remove_backend(name).await
    }
}

/// The same under a context, whose signal and deadline end the wait but not the drain.
impl<S: LocalStorage, C: Clock, R: Rng> With<'_, S, C, R> {
    /// Drains a backend. See [`StorageMux::drain`].
    ///
    /// # Errors
    ///
    /// `BACKEND_NOT_FOUND`; `BACKEND_ABORTED` where the caller no longer waits. The backend stays
    /// draining then, or was left as it is where the caller had aborted before.
    pub async fn drain(&self, name: &str) -> Result<(), MuxError> {
        self.mux.drained(name, self.cx).await.map(|_| ())
    }

    /// Drains a backend and says that it was removed. See [`StorageMux::remove_backend`].
    ///
    /// # Errors
    ///
    /// As for [`drain`](Self::drain).
    pub async fn remove_backend(&self, name: &str) -> Result<(), MuxError> {
        let drained = self.mux.drained(name, self.cx).await?;
        if drained.member.tell_removal() {
            let name = drained.member.name.clone();
            self.mux.engine.watchers.emit(|| Event::BackendRemoved { name });
        }
        Ok(())
    }
}

impl<S: LocalStorage, C: Clock, R: Rng> StorageMux<S, C, R> {
    async fn drained(&self, name: &str, cx: &OpContext) -> Result<Draining<S>, MuxError> {
        let engine = &*self.engine;
        if cx.is_aborted() {
            let aborted = MuxError::new(MuxCode::BackendAborted).with_backend(&name.into());
            return Err(aborted.with_detail("it was not asked to drain"));
        }
        let draining = engine.rosters.drain(name, engine.clock.now())?;
        let member = &draining.member;
        if draining.started_now {
            engine.watchers.emit(|| Event::DrainStarted {
                name: member.name.clone(),
                in_flight: member.in_flight(),
            });
        }
        draining.idle(&engine.clock, cx).await?;
        if engine.rosters.purge(member) {
            let duration = engine.clock.now() - member.drain_started();
            engine.watchers.emit(|| Event::DrainCompleted { name: member.name.clone(), duration });
        }
        Ok(draining)
    }
}
