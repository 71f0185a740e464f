//! What a backend was told about its store.

use core::fmt;
use std::path::PathBuf;

use crate::backend::names::Names;
use crate::backend::probe::{Probe, ask, explain};
use crate::error::StorageError;

/// The smallest part that every store with uploads in parts takes: 5 MiB.
pub(super) const MIN_PART_BYTES: usize = 5 * 1024 * 1024;

/// Which conditions of `set_if` the store knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conditions {
    None,
    /// That the key is absent, and no more.
    Absent,
    All,
}

#[derive(Clone)]
pub(super) struct Settings {
    pub(super) names: Names,
    pub(super) conditions: Conditions,
    pub(super) sorted_listing: bool,
    pub(super) part_bytes: usize,
    pub(super) parts_in_flight: usize,
    pub(super) max_partial_bytes: u64,
    pub(super) probe: Option<Probe>,
}

impl Settings {
    pub(super) const fn bucket() -> Self {
        Self {
            names: Names::bucket(),
            conditions: Conditions::None,
            sorted_listing: false,
            part_bytes: MIN_PART_BYTES,
            parts_in_flight: 2,
            max_partial_bytes: 256 * 1024 * 1024,
            probe: None,
        }
    }

    pub(super) fn folder(root: PathBuf) -> Self {
        // The store resolves links once, when it is made; look at the same place.
        let root = root.canonicalize().unwrap_or(root);
        let mut settings = Self::bucket();
        settings.names = Names::folder(root.as_os_str().len());
        settings.probe = Some(Probe::folder(root));
        settings
    }

    /// Asks whether the store is there at all, where there is a way to ask.
    pub(super) async fn probe(&self) -> Result<(), StorageError> {
        ask(self.probe.as_ref()).await
    }

    /// A missing key is only that while the store is there.
    pub(super) async fn explain(&self, error: StorageError) -> StorageError {
        explain(self.probe.as_ref(), error).await
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("names", &self.names)
            .field("conditions", &self.conditions)
            .field("sorted_listing", &self.sorted_listing)
            .field("part_bytes", &self.part_bytes)
            .field("parts_in_flight", &self.parts_in_flight)
            .field("max_partial_bytes", &self.max_partial_bytes)
            .field("probe", &self.probe.is_some())
            .finish()
    }
}
