//! The model of the health checks. Clauses HC-1 to HC-3.

use storage_mux::Operation;

use crate::action::{CHECKED, MILLI, Request};
use crate::fail::{Class, Fail, MuxFail};
use crate::member::{Outcome, Seen};
use crate::store::Work;
use crate::world::World;

/// The schedule: one check of each backend per interval, never two at a time, never a burst.
pub(crate) struct Checks {
    interval: Option<u64>,
    tick: Option<u64>,
    running: Vec<Check>,
    pub(crate) closed: bool,
    pub(crate) over: bool,
}

struct Check {
    id: usize,
    seen: Option<Seen>,
    work: Option<Work>,
    limit: Option<u64>,
}

impl Checks {
    pub(crate) fn new(interval_ms: Option<u64>) -> Self {
        let interval = interval_ms.map(|ms| ms * MILLI);
        Self { interval, tick: None, running: Vec::new(), closed: false, over: false }
    }

    /// Timers that are waited for.
    pub(crate) fn waiting(&self) -> usize {
        let each = |check: &Check| {
            check.work.as_ref().map_or(0, Work::waiting) + usize::from(check.limit.is_some())
        };
        usize::from(self.tick.is_some()) + self.running.iter().map(each).sum::<usize>()
    }

    /// The backends of which a check is under way.
    pub(crate) fn open_tries(&self) -> impl Iterator<Item = usize> {
        self.running.iter().filter(|check| check.seen.is_some()).map(|check| check.id)
    }

    pub(crate) fn poll(&mut self, world: &mut World) {
        let Some(interval) = self.interval else {
            self.over = true;
            return;
        };
        if self.over {
            return;
        }
        loop {
            let tick = *self.tick.get_or_insert_with(|| {
                world.timers += 1;
                world.now.saturating_add(interval)
            });
            if self.closed {
                self.end(world);
                return;
            }
            self.running.retain_mut(|check| check.poll(world).is_none());
            if tick == u64::MAX || world.now < tick {
                return;
            }
            self.tick = None;
            for id in world.roster.clone() {
                let busy = self.running.iter().any(|check| check.id == id);
                if world.members[id].checked && !busy {
                    self.running.push(Check { id, seen: None, work: None, limit: None });
                }
            }
        }
    }

    /// The mux is closed, or nobody has it any more: what runs is dropped.
    pub(crate) fn end(&mut self, world: &mut World) {
        self.over = true;
        self.tick = None;
        for check in std::mem::take(&mut self.running) {
            if check.seen.is_some() {
                world.leave(check.id);
            }
        }
    }
}

impl Check {
    fn poll(&mut self, world: &mut World) -> Option<()> {
        let member = &mut world.members[self.id];
        if self.seen.is_none() {
            if member.draining.is_some() {
                return Some(());
            }
            member.in_flight += 1;
            self.seen = Some(member.seen());
            self.work = Some(Work::start(&mut member.store, Operation::Has, CHECKED));
        }
        let (seen, work) = (self.seen?, self.work.as_mut()?);
        let cause = match work.poll(&mut member.store, &Request::Has(CHECKED), world.now, false) {
            Some(Ok(_)) => None,
            Some(Err(fail)) => Some(fail),
            None => {
                let limit = *self.limit.get_or_insert_with(|| {
                    world.timers += 1;
                    world.now.saturating_add(world.setup.timeout_ms * MILLI)
                });
                if limit == u64::MAX || world.now < limit {
                    return None;
                }
                Some(world.timed_out(self.id, None))
            }
        };
        match cause.as_ref().map(Fail::class) {
            Some(Class::Abort) => {}
            Some(Class::Transient) => {
                let backend = Some(world.members[self.id].name.to_owned());
                let failed = Fail::mux("STORAGE_MUX.HEALTHCHECK_FAILED");
                let failed = MuxFail { backend, cause, ..failed }.into();
                world.judge(self.id, Outcome::Transient, Some(&failed), seen);
            }
            Some(Class::Semantic) | None => world.judge(self.id, Outcome::Ok, None, seen),
        }
        world.leave(self.id);
        Some(())
    }
}
