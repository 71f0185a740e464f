//! The model of an attempt: one backend is asked, with retries in place, under a timeout.
//!
//! Clauses BH-1, AB-2 to AB-5, RC-1 and RC-3.

use crate::action::{MILLI, Request};
use crate::fail::{ABORTED, Fail, MuxFail};
use crate::member::{Outcome, Seen};
use crate::store::{Reply, Work};
use crate::watch::Asked;
use crate::world::World;

/// What a caller has said about how long it waits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Caller {
    pub(crate) gone: bool,
    pub(crate) deadline: Option<u64>,
}

/// The end of a wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    at: u64,
    /// Whether it is the caller who no longer waits, and not the mux.
    by_caller: bool,
}

impl Limit {
    /// The timer of a wait that begins now.
    pub(crate) fn set(world: &mut World, caller: Caller) -> Self {
        let timeout = world.setup.timeout_ms * MILLI;
        let left = caller.deadline.map(|deadline| deadline.saturating_sub(world.now));
        world.timers += 1;
        let wait = left.map_or(timeout, |left| left.min(timeout));
        let by_caller = left.is_some_and(|left| left < timeout);
        Self { at: world.now.saturating_add(wait), by_caller }
    }

    /// What the end of the wait means, once it has come. The end of time never comes.
    pub(crate) fn passed(self, now: u64) -> Option<Outcome> {
        let passed = self.at < u64::MAX && now >= self.at;
        passed.then_some(if self.by_caller { Outcome::Abort } else { Outcome::Timeout })
    }
}

enum Phase {
    Due,
    Asked(Work, Option<Limit>),
    /// Until when it waits before it asks again.
    Waits(u64),
}

pub(crate) struct Attempt {
    pub(crate) id: usize,
    pub(crate) index: u32,
    span: usize,
    started: u64,
    seen: Seen,
    probes: bool,
    /// Time to the answer, where that came before the end; of a stream, to its first chunk.
    latency: Option<u64>,
    tries: u32,
    phase: Phase,
}

/// How an attempt went that gave no answer.
pub(crate) type Ended = (Outcome, Fail);

impl Attempt {
    /// Routes a call to a backend. `None` where that takes no new calls.
    pub(crate) fn open(
        world: &mut World,
        call: usize,
        id: usize,
        index: usize,
        probes: bool,
    ) -> Option<Self> {
        let started = world.now;
        let member = &mut world.members[id];
        if member.draining.is_some() {
            return None;
        }
        member.in_flight += 1;
        member.probed |= probes;
        let (name, index) = (member.name.to_owned(), index as u32);
        let seen = member.seen();
        let (call, ends) = (Some(call), Vec::new());
        world.asked.push(Asked { call, name, index: u64::from(index), ends });
        let span = world.asked.len() - 1;
        let (latency, tries, phase) = (None, 0, Phase::Due);
        Some(Self { id, index, span, started, seen, probes, latency, tries, phase })
    }

    /// Timers that are waited for.
    pub(crate) fn waiting(&self) -> usize {
        match &self.phase {
            Phase::Due => 0,
            Phase::Asked(work, limit) => work.waiting() + usize::from(limit.is_some()),
            Phase::Waits(_) => 1,
        }
    }

    /// The backend, where a try of it is under way or has an answer that is not booked.
    pub(crate) fn open_try(&self) -> Option<usize> {
        (!matches!(self.phase, Phase::Waits(_))).then_some(self.id)
    }

    /// Goes on as far as it can. A failure is booked, an answer is not yet: a stream goes on.
    pub(crate) fn poll(
        &mut self,
        world: &mut World,
        request: &Request,
        caller: Caller,
    ) -> Option<Result<Reply, Ended>> {
        loop {
            let failed = match &mut self.phase {
                Phase::Waits(_) if caller.gone => {
                    world.count_try("aborted");
                    return Some(Err(self.fail(world, (Outcome::Abort, ABORTED))));
                }
                Phase::Waits(until) if *until == u64::MAX || world.now < *until => return None,
                Phase::Due | Phase::Waits(_) => match self.ask(world, request, caller) {
                    Ok(()) => continue,
                    Err(failed) => failed,
                },
                Phase::Asked(work, limit) => {
                    let store = &mut world.members[self.id].store;
                    match work.poll(store, request, world.now, caller.gone) {
                        Some(Ok(reply)) => {
                            world.count_try("success");
                            self.phase = Phase::Due;
                            return Some(Ok(reply));
                        }
                        Some(Err(fail)) => (Outcome::of(&fail), fail),
                        None if caller.gone => (Outcome::Abort, ABORTED),
                        None => {
                            let limit = *limit.get_or_insert_with(|| Limit::set(world, caller));
                            match limit.passed(world.now)? {
                                Outcome::Abort => (Outcome::Abort, ABORTED),
                                late => (late, world.timed_out(self.id, Some(self.index))),
                            }
                        }
                    }
                }
            };
            if let Some(ended) = self.after(world, failed, caller) {
                return Some(Err(self.fail(world, ended)));
            }
        }
    }

    /// Begins a try.
    fn ask(&mut self, world: &mut World, request: &Request, caller: Caller) -> Result<(), Ended> {
        self.tries += 1;
        let member = &mut world.members[self.id];
        if self.tries > 1 && member.draining.is_some() {
            let backend = Some(member.name.to_owned());
            let fail = MuxFail { backend, ..Fail::mux("STORAGE_MUX.BACKEND_DRAINING") };
            return Err((Outcome::Transient, fail.into()));
        }
        if caller.deadline.is_some_and(|deadline| deadline <= world.now) {
            return Err((Outcome::Abort, ABORTED));
        }
        let work = Work::start(&mut member.store, request.operation(), request.logged());
        self.phase = Phase::Asked(work, None);
        Ok(())
    }

    /// What follows a failed try: the end, or a wait and another try.
    fn after(&mut self, world: &mut World, failed: Ended, caller: Caller) -> Option<Ended> {
        if caller.gone {
            world.count_try("aborted");
            return Some((Outcome::Abort, ABORTED));
        }
        let (outcome, fail) = &failed;
        let wait = world.setup.wait_ms * MILLI;
        let too_late = caller.deadline.is_some_and(|at| world.now.saturating_add(wait) >= at);
        let again = *outcome == Outcome::Transient
            && self.tries < world.setup.tries
            && !matches!(fail, Fail::Mux(_))
            && fail.retry_after().is_none()
            && world.members[self.id].draining.is_none()
            && !too_late;
        if !again {
            world.count_try("exhausted");
            return Some(failed);
        }
        world.count_try("failure");
        world.waits += 1;
        self.phase = Phase::Due;
        if wait > 0 {
            world.timers += 1;
            self.phase = Phase::Waits(world.now.saturating_add(wait));
        }
        None
    }

    fn fail(&mut self, world: &mut World, ended: Ended) -> Ended {
        self.close(world, ended.0, Some(&ended.1));
        ended
    }

    /// Takes the time of an answer that is kept until others have answered too.
    pub(crate) const fn time(&mut self, world: &World) {
        if self.latency.is_none() {
            self.latency = Some(world.now.saturating_sub(self.started));
        }
    }

    /// Books the end and gives back what is held.
    pub(crate) fn close(&mut self, world: &mut World, outcome: Outcome, fail: Option<&Fail>) {
        self.time(world);
        let latency = self.latency.unwrap_or(0);
        world.members[self.id].count(outcome, latency);
        world.judge(self.id, outcome, fail, self.seen);
        self.end_probe(world);
        world.leave(self.id);
        let ms = latency as f64 / MILLI as f64;
        world.asked[self.span].ends.push((outcome.text().into(), ms));
    }

    /// A stream is open: the backend is alive, and the attempt goes on.
    pub(crate) fn keep(&mut self, world: &mut World) {
        self.time(world);
        let was = world.members[self.id].down;
        world.judge(self.id, Outcome::Ok, None, self.seen);
        self.end_probe(world);
        // Only its own recovery makes it new: what it says later is as old as it is.
        let member = &world.members[self.id];
        if was && !member.down {
            self.seen = member.seen();
        }
    }

    fn end_probe(&mut self, world: &mut World) {
        if self.probes {
            self.probes = false;
            world.members[self.id].probed = false;
        }
    }

    /// The caller drops it.
    pub(crate) fn abandon(&mut self, world: &mut World) {
        self.close(world, Outcome::Abort, None);
    }
}
