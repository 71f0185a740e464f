//! How a mux is made.

use alloc::vec::Vec;
use core::fmt;

use super::{Alive, MuxOptions, StorageMux};
use crate::drive::{Engine, Watchers};
use crate::error::MuxError;
use crate::port::{Clock, EventSink, LocalStorage, Meter, Tracer};
use crate::rng::Rng;
use crate::roster::{Backend, Rosters};
use crate::stats::Totals;
use crate::sync::{Apart, Arc};

/// Collects what a mux is made of. Everything is checked at once, in [`build`](Self::build).
pub struct MuxBuilder<S, C, R> {
    clock: C,
    rng: R,
    backends: Vec<Backend<S>>,
    options: MuxOptions,
    watchers: Watchers,
}

impl<S: LocalStorage, C: Clock, R: Rng> MuxBuilder<S, C, R> {
    pub(super) fn new(clock: C, rng: R) -> Self {
        Self {
            clock,
            rng,
            backends: Vec::new(),
            options: MuxOptions::new(),
            watchers: Watchers::default(),
        }
    }

    /// Adds a backend. The order of adding is the order of the mux.
    #[must_use]
    pub fn backend(mut self, backend: Backend<S>) -> Self {
        self.backends.push(backend);
        self
    }

    /// Adds several backends.
    #[must_use]
    pub fn backends(mut self, backends: impl IntoIterator<Item = Backend<S>>) -> Self {
        self.backends.extend(backends);
        self
    }

    /// Sets the options.
    #[must_use]
    pub fn options(mut self, options: MuxOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets who hears of events.
    #[must_use]
    pub fn event_sink(mut self, sink: impl EventSink + 'static) -> Self {
        self.watchers.set_sink(sink);
        self
    }

    /// Sets who opens spans.
    #[must_use]
    pub fn tracer(mut self, tracer: impl Tracer + 'static) -> Self {
        self.watchers.set_tracer(tracer);
        self
    }

    /// Sets who records measurements.
    #[must_use]
    pub fn meter(mut self, meter: impl Meter + 'static) -> Self {
        self.watchers.set_meter(meter);
        self
    }

    /// Makes the mux. No backend is asked anything but what it can do.
    ///
    /// # Errors
    ///
    /// `NO_BACKENDS_CONFIGURED`; `BACKEND_NAME_CONFLICT`; `INVALID_OPTION` for an option out of
    /// range or a name that is empty or not printable; `CAPACITY_EXCEEDED` for more than 64
    /// backends; `RECURSION_DEPTH_EXCEEDED` where muxes would be nested more than eight deep;
    /// `INVALID_WEIGHT` for a weight that is none, and in weighted mode for a sum of zero;
    /// `WEIGHTED_REQUIRES_WEIGHTS`; `MIRROR_ORIGIN_REQUIRED` for shield with one backend.
    pub fn build(self) -> Result<StorageMux<S, C, R>, MuxError> {
        let settings = self.options.settings()?;
        let rosters = Rosters::new(settings.mode, self.backends, self.rng.next_u64())?;
        Ok(StorageMux {
            engine: Arc::new(Engine {
                rosters,
                clock: self.clock,
                rng: Apart(self.rng),
                settings,
                watchers: self.watchers,
                totals: Totals::default(),
                tickets: Apart::default(),
            }),
            alive: Arc::new(Alive::default()),
        })
    }
}

impl<S, C, R> fmt::Debug for MuxBuilder<S, C, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MuxBuilder")
            .field("backends", &self.backends.iter().map(Backend::name).collect::<Vec<_>>())
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
