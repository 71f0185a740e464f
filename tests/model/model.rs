//! The model as a whole: slots in which calls, streams and drains are under way, polled in order
//! until nothing moves.

use std::mem::replace;

use crate::action::{Action, MILLI, Patience, SLOTS, Setup, Value};
use crate::attempt::Caller;
use crate::call::{Call, Ended};
use crate::checks::Checks;
use crate::fail::{Answer, Fail};
use crate::leave::Leave;
use crate::reader::Reader;
use crate::world::World;
use crate::writer::{Step, Writer};

/// What is in a slot.
pub(crate) enum Slot {
    Free,
    Calling(Box<Call>),
    Leaving(Leave),
    /// An open stream, and whether its next chunk is asked for.
    Reader(Box<Reader>, bool),
    Writer(Box<Writer>, Option<Step>),
}

impl Slot {
    /// Whether somebody waits for it.
    pub(crate) const fn is_busy(&self) -> bool {
        match self {
            Self::Free => false,
            Self::Calling(_) | Self::Leaving(_) => true,
            Self::Reader(_, busy) => *busy,
            Self::Writer(_, step) => step.is_some(),
        }
    }

    fn open_tries(&self) -> Vec<usize> {
        match self {
            Self::Free | Self::Leaving(_) => Vec::new(),
            Self::Calling(call) => call.open_tries(),
            Self::Reader(reader, _) => reader.open_tries(),
            Self::Writer(writer, _) => writer.open_tries(),
        }
    }

    fn waiting(&self) -> usize {
        match self {
            Self::Free => 0,
            Self::Calling(call) => call.waiting(),
            Self::Leaving(leave) => leave.waiting(),
            Self::Reader(reader, _) => reader.waiting(),
            Self::Writer(writer, _) => writer.waiting(),
        }
    }
}

pub(crate) struct Model {
    pub(crate) world: World,
    pub(crate) slots: [(Slot, Caller, bool); SLOTS],
    pub(crate) checks: Checks,
    /// What has ended since it was looked at last.
    pub(crate) ended: Vec<(usize, Result<Answer, Fail>)>,
}

impl Model {
    pub(crate) fn new(setup: &Setup, names: &[&'static str]) -> Self {
        let mut world = World::new(setup.clone());
        for ((weight, checked), name) in setup.weights.iter().zip(&setup.checked).zip(names) {
            world.join(name, *weight, *checked);
        }
        if setup.seeded {
            for member in &mut world.members {
                member.store.put(crate::action::KEYS[0], Value::Text(0).bytes());
            }
        }
        let slots = std::array::from_fn(|_| (Slot::Free, Caller::default(), false));
        Self { world, slots, checks: Checks::new(setup.interval_ms), ended: Vec::new() }
    }

    /// Timers that are waited for.
    pub(crate) fn waiting(&self) -> usize {
        self.checks.waiting() + self.slots.iter().map(|(slot, ..)| slot.waiting()).sum::<usize>()
    }

    /// How many tries of a backend are open whose signal has not aborted.
    pub(crate) fn live_signals(&self, id: usize) -> usize {
        let patient = self.slots.iter().filter(|(_, caller, _)| !caller.gone);
        let tries = patient.flat_map(|(slot, ..)| slot.open_tries());
        tries.chain(self.checks.open_tries()).filter(|open| *open == id).count()
    }

    /// Timers that were made since the beginning.
    pub(crate) fn timers(&self) -> u64 {
        let stores = self.world.members.iter().map(|member| member.store.timers);
        self.world.timers + stores.sum::<u64>()
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.slots.iter().any(|(slot, ..)| slot.is_busy())
    }

    /// Whether a step means anything in the present state.
    pub(crate) fn can(&self, action: &Action) -> bool {
        let slot = |at: &usize| &self.slots[*at].0;
        match action {
            Action::Start { slot: at, .. } | Action::Leave { slot: at, .. } => {
                matches!(slot(at), Slot::Free)
            }
            Action::Next { slot: at } => matches!(slot(at), Slot::Reader(_, false)),
            Action::Feed { slot: at, .. } | Action::Close { slot: at } => {
                matches!(slot(at), Slot::Writer(_, None))
            }
            Action::Abort { slot: at, .. } => {
                !matches!(slot(at), Slot::Free) && self.slots[*at].2 && !self.slots[*at].1.gone
            }
            Action::Drop { slot: at } => !matches!(slot(at), Slot::Free),
            Action::Once { name, .. }
            | Action::Always { name, .. }
            | Action::Stream { name, .. }
            | Action::Edge { name, .. } => self.world.find(name).is_some(),
            _ => true,
        }
    }

    /// Takes a step that takes no time. What it leads to is found by [`run`](Self::run).
    pub(crate) fn act(&mut self, action: &Action) -> Result<(), Fail> {
        let world = &mut self.world;
        let caller = |patience: &Patience| Caller {
            gone: *patience == Patience::Gone,
            deadline: match patience {
                Patience::Until(ms) => Some(world.now.saturating_add(ms * MILLI)),
                _ => None,
            },
        };
        match action {
            Action::Start { slot, request, patience } => {
                let (caller, signal) = (caller(patience), *patience == Patience::Signal);
                let call = Box::new(Call::new(world, *request));
                self.slots[*slot] = (Slot::Calling(call), caller, signal);
            }
            Action::Leave { slot, name, remove, patience } => {
                let (caller, signal) = (caller(patience), *patience == Patience::Signal);
                self.slots[*slot] = (Slot::Leaving(Leave::new(name, *remove)), caller, signal);
            }
            Action::Next { slot } => {
                if let (Slot::Reader(_, busy), ..) = &mut self.slots[*slot] {
                    *busy = true;
                }
            }
            Action::Feed { slot, chunk } => {
                if let (Slot::Writer(_, step), ..) = &mut self.slots[*slot] {
                    *step = Some(Step::Feed(chunk.bytes()));
                }
            }
            Action::Close { slot } => {
                if let (Slot::Writer(_, step), ..) = &mut self.slots[*slot] {
                    *step = Some(Step::Close);
                }
            }
            Action::Abort { slot, .. } => self.slots[*slot].1.gone = true,
            Action::Drop { slot } => match replace(&mut self.slots[*slot].0, Slot::Free) {
                Slot::Free | Slot::Leaving(_) => {}
                Slot::Calling(call) => call.abandon(world),
                Slot::Reader(reader, _) => reader.abandon(world),
                Slot::Writer(writer, _) => writer.abandon(world),
            },
            Action::Once { name, trouble } => {
                if let Some(id) = world.find(name) {
                    world.members[id].store.next.push_back(trouble.clone());
                }
            }
            Action::Always { name, trouble } => {
                if let Some(id) = world.find(name) {
                    world.members[id].store.always = Some(trouble.clone());
                }
            }
            Action::Stream { name, after, trouble } => {
                if let Some(id) = world.find(name) {
                    world.members[id].store.streams.push_back((*after, trouble.clone()));
                }
            }
            Action::Add { name, weight, checked } => return world.add(name, *weight, *checked),
            Action::Weigh { name, weight } => return world.weigh(name, *weight),
            Action::CloseMux => self.checks.closed = true,
            _ => {}
        }
        Ok(())
    }

    /// Lets everything go on as far as it can, in the order of the slots, until nothing moves.
    pub(crate) fn run(&mut self) {
        loop {
            self.world.stirred = false;
            for at in 0..SLOTS {
                self.poll(at);
            }
            self.checks.poll(&mut self.world);
            if !self.world.stirred {
                return;
            }
        }
    }

    fn poll(&mut self, at: usize) {
        let Self { world, slots, ended, .. } = self;
        let (slot, caller, _) = &mut slots[at];
        let (result, next) = match slot {
            Slot::Calling(call) => match call.poll(world, *caller) {
                None => return,
                Some(Err(fail)) => (Err(fail), Slot::Free),
                Some(Ok(Ended::Answer(answer))) => (Ok(answer), Slot::Free),
                Some(Ok(Ended::Reader(reader))) => {
                    (Ok(Answer::Opened), Slot::Reader(reader, false))
                }
                Some(Ok(Ended::Writer(writer))) => {
                    (Ok(Answer::Opened), Slot::Writer(Box::new(writer), None))
                }
            },
            Slot::Leaving(leave) => match leave.poll(world, *caller) {
                None => return,
                Some(result) => (result, Slot::Free),
            },
            Slot::Reader(reader, true) => match reader.poll(world, *caller) {
                None => return,
                Some(result) => {
                    let Slot::Reader(reader, _) = replace(slot, Slot::Free) else { return };
                    (result, Slot::Reader(reader, false))
                }
            },
            Slot::Writer(writer, Some(step)) => match writer.poll(world, *caller, step) {
                None => return,
                Some(result) => {
                    let Slot::Writer(writer, _) = replace(slot, Slot::Free) else { return };
                    (result, Slot::Writer(writer, None))
                }
            },
            Slot::Free | Slot::Reader(_, false) | Slot::Writer(_, None) => return,
        };
        *slot = next;
        world.stirred = true;
        ended.push((at, result));
    }
}
