//! The model of calls that ask several backends at once: a race for a value, a write to all.

use crate::action::Request;
use crate::attempt::{self, Attempt, Caller};
use crate::call::{Ended, serve};
use crate::fail::{Answer, Fail, MuxFail};
use crate::member::Outcome;
use crate::store::{Reply, WriteSide};
use crate::watch::Told;
use crate::world::{Seat, World};
use crate::writer::Writer;

/// An attempt beside others, by place. Gone once it has ended.
type Lanes = Vec<(usize, Option<Attempt>)>;

fn open(
    world: &mut World,
    seats: &[Seat],
    span: usize,
    places: &[usize],
    probes: &[usize],
) -> Lanes {
    let mut lanes = Lanes::new();
    for at in places {
        let probe = probes.contains(at);
        if let Some(lane) = Attempt::open(world, span, seats[*at].id, lanes.len(), probe) {
            lanes.push((*at, Some(lane)));
        }
    }
    lanes
}

/// Lets each lane go on as far as it can, in the order of the mux. Gives who has ended.
fn poll(
    lanes: &mut Lanes,
    world: &mut World,
    request: &Request,
    caller: Caller,
    mut ended: impl FnMut(&mut World, usize, Attempt, Result<Reply, attempt::Ended>),
) {
    for (at, lane) in lanes {
        let Some(attempt) = lane else { continue };
        if let Some(end) = attempt.poll(world, request, caller)
            && let Some(attempt) = lane.take()
        {
            ended(world, *at, attempt, end);
        }
    }
}

fn waiting(lanes: &Lanes) -> usize {
    lanes.iter().filter_map(|(_, lane)| lane.as_ref()).map(Attempt::waiting).sum()
}

fn open_tries(lanes: &Lanes) -> impl Iterator<Item = usize> {
    lanes.iter().filter_map(|(_, lane)| lane.as_ref()?.open_try())
}

fn abandon(lanes: &mut Lanes, world: &mut World) {
    lanes.iter_mut().filter_map(|(_, lane)| lane.take()).for_each(|mut lane| lane.abandon(world));
}

/// MI-1, MI-2: the first value wins; a "no" waits for all the others.
pub(crate) struct Race {
    lanes: Lanes,
    no: Option<Attempt>,
    /// Who failed: place, backend, index, how.
    failed: Vec<(usize, usize, u32, attempt::Ended)>,
    span: usize,
}

impl Race {
    pub(crate) fn start(world: &mut World, seats: &[Seat], span: usize) -> Self {
        let view = world.view(seats);
        let mut places = [&view.up[..], &view.probe[..]].concat();
        places.sort_unstable();
        let lanes = open(world, seats, span, &places, &view.probe);
        Self { lanes, no: None, failed: Vec::new(), span }
    }

    pub(crate) fn waiting(&self) -> usize {
        waiting(&self.lanes)
    }

    pub(crate) fn open_tries(&self) -> Vec<usize> {
        open_tries(&self.lanes).chain(self.no.as_ref().and_then(Attempt::open_try)).collect()
    }

    pub(crate) fn abandon(&mut self, world: &mut World) {
        abandon(&mut self.lanes, world);
        if let Some(mut no) = self.no.take() {
            no.abandon(world);
        }
    }

    pub(crate) fn poll(
        &mut self,
        world: &mut World,
        request: &Request,
        seats: &[Seat],
        caller: Caller,
    ) -> Option<Result<Ended, Fail>> {
        let mut winner = None;
        let (no, failed) = (&mut self.no, &mut self.failed);
        poll(&mut self.lanes, world, request, caller, |world, at, mut attempt, end| match end {
            Err(fail) => failed.push((at, attempt.id, attempt.index, fail)),
            Ok(Reply::Answer(Answer::Found(false))) if winner.is_none() && no.is_none() => {
                attempt.time(world);
                *no = Some(attempt);
            }
            Ok(Reply::Answer(Answer::Found(false))) => attempt.close(world, Outcome::Ok, None),
            Ok(reply) if winner.is_none() => winner = Some((attempt, reply)),
            Ok(_) => attempt.close(world, Outcome::Ok, None),
        });
        if winner.is_none() && self.lanes.iter().any(|(_, lane)| lane.is_some()) {
            return None;
        }
        abandon(&mut self.lanes, world);
        let no = self.no.take().map(|mut no| no.close(world, Outcome::Ok, None));
        if let Some((attempt, reply)) = winner {
            return Some(Ok(serve(world, attempt, reply, self.span)));
        }
        self.failed.sort_by_key(|(at, ..)| *at);
        for (_, id, index, (outcome, fail)) in &self.failed {
            if *outcome == Outcome::Abort {
                return Some(Err(world.aborted(*id, *index, fail.clone())));
            }
        }
        let all_answered = self.failed.iter().all(|(.., (outcome, _))| !outcome.moves_on());
        if no.is_some() && all_answered {
            return Some(Ok(Ended::Answer(Answer::Found(false))));
        }
        let fails: Vec<Fail> = self.failed.iter().map(|(.., (_, fail))| fail.clone()).collect();
        if let Some(first) = fails.first()
            && all_answered
            && fails.iter().all(|fail| fail == first)
        {
            return Some(Err(first.clone()));
        }
        let names = self.failed.iter().map(|(at, ..)| world.members[seats[*at].id].name.to_owned());
        let causes = names.zip(fails).collect();
        Some(Err(MuxFail { causes, ..world.all_down(self.lanes.len()) }.into()))
    }
}

/// What became of a write on one backend.
#[derive(Clone, Debug)]
pub(crate) enum End {
    Stored,
    Failed(Outcome, Fail),
    /// It is down and was not asked.
    Skipped(Fail),
    /// It was asked, and given up since the write had failed elsewhere.
    GivenUp,
}

/// The same with its place, its backend, and which attempt it was.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    pub(crate) at: usize,
    pub(crate) id: usize,
    pub(crate) index: u32,
    pub(crate) end: End,
}

/// SH-3 to SH-5, MI-3, MI-4: a write to all, and all are waited for.
pub(crate) struct Settle {
    /// The place of the backend that decides, where one does.
    origin: Option<Option<usize>>,
    lanes: Lanes,
    /// Those that are not asked, since they are down.
    skipped: Vec<usize>,
    ends: Vec<Lane>,
    answers: Vec<(usize, Answer)>,
    opened: Vec<(usize, Attempt, WriteSide)>,
}

impl Settle {
    pub(crate) fn start(
        world: &mut World,
        seats: &[Seat],
        span: usize,
        origin_decides: bool,
    ) -> Self {
        let view = world.view(seats);
        let first = seats.iter().position(|seat| seat.open);
        let mut places = [&view.up[..], &view.probe[..]].concat();
        // The origin is asked even when it is down, since nobody else can decide.
        places.extend(first.filter(|at| origin_decides && !places.contains(at)));
        places.sort_unstable();
        let lanes = open(world, seats, span, &places, &view.probe);
        let skipped = (0..seats.len()).filter(|at| seats[*at].open && !places.contains(at));
        let skipped = skipped.collect();
        let origin = origin_decides.then_some(first);
        let (ends, answers, opened) = (Vec::new(), Vec::new(), Vec::new());
        Self { origin, lanes, skipped, ends, answers, opened }
    }

    pub(crate) fn waiting(&self) -> usize {
        waiting(&self.lanes)
    }

    pub(crate) fn open_tries(&self) -> Vec<usize> {
        let opened = self.opened.iter().filter_map(|(_, attempt, _)| attempt.open_try());
        open_tries(&self.lanes).chain(opened).collect()
    }

    pub(crate) fn abandon(&mut self, world: &mut World) {
        abandon(&mut self.lanes, world);
        self.opened.iter_mut().for_each(|(_, attempt, _)| attempt.abandon(world));
    }

    pub(crate) fn poll(
        &mut self,
        world: &mut World,
        request: &Request,
        seats: &[Seat],
        span: usize,
        caller: Caller,
    ) -> Option<Result<Ended, Fail>> {
        let (ends, answers, opened) = (&mut self.ends, &mut self.answers, &mut self.opened);
        poll(&mut self.lanes, world, request, caller, |world, at, mut attempt, end| {
            let (id, index) = (attempt.id, attempt.index);
            let end = match end {
                Ok(Reply::Writer(side)) => {
                    attempt.time(world);
                    opened.push((at, attempt, side));
                    return;
                }
                Ok(reply) => {
                    attempt.close(world, Outcome::Ok, None);
                    if let Reply::Answer(answer) = reply {
                        answers.push((at, answer));
                    }
                    End::Stored
                }
                Err((outcome, fail)) => End::Failed(outcome, fail),
            };
            ends.push(Lane { at, id, index, end });
        });
        if self.lanes.iter().any(|(_, lane)| lane.is_some()) {
            return None;
        }
        self.ends.extend(self.skipped.iter().map(|at| {
            let id = seats[*at].id;
            let last = world.members[id].last_error.clone();
            Lane { at: *at, id, index: 0, end: End::Skipped(last.unwrap_or(crate::fail::OTHER)) }
        }));
        self.ends.sort_by_key(|lane| lane.at);
        if matches!(request, Request::SetStream(_)) {
            let (ends, mut opened) = (self.ends.clone(), std::mem::take(&mut self.opened));
            opened.sort_by_key(|(at, ..)| *at);
            return Some(
                Writer::beside(world, seats, self.origin, opened, ends, span).map(Ended::Writer),
            );
        }
        self.answers.sort_by_key(|(at, _)| *at);
        let answer = self.answers.first().map(|(_, answer)| answer.clone());
        Some(conclude(world, self.origin, &self.ends).map(|()| {
            // A write that has succeeded was stored by somebody.
            Ended::Answer(answer.unwrap_or(Answer::Done))
        }))
    }
}

/// What a write to several comes to.
pub(crate) fn conclude(
    world: &mut World,
    origin: Option<Option<usize>>,
    ends: &[Lane],
) -> Result<(), Fail> {
    for lane in ends {
        if let End::Failed(Outcome::Abort, fail) = &lane.end {
            return Err(world.aborted(lane.id, lane.index, fail.clone()));
        }
    }
    let asked = ends.iter().filter(|lane| !matches!(lane.end, End::Skipped(_)));
    let down = world.all_down(asked.clone().count());
    let lacks = |lane: &Lane| {
        let fail = match &lane.end {
            End::Stored => return None,
            End::Failed(_, fail) | End::Skipped(fail) => fail.clone(),
            End::GivenUp => crate::fail::ABORTED,
        };
        Some((world.members[lane.id].name.to_owned(), fail))
    };
    let lacking: Vec<(String, Fail)> = ends.iter().filter_map(lacks).collect();
    if let Some(origin) = origin {
        match ends.iter().find(|lane| Some(lane.at) == origin).map(|lane| &lane.end) {
            Some(End::Stored) => {}
            Some(End::Failed(outcome, fail)) if !outcome.moves_on() => return Err(fail.clone()),
            Some(End::Failed(_, fail) | End::Skipped(fail)) => {
                return Err(MuxFail { cause: Some(fail.clone()), ..down }.into());
            }
            Some(End::GivenUp) | None => return Err(down.into()),
        }
    } else if !ends.iter().any(|lane| matches!(lane.end, End::Stored)) {
        let answers: Vec<Option<&Fail>> = asked
            .map(|lane| match &lane.end {
                End::Failed(outcome, fail) if !outcome.moves_on() => Some(fail),
                _ => None,
            })
            .collect();
        return Err(match answers.first() {
            Some(Some(first)) if answers.iter().all(|answer| *answer == Some(first)) => {
                (*first).clone()
            }
            _ => MuxFail { causes: lacking, ..down }.into(),
        });
    }
    if lacking.is_empty() {
        return Ok(());
    }
    world.totals.partials += 1;
    let mode = world.setup.mode;
    world.told.push(Told::Partial { mode, failed: lacking.clone() });
    if world.setup.throw {
        let partial = Fail::mux("STORAGE_MUX.WRITE_FANOUT_PARTIAL");
        return Err(MuxFail { causes: lacking, ..partial }.into());
    }
    Ok(())
}
