//! An immutable list of the backends of a mux.

use alloc::vec::Vec;

use hashbrown::HashMap;

use super::Member;
use crate::health::Standing;
use crate::mode::{self, BackendSet, View, Weights};
use crate::mux_mode::MuxMode;
use crate::name::BackendName;
use crate::port::{Capabilities, LocalStorage};
use crate::sync::Arc;
use crate::time::Instant;

/// What nobody rules out: a mux that is empty for the moment refuses nothing for good.
const NOBODY: Capabilities = Capabilities::all(u32::MAX);

/// The members at one moment, in the order of the mux, and how they stood then.
#[derive(Debug)]
pub(crate) struct Roster<S> {
    members: Vec<Arc<Member<S>>>,
    index: HashMap<BackendName, usize>,
    /// Those that take new calls and were healthy.
    up: BackendSet,
    /// Those that take new calls and were not.
    down: BackendSet,
    capabilities: Capabilities,
    weights: Weights,
    depth: usize,
}

impl<S> Roster<S> {
    pub(super) fn of(members: Vec<Arc<Member<S>>>, mode: MuxMode) -> Self {
        let index = members.iter().enumerate().map(|(at, each)| (each.name.clone(), at)).collect();
        let capabilities = members
            .iter()
            .map(|member| member.capabilities)
            .reduce(Capabilities::intersection)
            .unwrap_or(NOBODY);
        let (mut up, mut down) = (BackendSet::EMPTY, BackendSet::EMPTY);
        for (at, member) in members.iter().enumerate().filter(|(_, each)| !each.is_draining()) {
            if member.health.stamp().is_up() { up.insert(at) } else { down.insert(at) }
        }
        let weights = if mode == MuxMode::Weighted {
            Weights::new(members.iter().map(|member| member.weight()), up)
        } else {
            Weights::none()
        };
        let capabilities = mode::capabilities(mode, capabilities);
        let depth = members.iter().map(|member| member.depth).max().unwrap_or(0);
        Self { members, index, up, down, capabilities, weights, depth }
    }

    /// The same members as they stand now.
    pub(super) fn refreshed(&self, mode: MuxMode) -> Self {
        Self::of(self.members.clone(), mode)
    }

    /// The same members and one more, at the end of the order.
    pub(super) fn with(&self, newcomer: Arc<Member<S>>, mode: MuxMode) -> Self {
        let mut members = self.members.clone();
        members.push(newcomer);
        Self::of(members, mode)
    }

    /// The same members without one. `None` where it is not among them.
    pub(super) fn without(&self, gone: &Arc<Member<S>>, mode: MuxMode) -> Option<Self> {
        let rest: Vec<_> =
            self.members.iter().filter(|member| !Arc::ptr_eq(member, gone)).cloned().collect();
        (rest.len() < self.members.len()).then(|| Self::of(rest, mode))
    }

    /// The first in the order of the mux that takes new calls.
    pub(crate) const fn origin(&self) -> Option<usize> {
        self.up.union(self.down).first()
    }

    /// All that take new calls.
    pub(crate) const fn active(&self) -> BackendSet {
        self.up.union(self.down)
    }

    pub(crate) const fn weights(&self) -> &Weights {
        &self.weights
    }

    pub(crate) fn members(&self) -> &[Arc<Member<S>>] {
        &self.members
    }

    pub(crate) fn member(&self, at: usize) -> Option<&Arc<Member<S>>> {
        self.members.get(at)
    }

    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    /// What every member could do when it joined.
    pub(crate) const fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// How many muxes were nested in the deepest member when it joined.
    pub(crate) const fn depth(&self) -> usize {
        self.depth
    }

    /// What every member can do now. A member that is a mux may have changed since it joined.
    pub(crate) fn capabilities_now(&self, mode: MuxMode) -> Capabilities
    where
        S: LocalStorage,
    {
        let each = self.members.iter().map(|member| member.storage.capabilities());
        let shared = each.reduce(Capabilities::intersection);
        mode::capabilities(mode, shared.unwrap_or(NOBODY))
    }

    /// Who can be asked at `now`, for a call that starts.
    ///
    /// While all were healthy when the snapshot was taken this looks at no member: had one failed
    /// since, there would be a newer snapshot, or one is on its way.
    pub(crate) fn view(&self, now: Instant) -> View {
        if self.down.is_empty() {
            View { up: self.up, ..View::default() }
        } else {
            self.view_now(now)
        }
    }

    /// Who can be asked at `now`, member by member, for a call that has to move on.
    pub(crate) fn view_now(&self, now: Instant) -> View {
        let mut view = View::default();
        for at in self.up.union(self.down).iter() {
            let Some(member) = self.members.get(at) else { continue };
            match member.health.standing(now) {
                Standing::Up => view.up.insert(at),
                Standing::Probe => view.probe.insert(at),
                Standing::Resting => view.resting.insert(at),
                Standing::Probing => {}
            }
        }
        view
    }
}
