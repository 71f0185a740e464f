//! The events of a mux and their topics.

use alloc::vec::Vec;
use core::time::Duration;

use crate::error::StorageError;
use crate::mux_mode::MuxMode;
use crate::name::BackendName;

/// Something happened to a backend or to a call.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(tag = "topic"))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Event {
    /// A backend failed and is out until its cooldown has passed and a probe has succeeded.
    #[cfg_attr(feature = "serde", serde(rename = "storage-mux.backend.down"))]
    BackendDown {
        /// The backend.
        name: BackendName,
        /// Why.
        cause: StorageError,
        /// The code of the cause.
        code: &'static str,
    },
    /// A backend that was down has answered.
    #[cfg_attr(feature = "serde", serde(rename = "storage-mux.backend.recovered"))]
    BackendRecovered {
        /// The backend.
        name: BackendName,
        /// How long it was down.
        down_for: Duration,
    },
    /// A call moved on from one backend to the next.
    #[cfg_attr(feature = "serde", serde(rename = "storage-mux.failover"))]
    Failover {
        /// The backend that failed.
        from: BackendName,
        /// The backend that is asked next.
        to: BackendName,
        /// The attempt that failed, counted from zero.
        attempt_index: u32,
        /// Its error.
        cause: StorageError,
    },
    /// A write reached some backends and not others.
    #[cfg_attr(feature = "serde", serde(rename = "storage-mux.fanout-partial"))]
    FanoutPartial {
        /// The mode of the mux.
        mode: MuxMode,
        /// Every backend that lacks the write, in the order of the mux.
        failed: Vec<BackendName>,
        /// Why, one for each of `failed`.
        causes: Vec<StorageError>,
    },
    /// A backend takes no new calls.
    #[cfg_attr(feature = "serde", serde(rename = "storage-mux.drain.started"))]
    DrainStarted {
        /// The backend.
        name: BackendName,
        /// How many calls it still serves.
        in_flight: u64,
    },
    /// A draining backend has served its last call and left the set.
    #[cfg_attr(feature = "serde", serde(rename = "storage-mux.drain.completed"))]
    DrainCompleted {
        /// The backend.
        name: BackendName,
        /// How long the drain took.
        duration: Duration,
    },
    /// A backend joined the set.
    #[cfg_attr(feature = "serde", serde(rename = "storage-mux.backend.added"))]
    BackendAdded {
        /// The backend.
        name: BackendName,
        /// Its weight, where it has one.
        weight: Option<f64>,
    },
    /// A backend left the set.
    #[cfg_attr(feature = "serde", serde(rename = "storage-mux.backend.removed"))]
    BackendRemoved {
        /// The backend.
        name: BackendName,
    },
    /// A backend has a new weight.
    #[cfg_attr(feature = "serde", serde(rename = "storage-mux.weight.changed"))]
    WeightChanged {
        /// The backend.
        name: BackendName,
        /// The weight it had, where it had one.
        from: Option<f64>,
        /// The weight it has now.
        to: f64,
    },
}

impl Event {
    /// The topic: a wire contract.
    #[must_use]
    pub const fn topic(&self) -> &'static str {
        match self {
            Self::BackendDown { .. } => "storage-mux.backend.down",
            Self::BackendRecovered { .. } => "storage-mux.backend.recovered",
            Self::Failover { .. } => "storage-mux.failover",
            Self::FanoutPartial { .. } => "storage-mux.fanout-partial",
            Self::DrainStarted { .. } => "storage-mux.drain.started",
            Self::DrainCompleted { .. } => "storage-mux.drain.completed",
            Self::BackendAdded { .. } => "storage-mux.backend.added",
            Self::BackendRemoved { .. } => "storage-mux.backend.removed",
            Self::WeightChanged { .. } => "storage-mux.weight.changed",
        }
    }
}
