//! The mux itself: several storages that act as one.
//!
//! - [`StorageMux`]: the handle. [`MuxBuilder`]: how one is made. [`MuxOptions`]: what can be set.
//! - `operations`: the storage operations, as plain calls and as a storage.
//! - `membership`: adding, removing, draining and weighing backends while calls are under way.
//! - `health_check`: the schedule of active checks, as a future that somebody runs.
//! - [`MuxStats`]: what it tells of itself.

mod builder;
#[cfg(feature = "serde")]
mod config;
mod health_check;
mod membership;
mod operations;
mod options;
mod report;
mod weak;

pub use builder::MuxBuilder;
pub use operations::With;
pub use options::MuxOptions;
pub use report::{BackendStats, BackendStatus, MuxStats};
pub use weak::WeakStorageMux;

use core::fmt;

use crate::drive::Engine;
use crate::port::{Clock, LocalStorage};
use crate::rng::Rng;
use crate::sync::{AbortController, Arc};

/// Several storages of one type that act as one.
///
/// Cheap to clone; clones share backends, health and statistics. Over one concrete storage type a
/// call allocates nothing. For kinds of backends side by side use
/// [`SharedStorage`](crate::SharedStorage) (many threads) or [`LocalHandle`](crate::LocalHandle)
/// (one thread) as the storage type. The mux is itself a storage, so muxes nest.
///
/// ```
/// use storage_mux::sim::{FakeClock, run};
/// use storage_mux::{Backend, MemoryStorage, MuxOptions, SeededRng, StorageMux};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let clock = FakeClock::new();
/// let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
///     .backend(Backend::new("primary", MemoryStorage::new()))
///     .backend(Backend::new("fallback", MemoryStorage::new()))
///     .build()?;
///
/// run(&clock, mux.set("greeting", "hello"))??;
/// assert_eq!(run(&clock, mux.get("greeting"))??, "hello");
/// assert_eq!(mux.stats().backends[0].hits, 2);
/// # Ok(())
/// # }
/// ```
pub struct StorageMux<S, C, R> {
    engine: Arc<Engine<S, C, R>>,
    alive: Arc<Alive>,
}

/// Held by every handle of a mux, and by nothing that works in the background: when the last
/// handle goes, so does that.
#[derive(Default)]
struct Alive(AbortController);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<S: LocalStorage, C: Clock, R: Rng> StorageMux<S, C, R> {
    /// Starts to build a mux that reads time from `clock` and draws from `rng`.
    pub fn builder(clock: C, rng: R) -> MuxBuilder<S, C, R> {
        MuxBuilder::new(clock, rng)
    }

    /// What the mux has counted so far.
    #[must_use]
    pub fn stats(&self) -> MuxStats {
        report::stats(&self.engine)
    }

    /// What the mux has counted of one backend. `None` for a name that nobody has.
    #[must_use]
    pub fn backend_stats(&self, name: &str) -> Option<BackendStats> {
        report::backend_stats(&self.engine, name)
    }

    /// The clock that the mux was built with.
    #[must_use]
    pub fn clock(&self) -> &C {
        &self.engine.clock
    }
}

impl<S, C, R> Clone for StorageMux<S, C, R> {
    fn clone(&self) -> Self {
        Self { engine: self.engine.clone(), alive: self.alive.clone() }
    }
}

impl<S, C, R> fmt::Debug for StorageMux<S, C, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let roster = self.engine.rosters.load();
        f.debug_struct("StorageMux")
            .field("mode", &self.engine.settings.mode)
            .field("backends", &roster.members())
            .finish_non_exhaustive()
    }
}
