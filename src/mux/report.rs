//! What a mux tells of itself.

use alloc::vec::Vec;
use core::time::Duration;

use crate::drive::Engine;
use crate::error::StorageError;
use crate::mux_mode::MuxMode;
use crate::name::BackendName;
use crate::roster::Member;
use crate::sync::Ordering;
use crate::time::Instant;

/// Whether a backend is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum BackendStatus {
    /// It is healthy.
    Up,
    /// It has failed and rests until its cooldown is over and a probe succeeds.
    Down,
    /// It finishes the calls that it has and takes no new ones.
    Draining,
}

/// What a mux has counted since it was built.
///
/// Read without stopping anything, so under load the figures are of slightly different moments.
/// Counters wrap after 2^64.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct MuxStats {
    /// The mode.
    pub mode: MuxMode,
    /// Calls that were begun, those that found no usable backend among them; not those that were
    /// refused as aborted, unsupported, nested too deeply or for their key.
    pub total_calls: u64,
    /// Moves of a call from one backend to the next.
    pub total_failovers: u64,
    /// Writes that reached some backends and not others.
    pub total_fanout_partials: u64,
    /// The backends, in the order of the mux.
    pub backends: Vec<BackendStats>,
}

/// What a mux has counted of one backend.
///
/// Each attempt counts once, when it ends: attempts = hits + misses + errors + cancelled.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct BackendStats {
    /// The name.
    pub name: BackendName,
    /// Whether it is asked.
    pub status: BackendStatus,
    /// Attempts that were answered.
    pub hits: u64,
    /// Attempts that were answered with "key not found".
    pub misses: u64,
    /// Attempts that ended in any other error, timeouts included.
    pub errors: u64,
    /// Attempts that ended in a timeout.
    pub timeouts: u64,
    /// Attempts that the caller gave up or dropped. They say nothing about the backend.
    pub cancelled: u64,
    /// How long the last attempt took, its tries in place and the waits between them included; of a
    /// stream, up to its first chunk. None before the first.
    pub last_latency: Option<Duration>,
    /// The median of a sample of 256 over the whole life. None before the first.
    pub p50_latency: Option<Duration>,
    /// The 99th percentile of the same sample.
    pub p99_latency: Option<Duration>,
    /// Failures in a row that counted; calls that fail together count as one.
    pub consecutive_failures: u32,
    /// Until when it rests. None while it is up.
    pub cooldown_until: Option<Instant>,
    /// The last failure that counted, also after a recovery.
    pub last_error: Option<StorageError>,
    /// When it last went up or down. None if it never did.
    pub last_transition: Option<Instant>,
    /// Calls that it serves right now, open streams included.
    pub in_flight: u64,
}

pub(super) fn stats<S, C, R>(engine: &Engine<S, C, R>) -> MuxStats {
    let roster = engine.rosters.load();
    MuxStats {
        mode: engine.settings.mode,
        total_calls: engine.totals.calls.sum(),
        total_failovers: engine.totals.failovers.load(Ordering::Relaxed),
        total_fanout_partials: engine.totals.fanout_partials.load(Ordering::Relaxed),
        backends: roster.members().iter().map(|member| backend(member)).collect(),
    }
}

pub(super) fn backend_stats<S, C, R>(engine: &Engine<S, C, R>, name: &str) -> Option<BackendStats> {
    let roster = engine.rosters.load();
    roster.member(roster.position(name)?).map(|member| backend(member))
}

fn backend<S>(member: &Member<S>) -> BackendStats {
    let counted = member.counters.read();
    let percentiles = member.latencies.percentiles();
    let health = member.health.observe();
    let status = if member.is_draining() {
        BackendStatus::Draining
    } else if health.is_up {
        BackendStatus::Up
    } else {
        BackendStatus::Down
    };
    BackendStats {
        name: member.name.clone(),
        status,
        hits: counted.hits,
        misses: counted.misses,
        errors: counted.errors,
        timeouts: counted.timeouts,
        cancelled: counted.cancelled,
        last_latency: counted.last_latency,
        p50_latency: percentiles.map(|each| each.p50),
        p99_latency: percentiles.map(|each| each.p99),
        consecutive_failures: health.consecutive_failures,
        cooldown_until: health.cooldown_until,
        last_error: health.last_error,
        last_transition: health.last_transition,
        in_flight: member.in_flight(),
    }
}
