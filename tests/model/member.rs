//! The model of a backend: its health and its figures.
//!
//! Clauses HE-1 to HE-6 and SA-1, and the page on health in the guide: an outcome counts only if its
//! call set out after the last change, and past a cooldown one call at a time probes.

use storage_mux::BackendStatus;

use crate::action::{MILLI, Name, Setup};
use crate::fail::{Class, Fail, NOT_FOUND};
use crate::store::Store;

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Ok,
    Miss,
    Semantic,
    Transient,
    Timeout,
    Abort,
}

impl Outcome {
    pub(crate) fn of(fail: &Fail) -> Self {
        match fail.class() {
            Class::Transient => Self::Transient,
            Class::Semantic if *fail == NOT_FOUND => Self::Miss,
            Class::Semantic => Self::Semantic,
            Class::Abort => Self::Abort,
        }
    }

    /// As the attribute of a span.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Miss | Self::Semantic => "semantic",
            Self::Transient => "transient",
            Self::Timeout => "timeout",
            Self::Abort => "abort",
        }
    }

    /// Whether a call moves on after it.
    pub(crate) const fn moves_on(self) -> bool {
        matches!(self, Self::Transient | Self::Timeout)
    }
}

/// What a call has seen of a backend's health when it set out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    changes: u32,
    failures: u32,
}

/// What a backend may be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Up,
    /// By one call, as a probe.
    Probe,
    /// By nobody: another call probes.
    Taken,
    /// By nobody, unless as a last resort.
    Resting,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Figures {
    pub(crate) hits: u64,
    pub(crate) misses: u64,
    pub(crate) errors: u64,
    pub(crate) timeouts: u64,
    pub(crate) cancelled: u64,
    pub(crate) last_latency: Option<u64>,
}

pub(crate) struct Member {
    pub(crate) name: Name,
    pub(crate) weight: Option<f64>,
    pub(crate) checked: bool,
    pub(crate) store: Store,
    pub(crate) down: bool,
    changes: u32,
    pub(crate) failures: u32,
    pub(crate) until: u64,
    pub(crate) since: Option<u64>,
    pub(crate) last_error: Option<Fail>,
    pub(crate) probed: bool,
    /// Since when it takes no new calls.
    pub(crate) draining: Option<u64>,
    pub(crate) removal_told: bool,
    pub(crate) in_flight: u64,
    pub(crate) figures: Figures,
    latencies: Vec<u64>,
}

impl Member {
    pub(crate) fn new(name: Name, weight: Option<f64>, checked: bool) -> Self {
        Self {
            name,
            weight: weight.map(|weight| weight + 0.0),
            checked,
            store: Store::default(),
            down: false,
            changes: 0,
            failures: 0,
            until: 0,
            since: None,
            last_error: None,
            probed: false,
            draining: None,
            removal_told: false,
            in_flight: 0,
            figures: Figures::default(),
            latencies: Vec::new(),
        }
    }

    pub(crate) const fn seen(&self) -> Seen {
        Seen { changes: self.changes, failures: self.failures }
    }

    pub(crate) const fn status(&self) -> BackendStatus {
        match (self.draining, self.down) {
            (Some(_), _) => BackendStatus::Draining,
            (None, true) => BackendStatus::Down,
            (None, false) => BackendStatus::Up,
        }
    }

    pub(crate) const fn standing(&self, now: u64) -> Standing {
        if !self.down {
            Standing::Up
        } else if self.probed {
            Standing::Taken
        } else if now >= self.until {
            Standing::Probe
        } else {
            Standing::Resting
        }
    }

    /// A failure at `now`. True where it takes the backend down.
    pub(crate) fn fail(&mut self, setup: &Setup, now: u64, seen: Seen, fail: &Fail) -> bool {
        if seen != self.seen() {
            return false;
        }
        let (base, cap) = (setup.cooldown_ms.0 * MILLI, setup.cooldown_ms.1 * MILLI);
        let grown = base.saturating_mul(1 << self.failures.min(6)).min(cap);
        let asked = fail.retry_after().map_or(0, |wait| wait.as_nanos() as u64);
        self.until = now.saturating_add(grown.max(asked));
        self.failures += 1;
        self.last_error = Some(fail.clone());
        let falls = !self.down;
        if falls {
            self.down = true;
            self.turn(now);
        }
        falls
    }

    /// An answer at `now`. The time that the backend was down, where this brings it back.
    pub(crate) fn succeed(&mut self, now: u64, seen: Seen) -> Option<u64> {
        if !self.down || seen.changes != self.changes {
            return None;
        }
        let down_for = now.saturating_sub(self.since.unwrap_or(now));
        self.down = false;
        self.failures = 0;
        self.turn(now);
        Some(down_for)
    }

    const fn turn(&mut self, now: u64) {
        self.changes += 1;
        self.since = Some(now);
    }

    /// Counts an attempt that has ended.
    pub(crate) fn count(&mut self, outcome: Outcome, latency: u64) {
        let figures = &mut self.figures;
        match outcome {
            Outcome::Ok => figures.hits += 1,
            Outcome::Miss => figures.misses += 1,
            Outcome::Semantic | Outcome::Transient => figures.errors += 1,
            Outcome::Timeout => {
                figures.errors += 1;
                figures.timeouts += 1;
            }
            Outcome::Abort => {
                figures.cancelled += 1;
                return;
            }
        }
        figures.last_latency = Some(latency);
        self.latencies.push(latency);
    }

    /// The nearest-rank percentile of all latencies. None while there are none, and once there are
    /// more than a sample holds.
    pub(crate) fn percentile(&self, percent: usize) -> Option<u64> {
        let mut sorted = self.latencies.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() * percent).div_ceil(100);
        sorted.get(rank.checked_sub(1)?).copied()
    }

    pub(crate) fn latencies_are_all_sampled(&self) -> bool {
        self.latencies.len() <= 256
    }
}
