//! The modes: pure choices over a list of usable backends.
//!
//! A mode knows nothing of health, clocks, futures or of the other modes. It is asked two things:
//! which driver an operation needs ([`plan`]), and, where backends are asked one after the other,
//! who is next ([`next`]).

mod alias_table;
mod failover;
mod mirror;
mod round_robin;
mod set;
mod shield;
mod sticky_by_key;
mod weighted;

pub(crate) use alias_table::AliasTable;
pub(crate) use set::BackendSet;
pub(crate) use weighted::{Weight, Weights};

use crate::mux_mode::MuxMode;
use crate::port::{Capabilities, Operation};

/// How many backends a mux may have: one bit each in a [`BackendSet`].
pub(crate) const MAX_BACKENDS: usize = 64;

/// Which driver performs an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// One backend after the other until one answers.
    InTurn,
    /// All usable ones at once; the first answer wins.
    Race,
    /// All usable ones at once; all are waited for.
    Settle(Quorum),
}

/// Whose success makes a write that goes to several backends a success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quorum {
    /// The first backend's, which is therefore asked even when it is down.
    Origin,
    /// Anyone's.
    Any,
}

/// Who can be asked, as it stands at this moment. The three sets have no backend in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct View {
    /// Healthy.
    pub(crate) up: BackendSet,
    /// Down, but the cooldown has passed and nobody probes yet.
    pub(crate) probe: BackendSet,
    /// Down and in cooldown.
    pub(crate) resting: BackendSet,
}

/// Everything that the choice of the next backend may depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn<'a> {
    pub(crate) operation: Operation,
    pub(crate) key: Option<&'a str>,
    pub(crate) view: View,
    /// The first in the order of the mux that takes new calls.
    pub(crate) origin: Option<usize>,
    /// Already asked in this call, or found to take no calls.
    pub(crate) tried: BackendSet,
    /// The one asked last in this call.
    pub(crate) last: Option<usize>,
    pub(crate) weights: &'a Weights,
}

/// Where a mode takes chance and order from. Both are drawn only where a mode needs them.
pub(crate) trait Lots {
    /// A number that goes up by one with each draw.
    fn ticket(&self) -> u64;

    /// A random number.
    fn draw(&self) -> u64;
}

/// Chooses the driver of an operation.
pub(crate) const fn plan(mode: MuxMode, operation: Operation) -> Plan {
    match mode {
        MuxMode::Failover | MuxMode::RoundRobin | MuxMode::Weighted | MuxMode::StickyByKey => {
            Plan::InTurn
        }
        MuxMode::Shield => shield::plan(operation),
        MuxMode::Mirror => mirror::plan(operation),
    }
}

/// Chooses who is asked next. `None` ends the call.
#[inline(always)]
pub(crate) fn next(mode: MuxMode, turn: &Turn<'_>, lots: &impl Lots) -> Option<usize> {
    match mode {
        MuxMode::Failover => failover::next(turn),
        MuxMode::RoundRobin => round_robin::next(turn, lots),
        MuxMode::Weighted => weighted::next(turn, lots),
        MuxMode::StickyByKey => sticky_by_key::next(turn, lots),
        MuxMode::Shield => shield::next(turn),
        // Races and fan-outs take all usable backends: nobody is next.
        MuxMode::Mirror => None,
    }
}

/// What a mux can do in a mode whose backends can all do `shared`.
pub(crate) const fn capabilities(mode: MuxMode, shared: Capabilities) -> Capabilities {
    match mode {
        MuxMode::Mirror => mirror::capabilities(shared),
        _ => shared,
    }
}

#[cfg(test)]
pub(crate) mod testing {
    //! Turns and lots for the tests of the modes.

    use super::*;
    use crate::rng::Rng;
    use crate::sync::{AtomicU64, Ordering, SeededRng};

    pub(crate) fn set(indices: &[usize]) -> BackendSet {
        indices.iter().copied().collect()
    }

    pub(crate) static NO_WEIGHTS: Weights = Weights::none();

    pub(crate) fn turn(up: &[usize], tried: &[usize]) -> Turn<'static> {
        Turn {
            operation: Operation::Get,
            key: Some("k"),
            view: View { up: set(up), ..View::default() },
            origin: Some(0),
            tried: set(tried),
            last: tried.last().copied(),
            weights: &NO_WEIGHTS,
        }
    }

    /// Tickets from a start, draws from a seed.
    pub(crate) struct TestLots(pub(crate) AtomicU64, pub(crate) SeededRng);

    impl TestLots {
        pub(crate) fn new(first: u64, seed: u64) -> Self {
            Self(AtomicU64::new(first), SeededRng::new(seed))
        }
    }

    impl Lots for TestLots {
        fn ticket(&self) -> u64 {
            self.0.fetch_add(1, Ordering::Relaxed)
        }

        fn draw(&self) -> u64 {
            self.1.next_u64()
        }
    }
}
