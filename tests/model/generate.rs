//! Makes up cases: what is likely to matter in the present state, and now and then anything.

use storage_mux::MuxMode;

use crate::action::{Action, If, KEYS, Key, NAMES, Name, Patience, Request, SLOTS, Setup, Trouble};
use crate::action::{MILLI, Value};
use crate::draw::Draw;
use crate::fail::Wrong;
use crate::leave::can_be_built;
use crate::model::{Model, Slot};

const WEIGHTS: [Option<f64>; 5] = [Some(1.0), Some(2.5), Some(0.0), Some(9.0), None];
const BAD_WEIGHTS: [f64; 4] = [-1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

pub(crate) fn setup(draw: &mut Draw, mode: MuxMode) -> Setup {
    loop {
        let count = draw.below(5) + 1;
        let base = draw.one(&[500, 1_000]);
        let setup = Setup {
            mode,
            weights: (0..count).map(|_| draw.one(&WEIGHTS)).collect(),
            checked: (0..count).map(|_| draw.chance(50)).collect(),
            seeded: draw.chance(70),
            keep_signals: draw.chance(50),
            timeout_ms: draw.one(&[200, 1_000]),
            tries: draw.one(&[1, 1, 2, 3]),
            wait_ms: draw.one(&[0, 50, 300]),
            cooldown_ms: (base, draw.one(&[base, 4 * base, 60_000])),
            throw: draw.chance(30),
            interval_ms: draw.one(&[None, None, Some(700), Some(3_000)]),
            seed: draw.next(),
        };
        if can_be_built(&setup) {
            return setup;
        }
    }
}

pub(crate) fn action(draw: &mut Draw, model: &Model) -> Action {
    let slots = || model.slots.iter().enumerate();
    let free: Vec<usize> =
        slots().filter(|(_, s)| matches!(s.0, Slot::Free)).map(|s| s.0).collect();
    let taken: Vec<usize> = (0..SLOTS).filter(|at| !free.contains(at)).collect();
    let idle: Vec<usize> =
        taken.iter().copied().filter(|at| !model.slots[*at].0.is_busy()).collect();
    match draw.below(100) {
        0..34 if free.len() > 1 || (!free.is_empty() && draw.chance(30)) => {
            let slot = draw.one(&free);
            Action::Start { slot, request: request(draw, model), patience: patience(draw, model) }
        }
        34..48 if !idle.is_empty() => {
            let slot = draw.one(&idle);
            stream_step(draw, model, slot)
        }
        34..56 => Action::Once { name: member(draw, model), trouble: trouble(draw, model) },
        56..59 => Action::Always { name: member(draw, model), trouble: trouble(draw, model) },
        59..61 => Action::Always { name: member(draw, model), trouble: Trouble::None },
        61..66 => {
            let after = draw.one(&[0, 1, 1, 2]);
            Action::Stream { name: member(draw, model), after, trouble: trouble(draw, model) }
        }
        66..69 if !taken.is_empty() => {
            Action::Abort { slot: draw.one(&taken), leap_ms: draw.one(&[0, 0, 50, 200, 1_000]) }
        }
        69..72 if !taken.is_empty() => Action::Drop { slot: draw.one(&taken) },
        72..80 => membership(draw, model, &free),
        80 => Action::CloseMux,
        81 => Action::Leap(draw.one(&[50, 400, 5_000, 3_600_000])),
        82 => Action::Back(draw.one(&[1, 600, 10_000])),
        83 if draw.chance(30) => Action::Brink,
        84..88 => Action::Settle,
        88..94 => Action::Pass(draw.one(&[1, 49, 50, 200, 700, 1_000, 5_000])),
        _ => edge(draw, model),
    }
}

/// A name of the mux, or now and then any name.
fn member(draw: &mut Draw, model: &Model) -> Name {
    let world = &model.world;
    if world.roster.is_empty() || draw.chance(3) {
        return draw.one(&NAMES);
    }
    world.members[draw.one(&world.roster)].name
}

/// To the end of a cooldown, to a nanosecond before, or past it.
fn edge(draw: &mut Draw, model: &Model) -> Action {
    let world = &model.world;
    let down = world.roster.iter().map(|id| &world.members[*id]).filter(|member| member.down);
    let down: Vec<Name> = down.map(|member| member.name).collect();
    if down.is_empty() {
        return Action::Pass(draw.one(&[1, 50, 1_000]));
    }
    Action::Edge { name: draw.one(&down), past: draw.one(&[-1, 0, 0, 1, 500 * MILLI as i64]) }
}

fn patience(draw: &mut Draw, model: &Model) -> Patience {
    let timeout = model.world.setup.timeout_ms;
    match draw.below(20) {
        0..10 => Patience::Endless,
        10..16 => Patience::Signal,
        16 => Patience::Gone,
        17 => Patience::Until(draw.one(&[0, 1])),
        _ => Patience::Until(draw.one(&[40, 50, 51, timeout - 1, timeout, timeout + 1])),
    }
}

fn key(draw: &mut Draw) -> Key {
    if draw.chance(60) { KEYS[0] } else { draw.one(&KEYS) }
}

fn value(draw: &mut Draw) -> Value {
    match draw.below(12) {
        0 => Value::Empty,
        1 | 2 => Value::Big(b'a' + draw.below(26) as u8),
        _ => Value::Text(draw.below(1_000) as u16),
    }
}

fn request(draw: &mut Draw, model: &Model) -> Request {
    let key = key(draw);
    match draw.below(22) {
        0..4 => Request::Get(key),
        4..7 => Request::Set(key, value(draw)),
        7 | 8 => Request::SetPartial(key, draw.below(9) as u64, value(draw)),
        9 | 10 => Request::Has(key),
        11 => Request::Delete(key),
        12 => {
            let after = draw.one(&[None, None, Some(KEYS[0]), Some("k/")]);
            Request::List(draw.one(&["", "k", "k/", "x"]), after, draw.below(3) + 1)
        }
        13 => Request::Stat(key),
        14..17 => Request::GetStream(key),
        17..19 => Request::SetStream(key),
        19 => {
            let (start, size) = (draw.below(4) as u64, draw.below(80_000) as u64);
            Request::GetRange(key, start, draw.one(&[start, start + 1, start + size]))
        }
        _ => Request::SetIf(key, value(draw), condition(draw, model, key)),
    }
}

fn condition(draw: &mut Draw, model: &Model, key: &str) -> If {
    let world = &model.world;
    if world.roster.is_empty() || draw.chance(30) {
        return If::Absent;
    }
    let id = if draw.chance(60) { world.roster[0] } else { draw.one(&world.roster) };
    let known = world.members[id].store.values.get(key).map(|(_, version)| *version);
    If::Version(known.unwrap_or(1))
}

fn wrong(draw: &mut Draw) -> Wrong {
    match draw.below(20) {
        0..5 => Wrong::Http(draw.one(&[500, 503, 599, 408, 429])),
        5 => Wrong::Http(draw.one(&[403, 404, 409, 499, 600, 301])),
        6 => Wrong::Busy(draw.one(&[429, 503]), draw.one(&[1, 700, 90_000])),
        7 | 8 => Wrong::Reset,
        9 => Wrong::Other,
        10..13 => Wrong::NotFound,
        13 | 14 => Wrong::Expired,
        15 => Wrong::Unsupported,
        16 => Wrong::Aborted,
        17 | 18 => Wrong::NestedDown,
        _ => Wrong::NestedNo,
    }
}

fn trouble(draw: &mut Draw, model: &Model) -> Trouble {
    let timeout = model.world.setup.timeout_ms;
    let wait = draw.one(&[1, 10, 50, 51, timeout - 1, timeout, timeout + 1, 2 * timeout]);
    match draw.below(20) {
        0..7 => Trouble::Fail(wrong(draw)),
        7..12 => Trouble::Delay(wait),
        12..15 => Trouble::DelayThenFail(wait, wrong(draw)),
        15 | 16 => Trouble::LoseAnswer(wrong(draw)),
        17 | 18 => Trouble::Hang,
        _ => Trouble::None,
    }
}

fn stream_step(draw: &mut Draw, model: &Model, slot: usize) -> Action {
    let over = match &model.slots[slot].0 {
        Slot::Reader(reader, _) => reader.is_over(),
        Slot::Writer(writer, _) => writer.is_over(),
        Slot::Free | Slot::Calling(_) | Slot::Leaving(_) => false,
    };
    if over && draw.chance(60) {
        return Action::Drop { slot };
    }
    match &model.slots[slot].0 {
        Slot::Writer(..) if draw.chance(60) => {
            Action::Feed { slot, chunk: Value::Text(draw.below(100) as u16) }
        }
        Slot::Writer(..) => Action::Close { slot },
        _ => Action::Next { slot },
    }
}

fn membership(draw: &mut Draw, model: &Model, free: &[usize]) -> Action {
    let weight = |draw: &mut Draw| {
        if draw.chance(15) { Some(draw.one(&BAD_WEIGHTS)) } else { draw.one(&WEIGHTS) }
    };
    match draw.below(8) {
        0..3 => {
            Action::Add { name: draw.one(&NAMES), weight: weight(draw), checked: draw.chance(50) }
        }
        3 | 4 => {
            let weight = weight(draw).unwrap_or(-0.0);
            Action::Weigh { name: member(draw, model), weight }
        }
        _ => {
            let slot = if free.is_empty() { draw.below(SLOTS) } else { draw.one(free) };
            let (name, remove) = (member(draw, model), draw.chance(40));
            Action::Leave { slot, name, remove, patience: patience(draw, model) }
        }
    }
}
