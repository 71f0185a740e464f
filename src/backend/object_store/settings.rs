//! What a backend was told about its store.

use core::fmt;
use std::path::PathBuf;

use super::names::Names;
use super::probe::Probe;
use crate::error::StorageError;

/// The smallest part that every store with uploads in parts takes: 5 MiB.
pub(super) const MIN_PART_BYTES: usize = 5 * 1024 * 1024;

/// The longest key by default: the limit of the large object stores.
const MAX_KEY_BYTES: u32 = 1024;

/// The longest path that the system takes, the closing NUL included.
const PATH_BYTES: usize = if cfg!(target_vendor = "apple") { 1024 } else { 4096 };

/// What the separator after the root, the closing NUL and the store's mark of an unfinished file
/// take of a path.
const PATH_EXTRA_BYTES: usize = 16;

#[derive(Clone)]
pub(super) struct Settings {
    pub(super) names: Names,
    pub(super) conditional_writes: bool,
    pub(super) sorted_listing: bool,
    pub(super) part_bytes: usize,
    pub(super) parts_in_flight: usize,
    pub(super) max_partial_bytes: u64,
    pub(super) probe: Option<Probe>,
}

impl Settings {
    pub(super) const fn bucket() -> Self {
        Self {
            names: Names {
                plain: false,
                folder: false,
                max_key_bytes: MAX_KEY_BYTES,
                max_name_bytes: MAX_KEY_BYTES as usize,
            },
            conditional_writes: false,
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
        let max_name_bytes =
            PATH_BYTES.saturating_sub(root.as_os_str().len()).saturating_sub(PATH_EXTRA_BYTES);
        let mut settings = Self::bucket();
        settings.names.folder = true;
        settings.names.max_name_bytes = max_name_bytes;
        settings.names.max_key_bytes = MAX_KEY_BYTES.min(longest_key(max_name_bytes));
        settings.probe = Some(Probe::folder(root));
        settings
    }

    /// Asks whether the store is there at all, where there is a way to ask.
    pub(super) async fn probe(&self) -> Result<(), StorageError> {
        match &self.probe {
            Some(probe) => probe.ask().await,
            None => Ok(()),
        }
    }

    /// A missing key is only that while the store is there.
    pub(super) async fn explain(&self, error: StorageError) -> StorageError {
        if !error.is_key_not_found() {
            return error;
        }
        self.probe().await.err().unwrap_or(error)
    }
}

/// The longest key whose name fits, whatever the key: an escape makes three bytes of one, and a
/// part that is cut takes three more for each piece of 240.
fn longest_key(max_name_bytes: usize) -> u32 {
    u32::try_from(max_name_bytes.saturating_sub(8).saturating_mul(10) / 31).unwrap_or(u32::MAX)
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("names", &self.names)
            .field("conditional_writes", &self.conditional_writes)
            .field("sorted_listing", &self.sorted_listing)
            .field("part_bytes", &self.part_bytes)
            .field("parts_in_flight", &self.parts_in_flight)
            .field("max_partial_bytes", &self.max_partial_bytes)
            .field("probe", &self.probe.is_some())
            .finish()
    }
}
