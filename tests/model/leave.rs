//! The model of changes of membership. Clauses MU-1 to MU-3, DR-1 to DR-5, WT-2 and WT-3.

use storage_mux::MuxMode;

use crate::action::{Name, Setup};
use crate::attempt::Caller;
use crate::fail::{Answer, Fail, MuxFail};
use crate::watch::Told;
use crate::world::World;

/// An error that is about one backend.
fn about(code: &'static str, name: &str) -> Fail {
    MuxFail { backend: Some(name.into()), ..Fail::mux(code) }.into()
}

fn is_weight(weight: f64) -> bool {
    weight.is_finite() && weight >= 0.0
}

impl World {
    /// A backend joins at the end of the order, or does not and nothing is told.
    pub(crate) fn add(
        &mut self,
        name: Name,
        weight: Option<f64>,
        checked: bool,
    ) -> Result<(), Fail> {
        match weight {
            Some(weight) if !is_weight(weight) => {
                return Err(about("STORAGE_MUX.INVALID_WEIGHT", name));
            }
            None if self.setup.mode == MuxMode::Weighted => {
                return Err(about("STORAGE_MUX.WEIGHTED_REQUIRES_WEIGHTS", name));
            }
            _ => {}
        }
        if self.find(name).is_some() {
            return Err(about("STORAGE_MUX.BACKEND_NAME_CONFLICT", name));
        }
        if self.setup.mode == MuxMode::Weighted && !self.anyone_weighs(None, weight) {
            return Err(about("STORAGE_MUX.INVALID_WEIGHT", name));
        }
        self.join(name, weight, checked);
        self.told.push(Told::Added { name: name.into(), weight });
        Ok(())
    }

    /// Whether anybody would get traffic if this one had this weight.
    fn anyone_weighs(&self, this: Option<usize>, weight: Option<f64>) -> bool {
        let others = self.roster.iter().filter(|other| Some(**other) != this);
        let others = others.map(|other| &self.members[*other]);
        let active = others.filter(|other| other.draining.is_none()).map(|other| other.weight);
        active.chain([weight]).flatten().any(|weight| weight > 0.0)
    }

    /// A backend has a new weight, or the old one stays in force.
    pub(crate) fn weigh(&mut self, name: Name, weight: f64) -> Result<(), Fail> {
        if !is_weight(weight) {
            return Err(about("STORAGE_MUX.INVALID_WEIGHT", name));
        }
        let Some(id) = self.find(name) else {
            return Err(about("STORAGE_MUX.BACKEND_NOT_FOUND", name));
        };
        if self.setup.mode == MuxMode::Weighted && !self.anyone_weighs(Some(id), Some(weight)) {
            return Err(about("STORAGE_MUX.INVALID_WEIGHT", name));
        }
        let weight = weight + 0.0;
        let from = self.members[id].weight.replace(weight);
        self.told.push(Told::Weighed { name: name.into(), from, to: weight });
        Ok(())
    }
}

/// Somebody waits for a backend to leave.
pub(crate) struct Leave {
    name: Name,
    remove: bool,
    /// Who leaves, once that was looked up.
    id: Option<usize>,
    /// When the caller no longer waits; `None` inside where it always does.
    limit: Option<Option<u64>>,
}

impl Leave {
    pub(crate) const fn new(name: Name, remove: bool) -> Self {
        Self { name, remove, id: None, limit: None }
    }

    /// Timers that are waited for.
    pub(crate) const fn waiting(&self) -> usize {
        matches!(self.limit, Some(Some(_))) as usize
    }

    pub(crate) fn poll(
        &mut self,
        world: &mut World,
        caller: Caller,
    ) -> Option<Result<Answer, Fail>> {
        let name = self.name;
        // AB-3: who has given up before has asked for nothing.
        if self.id.is_none() && caller.gone {
            return Some(Err(about("STORAGE_MUX.BACKEND_ABORTED", name)));
        }
        let id = match self.id.or_else(|| world.find(name)) {
            Some(id) => id,
            None => return Some(Err(about("STORAGE_MUX.BACKEND_NOT_FOUND", name))),
        };
        let now = world.now;
        let member = &mut world.members[id];
        if self.id.replace(id).is_none() && member.draining.is_none() {
            member.draining = Some(now);
            let in_flight = member.in_flight;
            world.told.push(Told::DrainStarted { name: name.into(), in_flight });
        }
        if world.members[id].in_flight > 0 {
            return self.waits(world, caller).then(|| {
                self.limit = None;
                Err(about("STORAGE_MUX.BACKEND_ABORTED", name))
            });
        }
        self.limit = None;
        if let Some(place) = world.roster.iter().position(|other| *other == id) {
            world.roster.remove(place);
            let took = now.saturating_sub(world.members[id].draining.unwrap_or(now));
            world.told.push(Told::DrainCompleted { name: name.into(), took });
        }
        if self.remove && !std::mem::replace(&mut world.members[id].removal_told, true) {
            world.told.push(Told::Removed { name: name.into() });
        }
        Some(Ok(Answer::Done))
    }

    /// Waits, and says whether the caller no longer does.
    fn waits(&mut self, world: &mut World, caller: Caller) -> bool {
        if caller.gone {
            return true;
        }
        let limit = *self.limit.get_or_insert_with(|| {
            world.timers += u64::from(caller.deadline.is_some());
            caller.deadline.map(|deadline| deadline.max(world.now))
        });
        limit.is_some_and(|at| at < u64::MAX && world.now >= at)
    }
}

/// Checks that a set of weights can make a mux, for the generator.
pub(crate) fn can_be_built(setup: &Setup) -> bool {
    let weights = || setup.weights.iter().copied();
    weights().flatten().all(is_weight)
        && (setup.mode != MuxMode::Weighted
            || weights().all(|weight| weight.is_some())
                && weights().flatten().any(|weight| weight > 0.0))
        && setup.weights.len() >= if setup.mode == MuxMode::Shield { 2 } else { 1 }
}
