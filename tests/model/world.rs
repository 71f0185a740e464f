//! The model of a mux, calls apart: who belongs to it, and what it has told and counted.

use std::collections::BTreeMap;

use crate::action::{Name, Request, Setup};
use crate::fail::{Fail, MuxFail};
use crate::member::{Member, Outcome, Seen, Standing};
use crate::watch::{Asked, Called, Told};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Totals {
    pub(crate) calls: u64,
    pub(crate) failovers: u64,
    pub(crate) partials: u64,
}

/// A place in the set that a call sets out with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seat {
    pub(crate) id: usize,
    pub(crate) weight: f64,
    /// Whether it took new calls then.
    pub(crate) open: bool,
}

/// Who can be asked at one moment, by place.
#[derive(Clone, Debug, Default)]
pub(crate) struct View {
    pub(crate) up: Vec<usize>,
    pub(crate) probe: Vec<usize>,
    pub(crate) resting: Vec<usize>,
}

pub(crate) struct World {
    pub(crate) setup: Setup,
    pub(crate) now: u64,
    /// All that ever joined.
    pub(crate) members: Vec<Member>,
    /// Those that belong to the mux, in order.
    pub(crate) roster: Vec<usize>,
    pub(crate) totals: Totals,
    /// How many calls have gone around the circle.
    pub(crate) turns: u64,
    pub(crate) told: Vec<Told>,
    pub(crate) called: Vec<Called>,
    pub(crate) asked: Vec<Asked>,
    pub(crate) tries: BTreeMap<String, u64>,
    pub(crate) waits: usize,
    /// Timers made, those of the stores apart.
    pub(crate) timers: u64,
    /// Whether something has happened that another call may wait for.
    pub(crate) stirred: bool,
    /// The backends that the real mux has asked, in order: what chance has chosen is read here.
    pub(crate) observed: Vec<String>,
    /// What the model cannot agree with.
    pub(crate) strange: Vec<String>,
}

impl World {
    pub(crate) fn new(setup: Setup) -> Self {
        Self {
            setup,
            now: 0,
            members: Vec::new(),
            roster: Vec::new(),
            totals: Totals::default(),
            turns: 0,
            told: Vec::new(),
            called: Vec::new(),
            asked: Vec::new(),
            tries: BTreeMap::new(),
            waits: 0,
            timers: 0,
            stirred: false,
            observed: Vec::new(),
            strange: Vec::new(),
        }
    }

    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.roster.iter().copied().find(|id| self.members[*id].name == name)
    }

    pub(crate) fn join(&mut self, name: Name, weight: Option<f64>, checked: bool) {
        self.roster.push(self.members.len());
        self.members.push(Member::new(name, weight, checked));
    }

    /// The set as a call that starts now sees it.
    pub(crate) fn seats(&self) -> Vec<Seat> {
        let seat = |id: &usize| {
            let member = &self.members[*id];
            Seat { id: *id, weight: member.weight.unwrap_or(0.0), open: member.draining.is_none() }
        };
        self.roster.iter().map(seat).collect()
    }

    pub(crate) fn view(&self, seats: &[Seat]) -> View {
        let mut view = View::default();
        for (at, seat) in seats.iter().enumerate().filter(|(_, seat)| seat.open) {
            match self.members[seat.id].standing(self.now) {
                Standing::Up => view.up.push(at),
                Standing::Probe => view.probe.push(at),
                Standing::Resting => view.resting.push(at),
                Standing::Taken => {}
            }
        }
        view
    }

    /// What an outcome does to the health of a backend, and who hears of it.
    pub(crate) fn judge(&mut self, id: usize, outcome: Outcome, fail: Option<&Fail>, seen: Seen) {
        let member = &mut self.members[id];
        let name = member.name.to_owned();
        match (outcome, fail) {
            (Outcome::Abort, _) => {}
            (Outcome::Transient | Outcome::Timeout, Some(fail)) => {
                if member.fail(&self.setup, self.now, seen, fail) {
                    self.told.push(Told::Down { name, cause: fail.clone(), code: fail.code() });
                }
            }
            _ => {
                if let Some(down_for) = member.succeed(self.now, seen) {
                    self.told.push(Told::Recovered { name, down_for });
                }
            }
        }
    }

    /// A call or a check has left a backend.
    pub(crate) fn leave(&mut self, id: usize) {
        self.members[id].in_flight -= 1;
        self.stirred = true;
    }

    pub(crate) fn count_try(&mut self, outcome: &str) {
        *self.tries.entry(outcome.to_owned()).or_default() += 1;
    }

    /// Opens the span of a call.
    pub(crate) fn call(&mut self, request: &Request) -> usize {
        let key = request.key().map(str::to_owned);
        self.called.push(Called { name: request.operation().span_name(), key, ends: 0 });
        self.called.len() - 1
    }

    /// Ends the span of a call.
    pub(crate) fn hang_up(&mut self, call: usize) {
        self.called[call].ends += 1;
    }

    /// No backend could serve a call that has tried so many.
    pub(crate) fn all_down(&self, tried: usize) -> MuxFail {
        MuxFail { tried: Some(tried as u32), ..Fail::mux("STORAGE_MUX.ALL_BACKENDS_DOWN") }
    }

    /// The caller gave up while a backend was asked.
    pub(crate) fn aborted(&self, id: usize, index: u32, cause: Fail) -> Fail {
        let (backend, index) = (Some(self.members[id].name.to_owned()), Some(index));
        MuxFail { backend, index, cause: Some(cause), ..Fail::mux("STORAGE_MUX.BACKEND_ABORTED") }
            .into()
    }

    /// A backend did not answer in time.
    pub(crate) fn timed_out(&self, id: usize, index: Option<u32>) -> Fail {
        let backend = Some(self.members[id].name.to_owned());
        MuxFail { backend, index, ..Fail::mux("STORAGE_MUX.BACKEND_TIMEOUT") }.into()
    }
}
