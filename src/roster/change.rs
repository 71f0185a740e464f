//! The current roster, and the only way to replace it.

use alloc::vec::Vec;

use super::drain::not_found;
use super::{Backend, Member, Roster};
use crate::error::{MuxCode, MuxError};
use crate::mode::{MAX_BACKENDS, Weight};
use crate::mux_mode::MuxMode;
use crate::name::BackendName;
use crate::port::LocalStorage;
use crate::rng::mix;
use crate::sync::{Arc, AtomicU64, Loaded, Lock, Ordering, Snapshot};

/// How many muxes may be nested in one another.
pub const MAX_DEPTH: usize = 8;

/// The current snapshot. Readers take it without a lock; changes queue behind one.
#[derive(Debug)]
pub(crate) struct Rosters<S> {
    mode: MuxMode,
    current: Snapshot<Roster<S>>,
    /// Held while a new snapshot is made out of the current one. Nothing foreign runs inside.
    change: Lock<()>,
    seed: u64,
    joined: AtomicU64,
}

impl<S: LocalStorage> Rosters<S> {
    /// A first roster.
    ///
    /// # Errors
    ///
    /// `NO_BACKENDS_CONFIGURED`, `MIRROR_ORIGIN_REQUIRED`, and those of [`add`](Self::add).
    pub(crate) fn new(
        mode: MuxMode,
        backends: Vec<Backend<S>>,
        seed: u64,
    ) -> Result<Self, MuxError> {
        if backends.is_empty() {
            return Err(MuxError::new(MuxCode::NoBackendsConfigured));
        }
        if mode == MuxMode::Shield && backends.len() < 2 {
            return Err(MuxError::new(MuxCode::MirrorOriginRequired).with_mode(mode));
        }
        let mut members: Vec<Arc<Member<S>>> = Vec::with_capacity(backends.len());
        for (at, backend) in backends.into_iter().enumerate() {
            inspect(mode, &backend)?;
            admit(&members, backend.name())?;
            members.push(Arc::new(Member::new(backend, mix(seed.wrapping_add(at as u64)))));
        }
        if mode == MuxMode::Weighted {
            check_sum(members.iter().map(|member| member.weight()))?;
        }
        let joined = AtomicU64::new(members.len() as u64);
        let current = Snapshot::new(Arc::new(Roster::of(members, mode)));
        Ok(Self { mode, current, change: Lock::new(()), seed, joined })
    }

    /// Adds a backend at the end of the order.
    ///
    /// # Errors
    ///
    /// `BACKEND_NAME_CONFLICT`, `CAPACITY_EXCEEDED`, `RECURSION_DEPTH_EXCEEDED`,
    /// `INVALID_OPTION` for a name that is empty or not printable, `INVALID_WEIGHT`,
    /// `WEIGHTED_REQUIRES_WEIGHTS`. Nothing has changed then.
    pub(crate) fn add(&self, backend: Backend<S>) -> Result<(), MuxError> {
        inspect(self.mode, &backend)?;
        let joined = self.joined.fetch_add(1, Ordering::Relaxed);
        let seed = mix(self.seed.wrapping_add(joined));
        // Made, and dropped where it is refused, outside of the lock: it holds a foreign storage.
        let newcomer = Arc::new(Member::new(backend, seed));
        self.replace(|roster| {
            admit(roster.members(), &newcomer.name)?;
            if self.mode == MuxMode::Weighted {
                let weights = roster.members().iter().map(|member| active_weight(member));
                check_sum(weights.chain([newcomer.weight()]))
                    .map_err(|error| error.with_backend(&newcomer.name))?;
            }
            Ok((roster.with(newcomer.clone(), self.mode), ()))
        })
    }
}

impl<S> Rosters<S> {
    pub(crate) fn load(&self) -> Loaded<Roster<S>> {
        self.current.load()
    }

    pub(super) const fn mode(&self) -> MuxMode {
        self.mode
    }

    /// Publishes the members as they stand now, after one has gone up or down.
    pub(crate) fn refresh(&self) {
        let refreshed: Result<(), core::convert::Infallible> =
            self.replace(|roster| Ok((roster.refreshed(self.mode), ())));
        match refreshed {
            Ok(()) => {}
            Err(never) => match never {},
        }
    }

    /// Gives a backend a new weight. Gives the old one.
    ///
    /// # Errors
    ///
    /// `INVALID_WEIGHT`, also where in weighted mode no weight would be left; `BACKEND_NOT_FOUND`.
    /// The old weights stay in force then.
    pub(crate) fn set_weight(&self, name: &str, weight: f64) -> Result<Option<f64>, MuxError> {
        let weight = Weight::new(weight).map_err(|error| error.with_backend(&name.into()))?;
        self.replace(|roster| {
            let at = roster.position(name).ok_or_else(|| not_found(name))?;
            let member = roster.member(at).ok_or_else(|| not_found(name))?;
            if self.mode == MuxMode::Weighted {
                let with_new = |(index, each): (usize, &Arc<Member<S>>)| {
                    if index == at { Some(weight) } else { active_weight(each) }
                };
                check_sum(roster.members().iter().enumerate().map(with_new))
                    .map_err(|error| error.with_backend(&member.name))?;
            }
            let old = member.weight().map(Weight::get);
            member.set_weight(weight);
            Ok((roster.refreshed(self.mode), old))
        })
    }

    /// Replaces the current snapshot by one made out of it. Changes are made one after the other.
    pub(super) fn replace<T, E>(
        &self,
        change: impl FnOnce(&Roster<S>) -> Result<(Roster<S>, T), E>,
    ) -> Result<T, E> {
        let (_replaced, result) = self.change.with(|()| {
            let current = self.current.load();
            match change(&current) {
                Ok((next, value)) => {
                    self.current.store(Arc::new(next));
                    (current, Ok(value))
                }
                Err(error) => (current, Err(error)),
            }
        });
        // The replaced snapshot drops here, after the lock: it may be the last to hold a storage.
        result
    }
}

/// Whether a backend could join any mux of this mode.
fn inspect<S: LocalStorage>(mode: MuxMode, backend: &Backend<S>) -> Result<(), MuxError> {
    let name = backend.name();
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(MuxError::new(MuxCode::InvalidOption)
            .with_backend(name)
            .with_detail("`name` must be printable text, and not empty"));
    }
    if backend.storage().depth() >= MAX_DEPTH {
        return Err(MuxError::new(MuxCode::RecursionDepthExceeded).with_backend(name));
    }
    match backend.weight() {
        Some(weight) => {
            Weight::new(weight).map_err(|error| error.with_backend(name))?;
        }
        None if mode == MuxMode::Weighted => {
            return Err(MuxError::new(MuxCode::WeightedRequiresWeights).with_backend(name));
        }
        None => {}
    }
    Ok(())
}

/// Whether a name may join `members`.
fn admit<S>(members: &[Arc<Member<S>>], name: &BackendName) -> Result<(), MuxError> {
    if members.iter().any(|member| member.name == *name) {
        return Err(MuxError::new(MuxCode::BackendNameConflict).with_backend(name));
    }
    if members.len() >= MAX_BACKENDS {
        return Err(MuxError::new(MuxCode::CapacityExceeded)
            .with_backend(name)
            .with_detail(alloc::format!("a mux takes {MAX_BACKENDS} backends")));
    }
    Ok(())
}

/// The weight of a backend that takes new calls.
fn active_weight<S>(member: &Member<S>) -> Option<Weight> {
    member.weight().filter(|_| !member.is_draining())
}

/// Whether anyone would get traffic.
fn check_sum(weights: impl Iterator<Item = Option<Weight>>) -> Result<(), MuxError> {
    if weights.flatten().any(|weight| weight.get() > 0.0) {
        Ok(())
    } else {
        let detail = "the weights add up to zero";
        Err(MuxError::new(MuxCode::InvalidWeight).with_detail(detail))
    }
}
