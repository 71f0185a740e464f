//! The model of the modes: who is asked next, written from the contract and the guide.

use storage_mux::MuxMode;

use crate::action::Request;
use crate::world::{Seat, View, World};

/// Which way a call goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// One backend after the other.
    InTurn,
    /// All at once, the first value wins.
    Race,
    /// All at once, all are waited for; the first backend decides, or anyone does.
    All { origin_decides: bool },
}

pub(crate) fn way(mode: MuxMode, request: &Request) -> Way {
    let writes = request.operation().is_write();
    match mode {
        MuxMode::Mirror if writes => Way::All { origin_decides: false },
        MuxMode::Mirror => Way::Race,
        MuxMode::Shield if writes && !matches!(request, Request::SetIf(..)) => {
            Way::All { origin_decides: true }
        }
        _ => Way::InTurn,
    }
}

/// What a call knows when it chooses.
pub(crate) struct Turn<'a> {
    pub(crate) request: &'a Request,
    pub(crate) seats: &'a [Seat],
    pub(crate) view: &'a View,
    /// Places that were asked already, or turned out to take no calls.
    pub(crate) tried: &'a [usize],
    pub(crate) last: Option<usize>,
}

impl Turn<'_> {
    fn untried(&self, places: &[usize]) -> Vec<usize> {
        places.iter().copied().filter(|at| !self.tried.contains(at)).collect()
    }

    /// Up, or due for a probe, in the order of the mux.
    fn usable(&self) -> Vec<usize> {
        let mut usable = self.untried(&self.view.up);
        usable.extend(self.untried(&self.view.probe));
        usable.sort_unstable();
        usable
    }
}

/// The place of the backend that is asked next.
pub(crate) fn next(world: &mut World, turn: &Turn<'_>) -> Option<usize> {
    match world.setup.mode {
        MuxMode::Failover => in_order(turn),
        // A conditional write is the origin's alone, whatever its health.
        MuxMode::Shield if matches!(turn.request, Request::SetIf(..)) => {
            let origin = turn.seats.iter().position(|seat| seat.open)?;
            turn.untried(&[origin]).first().copied()
        }
        MuxMode::Shield => in_order(turn),
        MuxMode::RoundRobin => around(world, turn),
        MuxMode::StickyByKey => match turn.request.key() {
            Some(key) => at_home(key, turn),
            None => around(world, turn),
        },
        MuxMode::Weighted => by_weight(world, turn),
        MuxMode::Mirror => None,
    }
}

/// FO-1, FO-4: in order, those in cooldown only when there is nobody else.
fn in_order(turn: &Turn<'_>) -> Option<usize> {
    let usable = turn.usable().first().copied();
    usable.or_else(|| turn.untried(&turn.view.resting).first().copied())
}

/// RR-1, RR-2, RR-4: a new call takes its turn among the usable, one that moves on goes around.
fn around(world: &mut World, turn: &Turn<'_>) -> Option<usize> {
    let usable = turn.usable();
    let Some(last) = turn.last else {
        let rank = world.turns;
        world.turns += 1;
        return (!usable.is_empty()).then(|| usable[(rank % usable.len() as u64) as usize]);
    };
    usable.iter().find(|at| **at > last).or(usable.first()).copied()
}

fn fnv_1a_64(key: &str) -> u64 {
    key.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// ST-1, ST-2, ST-4. A backend past its cooldown is probed by a new call whose key is at home
/// there; all other calls count the healthy ones, and probe only when there are none.
fn at_home(key: &str, turn: &Turn<'_>) -> Option<usize> {
    let pick = |places: &[usize]| {
        let count = places.len() as u64;
        (count > 0).then(|| places[(fnv_1a_64(key) % count) as usize])
    };
    let (up, probe) = (turn.untried(&turn.view.up), turn.untried(&turn.view.probe));
    let home = pick(&turn.usable()).filter(|home| turn.tried.is_empty() && probe.contains(home));
    home.or_else(|| pick(&up)).or_else(|| probe.first().copied())
}

/// WT-1, WT-4, WT-5. A backend past its cooldown is probed by the next call, if it has a weight;
/// apart from that chance chooses, and the model follows as long as the choice is legal.
fn by_weight(world: &mut World, turn: &Turn<'_>) -> Option<usize> {
    let weighs = |at: &usize| turn.seats[*at].weight > 0.0;
    if let Some(probe) = turn.untried(&turn.view.probe).into_iter().find(weighs) {
        return Some(probe);
    }
    let mut legal = turn.untried(&turn.view.up);
    // One that drains since the call set out is found to do so, and passed over.
    legal.retain(|at| weighs(at) && world.members[turn.seats[*at].id].draining.is_none());
    let observed = world.observed.get(world.asked.len()).cloned();
    let name = |at: &usize| world.members[turn.seats[*at].id].name;
    let chosen = legal.iter().copied().find(|at| observed.as_deref() == Some(name(at)));
    if chosen.is_none() && !legal.is_empty() {
        let names: Vec<_> = legal.iter().map(name).collect();
        world.strange.push(format!("one of {names:?} should be asked, and {observed:?} was"));
        return legal.first().copied();
    }
    chosen
}
