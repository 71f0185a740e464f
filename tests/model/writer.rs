//! The model of an open write stream, to one backend or to several. Clauses SM-2 to SM-5.

use bytes::Bytes;

use crate::attempt::{Attempt, Caller, Limit};
use crate::fail::{ABORTED, Answer, Fail, OTHER};
use crate::fan_out::{End, Lane, conclude};
use crate::member::Outcome;
use crate::store::WriteSide;
use crate::world::{Seat, World};

/// One backend's part.
struct Part {
    at: usize,
    attempt: Attempt,
    /// Gone once the part has ended.
    side: Option<WriteSide>,
    limit: Option<Limit>,
    end: Option<End>,
}

enum State {
    Open,
    Closed,
    Failed(Fail),
}

/// What is asked of a write stream.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Feed(Bytes),
    Close,
}

pub(crate) struct Writer {
    parts: Vec<Part>,
    /// Who failed or was skipped before the first chunk.
    absent: Vec<Lane>,
    /// For several: the place of the backend that decides, where one does.
    several: Option<Option<Option<usize>>>,
    span: usize,
    state: State,
}

impl Part {
    fn new(at: usize, attempt: Attempt, side: WriteSide) -> Self {
        Self { at, attempt, side: Some(side), limit: None, end: None }
    }

    fn finish(&mut self, world: &mut World, outcome: Outcome, fail: Option<&Fail>) {
        self.side = None;
        self.limit = None;
        self.attempt.close(world, outcome, fail);
    }

    fn fail(&mut self, world: &mut World, outcome: Outcome, fail: Fail) {
        self.finish(world, outcome, Some(&fail));
        self.end = Some(End::Failed(outcome, fail));
    }

    /// Takes a step. False while it waits.
    fn step(&mut self, world: &mut World, caller: Caller, step: &Step) -> bool {
        let id = self.attempt.id;
        let Some(side) = &mut self.side else { return true };
        if caller.gone {
            self.fail(world, Outcome::Abort, ABORTED);
            return true;
        }
        let (now, store) = (world.now, &mut world.members[id].store);
        let done = match step {
            Step::Feed(_) => side.ready(now, &mut store.timers),
            Step::Close => side.close(store, now),
        };
        match done {
            Some(Ok(())) => {
                self.limit = None;
                if matches!(step, Step::Close) {
                    self.finish(world, Outcome::Ok, None);
                    self.end = Some(End::Stored);
                }
            }
            Some(Err(fail)) => self.fail(world, Outcome::of(&fail), fail),
            None => {
                let limit = *self.limit.get_or_insert_with(|| Limit::set(world, caller));
                match limit.passed(world.now) {
                    None => return false,
                    Some(Outcome::Abort) => self.fail(world, Outcome::Abort, ABORTED),
                    Some(late) => {
                        let fail = world.timed_out(id, Some(self.attempt.index));
                        self.fail(world, late, fail);
                    }
                }
            }
        }
        true
    }

    fn has_failed(&self) -> bool {
        matches!(self.end, Some(End::Failed(..)))
    }
}

impl Writer {
    pub(crate) fn alone(attempt: Attempt, side: WriteSide, span: usize) -> Self {
        let parts = vec![Part::new(0, attempt, side)];
        Self { parts, absent: Vec::new(), several: None, span, state: State::Open }
    }

    /// To all of `opened`, in order. An error where that is doomed from the start.
    pub(crate) fn beside(
        world: &mut World,
        seats: &[Seat],
        origin: Option<Option<usize>>,
        opened: Vec<(usize, Attempt, WriteSide)>,
        absent: Vec<Lane>,
        span: usize,
    ) -> Result<Self, Fail> {
        debug_assert!(opened.iter().all(|(at, ..)| *at < seats.len()));
        let mut parts = Vec::new();
        for (at, mut attempt, side) in opened {
            attempt.keep(world);
            parts.push(Part::new(at, attempt, side));
        }
        let mut writer = Self { parts, absent, several: Some(origin), span, state: State::Open };
        match writer.fail_if_doomed(world) {
            Some(fail) => Err(fail),
            None => Ok(writer),
        }
    }

    pub(crate) const fn is_over(&self) -> bool {
        !matches!(self.state, State::Open)
    }

    /// The backends of which a try is open.
    pub(crate) fn open_tries(&self) -> Vec<usize> {
        let open = self.parts.iter().filter(|part| part.side.is_some());
        open.map(|part| part.attempt.id).collect()
    }

    /// Timers that are waited for.
    pub(crate) fn waiting(&self) -> usize {
        let side = |part: &Part| part.side.as_ref().map_or(0, |side| side.turn.waiting());
        self.parts.iter().map(|part| side(part) + usize::from(part.limit.is_some())).sum()
    }

    pub(crate) fn poll(
        &mut self,
        world: &mut World,
        caller: Caller,
        step: &Step,
    ) -> Option<Result<Answer, Fail>> {
        match (&self.state, step) {
            (State::Open, _) => {}
            (State::Closed, Step::Close) => return Some(Ok(Answer::Done)),
            (State::Closed, Step::Feed(_)) => return Some(Err(OTHER)),
            (State::Failed(fail), _) => return Some(Err(fail.clone())),
        }
        let mut ready = true;
        for part in &mut self.parts {
            ready &= part.step(world, caller, step);
        }
        if let Some(fail) = self.fail_if_doomed(world) {
            world.hang_up(self.span);
            return Some(Err(fail));
        }
        if !ready {
            return None;
        }
        if let Step::Feed(chunk) = step {
            for side in self.parts.iter_mut().filter_map(|part| part.side.as_mut()) {
                side.send(chunk.clone());
            }
            return Some(Ok(Answer::Done));
        }
        let concluded = match self.several {
            None => Ok(()),
            Some(origin) => conclude(world, origin, &self.ends()),
        };
        world.hang_up(self.span);
        self.state = match &concluded {
            Ok(()) => State::Closed,
            Err(fail) => State::Failed(fail.clone()),
        };
        Some(concluded.map(|()| Answer::Done))
    }

    /// Ends the stream where it can no longer succeed: what is open is given up, and nothing of it
    /// becomes visible.
    fn fail_if_doomed(&mut self, world: &mut World) -> Option<Fail> {
        let gone = |part: &Part| matches!(part.end, Some(End::Failed(Outcome::Abort, _)));
        let doomed = self.parts.iter().any(gone)
            || match self.several {
                None => self.parts.iter().any(Part::has_failed),
                Some(Some(origin)) => {
                    !self.parts.iter().any(|part| Some(part.at) == origin && !part.has_failed())
                }
                Some(None) => self.parts.iter().all(Part::has_failed),
            };
        if !doomed {
            return None;
        }
        let fail = match self.several {
            None => self.parts.iter().find_map(|part| match &part.end {
                Some(End::Failed(Outcome::Abort, fail)) => {
                    Some(world.aborted(part.attempt.id, part.attempt.index, fail.clone()))
                }
                Some(End::Failed(_, fail)) => Some(fail.clone()),
                _ => None,
            }),
            Some(origin) => conclude(world, origin, &self.ends()).err(),
        };
        for part in &mut self.parts {
            if part.side.is_some() {
                part.finish(world, Outcome::Abort, None);
            }
        }
        let fail = fail.unwrap_or_else(|| world.all_down(0).into());
        self.state = State::Failed(fail.clone());
        Some(fail)
    }

    fn ends(&self) -> Vec<Lane> {
        let mut ends = self.absent.clone();
        ends.extend(self.parts.iter().map(|part| Lane {
            at: part.at,
            id: part.attempt.id,
            index: part.attempt.index,
            end: part.end.clone().unwrap_or(End::GivenUp),
        }));
        ends.sort_by_key(|lane| lane.at);
        ends
    }

    /// The caller drops it: nothing is stored where it was not before.
    pub(crate) fn abandon(mut self, world: &mut World) {
        if self.is_over() {
            return;
        }
        for part in self.parts.iter_mut().filter(|part| part.side.is_some()) {
            part.attempt.abandon(world);
        }
        world.hang_up(self.span);
    }
}
