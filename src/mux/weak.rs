//! A handle that does not keep the mux alive.

use core::fmt;

use super::{Alive, StorageMux};
use crate::drive::Engine;
use crate::sync::{Arc, Weak};

/// A handle of a mux that keeps nothing alive: for whoever the mux itself holds, such as an event
/// sink that calls back. A strong handle there would be a circle, and the mux would never end.
///
/// ```
/// use std::sync::OnceLock;
/// use storage_mux::sim::FakeClock;
/// use storage_mux::{Backend, Event, MemoryStorage, SeededRng, StorageMux, WeakStorageMux};
///
/// type Mux = WeakStorageMux<MemoryStorage, FakeClock, SeededRng>;
/// static MUX: OnceLock<Mux> = OnceLock::new();
///
/// let mux = StorageMux::builder(FakeClock::new(), SeededRng::new(1))
///     .backend(Backend::new("only", MemoryStorage::new()))
///     .event_sink(|event: &Event| {
///         if let Some(mux) = MUX.get().and_then(Mux::upgrade) {
///             println!("{}: {} calls so far", event.topic(), mux.stats().total_calls);
///         }
///     })
///     .build()?;
/// let _ = MUX.set(mux.downgrade());
/// # Ok::<(), storage_mux::MuxError>(())
/// ```
pub struct WeakStorageMux<S, C, R> {
    engine: Weak<Engine<S, C, R>>,
    alive: Weak<Alive>,
}

impl<S, C, R> StorageMux<S, C, R> {
    /// A handle that does not keep the mux alive.
    #[must_use]
    pub fn downgrade(&self) -> WeakStorageMux<S, C, R> {
        WeakStorageMux { engine: Arc::downgrade(&self.engine), alive: Arc::downgrade(&self.alive) }
    }
}

impl<S, C, R> WeakStorageMux<S, C, R> {
    /// The mux, while another handle of it lives.
    #[must_use]
    pub fn upgrade(&self) -> Option<StorageMux<S, C, R>> {
        // The token first: a stream may keep the engine after the last handle is gone.
        let alive = self.alive.upgrade()?;
        Some(StorageMux { engine: self.engine.upgrade()?, alive })
    }
}

impl<S, C, R> Clone for WeakStorageMux<S, C, R> {
    fn clone(&self) -> Self {
        Self { engine: self.engine.clone(), alive: self.alive.clone() }
    }
}

impl<S, C, R> fmt::Debug for WeakStorageMux<S, C, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakStorageMux").field("gone", &self.alive.upgrade().is_none()).finish()
    }
}
