//! A case: a mux and its model, taken through the same steps and compared after each.

use std::panic::{AssertUnwindSafe, catch_unwind};

use storage_mux::{Instant, MuxMode};

use crate::action::{Action, MILLI, NAMES, Name, SECOND, SLOTS, Setup, Trouble};
use crate::compare::{compare, compare_logs};
use crate::draw::Draw;
use crate::generate;
use crate::model::Model;
use crate::real::Real;

/// How many timers a case meets while it waits for everybody to be served.
const PATIENCE: usize = 60;

pub(crate) struct Pair {
    pub(crate) model: Model,
    real: Real,
    /// The stores of the mux, by name: an old one may have left.
    names: Vec<Name>,
}

impl Pair {
    pub(crate) fn new(setup: &Setup) -> Self {
        let names = NAMES[..setup.weights.len()].to_vec();
        Self { model: Model::new(setup, &names), real: Real::new(setup, &names), names }
    }

    /// Lets both go on, and compares.
    fn sync(&mut self) -> Result<(), String> {
        self.real.run();
        let world = &mut self.model.world;
        world.now = self.real.now();
        world.observed =
            self.real.watch.record().asked.iter().map(|each| each.name.clone()).collect();
        self.model.run();
        compare(&mut self.model, &mut self.real)
    }

    /// Time passes, and every timer on the way is met on time.
    fn pass(&mut self, target: u64) -> Result<(), String> {
        while self.real.now() < target {
            self.real.advance_towards(target);
            self.sync()?;
        }
        Ok(())
    }

    fn leap(&mut self, to: u64) {
        self.real.clock.jump(Instant::from_nanos(to));
    }

    pub(crate) fn step(&mut self, action: &Action) -> Result<(), String> {
        if !self.model.can(action) {
            return Ok(());
        }
        let now = self.real.now();
        match action {
            Action::Pass(ms) => return self.pass(now.saturating_add(ms * MILLI)),
            Action::Edge { name, past } => {
                let id = self.model.world.find(name).ok_or("nobody has this name")?;
                let end = self.model.world.members[id].until;
                // Later than any other case waits for: only a leap should get there.
                if end.saturating_sub(now) < 200 * SECOND {
                    return self.pass(end.saturating_add_signed(*past));
                }
            }
            Action::Settle => {
                for _ in 0..PATIENCE {
                    if !self.model.is_busy() || !self.real.clock.advance_to_next() {
                        break;
                    }
                    self.sync()?;
                }
            }
            Action::Leap(ms) => self.leap(now.saturating_add(ms * MILLI)),
            Action::Back(ms) => self.leap(now.saturating_sub(ms * MILLI)),
            Action::Brink => self.leap(u64::MAX - SECOND),
            Action::Abort { leap_ms, .. } => self.leap(now.saturating_add(leap_ms * MILLI)),
            _ => {}
        }
        self.model.world.now = self.real.now();
        let world = &self.model.world;
        let expected_id: Vec<(Name, usize)> =
            world.roster.iter().map(|id| (world.members[*id].name, *id)).collect();
        let find = |name| expected_id.iter().find(|(known, _)| *known == name).map(|(_, id)| *id);
        let mux = self.real.act(find, action);
        let model = self.model.act(action);
        if model != mux {
            return Err(format!("the answer\n    model: {model:?}\n    mux:   {mux:?}"));
        }
        self.sync()
    }

    /// All stores heal, everybody is served or dropped, and nothing may be left.
    pub(crate) fn finish(mut self) -> Result<(), String> {
        for name in self.names.clone().into_iter().chain(NAMES) {
            self.step(&Action::Always { name, trouble: Trouble::None })?;
        }
        self.step(&Action::Settle)?;
        (0..SLOTS).try_for_each(|slot| self.step(&Action::Drop { slot }))?;
        for id in self.model.world.roster.clone() {
            let member = &self.model.world.members[id];
            // What is left is a check under way.
            if member.in_flight > 1 || (member.in_flight > 0 && self.model.checks.over) {
                return Err(format!("{} has calls in flight at rest", member.name));
            }
        }
        compare_logs(&self.model, &self.real)?;
        // With the last handle go the health checks, and with them the last timer.
        self.real.mux = None;
        self.real.run();
        self.model.checks.end(&mut self.model.world);
        compare(&mut self.model, &mut self.real)?;
        if self.real.clock.waiting() > 0 {
            return Err("a timer is left at rest".into());
        }
        Ok(())
    }
}

/// What went wrong, and after how many steps.
pub(crate) struct Failure {
    pub(crate) steps: usize,
    pub(crate) why: String,
}

/// A panic of the mux is a failure like any other.
fn guarded(at: usize, f: impl FnOnce() -> Result<(), String>) -> Result<(), Failure> {
    let why = match catch_unwind(AssertUnwindSafe(f)) {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(why)) => why,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            format!("a panic: {}", text.unwrap_or_default())
        }
    };
    Err(Failure { steps: at, why })
}

/// Takes a mux and its model through given steps.
pub(crate) fn replay(setup: &Setup, actions: &[Action]) -> Result<(), Failure> {
    let mut pair = Pair::new(setup);
    guarded(0, || pair.sync())?;
    for (at, action) in actions.iter().enumerate() {
        guarded(at + 1, || pair.step(action))?;
    }
    guarded(actions.len(), || pair.finish())
}

/// Makes up a case from a seed and takes it. Gives the case where it fails.
pub(crate) fn explore(
    mode: MuxMode,
    seed: u64,
) -> Result<usize, Box<(Setup, Vec<Action>, Failure)>> {
    let mut draw = Draw::new(seed);
    let setup = generate::setup(&mut draw, mode);
    let mut pair = Pair::new(&setup);
    let mut actions = Vec::new();
    let mut result = guarded(0, || pair.sync());
    for _ in 0..draw.below(60) + 10 {
        if result.is_err() {
            break;
        }
        let action = generate::action(&mut draw, &pair.model);
        actions.push(action.clone());
        result = guarded(actions.len(), || pair.step(&action));
    }
    let result = result.and_then(|()| guarded(actions.len(), || pair.finish()));
    match result {
        Ok(()) => Ok(actions.len()),
        Err(failure) => Err(Box::new((setup, actions, failure))),
    }
}

/// Leaves out steps as long as what is left still fails.
pub(crate) fn shrink(
    setup: &Setup,
    mut actions: Vec<Action>,
    mut failure: Failure,
) -> (Vec<Action>, Failure) {
    actions.truncate(failure.steps);
    let mut size = actions.len().div_ceil(2).max(1);
    loop {
        let mut at = 0;
        let mut smaller = false;
        while at < actions.len() {
            let mut fewer = actions.clone();
            fewer.drain(at..(at + size).min(fewer.len()));
            match replay(setup, &fewer) {
                Ok(()) => at += size,
                Err(found) => {
                    fewer.truncate(found.steps);
                    (actions, failure, smaller) = (fewer, found, true);
                }
            }
        }
        if size == 1 && !smaller {
            return (actions, failure);
        }
        size = if smaller { size } else { size / 2 }.max(1);
    }
}
