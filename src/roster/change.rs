//! The current roster, and the only way to replace it.

use alloc::vec::Vec;

use super::{Backend, Member, Roster};
use crate::error::{MuxCode, MuxError};
use crate::mode::MAX_BACKENDS;
use crate::mux_mode::MuxMode;
use crate::port::LocalStorage;
use crate::rng::mix;
use crate::sync::{Arc, Lock, Snapshot};

/// The current snapshot. Readers take it without a lock; changes queue behind one.
#[derive(Debug)]
pub(crate) struct Rosters<S> {
    mode: MuxMode,
    current: Snapshot<Roster<S>>,
    /// Held while a new snapshot is made out of the current one. Nothing foreign runs inside.
    change: Lock<()>,
}

impl<S: LocalStorage> Rosters<S> {
    /// A first roster.
    ///
    /// # Errors
    ///
    /// `NO_BACKENDS_CONFIGURED`, `BACKEND_NAME_CONFLICT`, `CAPACITY_EXCEEDED`, or `INVALID_OPTION`
    /// for a name that is empty or holds control characters.
    pub(crate) fn new(
        mode: MuxMode,
        backends: Vec<Backend<S>>,
        seed: u64,
    ) -> Result<Self, MuxError> {
        if backends.is_empty() {
            return Err(MuxError::new(MuxCode::NoBackendsConfigured));
        }
        let mut members: Vec<Arc<Member<S>>> = Vec::with_capacity(backends.len());
        for (at, backend) in backends.into_iter().enumerate() {
            admit(&members, &backend)?;
            members.push(Arc::new(Member::new(backend, mix(seed.wrapping_add(at as u64)))));
        }
        let current = Snapshot::new(Arc::new(Roster::of(members, mode)));
        Ok(Self { mode, current, change: Lock::new(()) })
    }

    /// Publishes the members as they stand now, after one has gone up or down.
    pub(crate) fn refresh(&self) {
        self.change.with(|()| {
            // The replaced snapshot shares all its members with the new one: none drops here.
            self.current.store(Arc::new(self.current.load().refreshed(self.mode)));
        });
    }
}

impl<S> Rosters<S> {
    pub(crate) fn load(&self) -> Arc<Roster<S>> {
        self.current.load()
    }
}

/// Whether `backend` may join `members`.
fn admit<S>(members: &[Arc<Member<S>>], backend: &Backend<S>) -> Result<(), MuxError> {
    let name = backend.name();
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(MuxError::new(MuxCode::InvalidOption)
            .with_backend(name)
            .with_detail("`name` must be printable text, and not empty"));
    }
    if members.len() >= MAX_BACKENDS {
        return Err(MuxError::new(MuxCode::CapacityExceeded)
            .with_backend(name)
            .with_detail(alloc::format!("a mux takes {MAX_BACKENDS} backends")));
    }
    if members.iter().any(|member| member.name == *name) {
        return Err(MuxError::new(MuxCode::BackendNameConflict).with_backend(name));
    }
    Ok(())
}
