//! The model of a call: from its start to its answer, by the way that its mode takes.

use crate::action::Request;
use crate::attempt::{Attempt, Caller};
use crate::fail::{Answer, Fail, INVALID_KEY, MuxFail, UNSUPPORTED};
use crate::fan_out::{Race, Settle};
use crate::member::Outcome;
use crate::modes::{Turn, Way, next, way};
use crate::reader::Reader;
use crate::store::Reply;
use crate::watch::Told;
use crate::world::{Seat, World};
use crate::writer::Writer;

/// A call that has not ended.
pub(crate) struct Call {
    pub(crate) request: Request,
    pub(crate) span: usize,
    /// The set that it started with.
    pub(crate) seats: Vec<Seat>,
    driver: Driver,
}

enum Driver {
    /// Nothing was looked at yet.
    New,
    InTurn(InTurn),
    Race(Race),
    Settle(Settle),
}

/// What a call comes to.
pub(crate) enum Ended {
    Answer(Answer),
    Reader(Box<Reader>),
    Writer(Writer),
}

impl Call {
    pub(crate) fn new(world: &mut World, request: Request) -> Self {
        // The span opens with the first poll, and so does everything else.
        let span = world.called.len();
        Self { request, span, seats: Vec::new(), driver: Driver::New }
    }

    /// Timers that are waited for.
    pub(crate) fn waiting(&self) -> usize {
        match &self.driver {
            Driver::New => 0,
            Driver::InTurn(turn) => turn.current.as_ref().map_or(0, Attempt::waiting),
            Driver::Race(race) => race.waiting(),
            Driver::Settle(settle) => settle.waiting(),
        }
    }

    /// The backends of which a try is open.
    pub(crate) fn open_tries(&self) -> Vec<usize> {
        match &self.driver {
            Driver::New => Vec::new(),
            Driver::InTurn(turn) => turn.current.iter().filter_map(Attempt::open_try).collect(),
            Driver::Race(race) => race.open_tries(),
            Driver::Settle(settle) => settle.open_tries(),
        }
    }

    pub(crate) fn poll(
        &mut self,
        world: &mut World,
        caller: Caller,
    ) -> Option<Result<Ended, Fail>> {
        if matches!(self.driver, Driver::New)
            && let Err(refused) = self.start(world, caller)
        {
            world.hang_up(self.span);
            return Some(Err(refused));
        }
        let ended = match &mut self.driver {
            Driver::New => None,
            Driver::InTurn(turn) => turn.poll(world, &self.request, &self.seats, self.span, caller),
            Driver::Race(race) => race.poll(world, &self.request, &self.seats, caller),
            Driver::Settle(settle) => {
                settle.poll(world, &self.request, &self.seats, self.span, caller)
            }
        }?;
        // The span of a stream goes on with it.
        if !matches!(ended, Ok(Ended::Reader(_) | Ended::Writer(_))) {
            world.hang_up(self.span);
        }
        Some(ended)
    }

    /// AB-3, DR-5, MX-1, MX-5, P-7: what no backend sees is refused first.
    fn start(&mut self, world: &mut World, caller: Caller) -> Result<(), Fail> {
        self.span = world.call(&self.request);
        if caller.gone {
            return Err(Fail::mux("STORAGE_MUX.BACKEND_ABORTED").into());
        }
        let way = way(world.setup.mode, &self.request);
        let conditional = matches!(self.request, Request::SetIf(..));
        if world.roster.is_empty() {
            world.totals.calls += 1;
            return Err(world.all_down(0).into());
        }
        if conditional && way == (Way::All { origin_decides: false }) {
            return Err(UNSUPPORTED);
        }
        if self.request.key() == Some("") {
            return Err(INVALID_KEY);
        }
        world.totals.calls += 1;
        self.seats = world.seats();
        self.driver = match way {
            Way::InTurn => Driver::InTurn(InTurn::default()),
            Way::Race => Driver::Race(Race::start(world, &self.seats, self.span)),
            Way::All { origin_decides } => {
                Driver::Settle(Settle::start(world, &self.seats, self.span, origin_decides))
            }
        };
        Ok(())
    }

    /// The caller drops it.
    pub(crate) fn abandon(mut self, world: &mut World) {
        match &mut self.driver {
            Driver::New => return,
            Driver::InTurn(turn) => {
                if let Some(attempt) = &mut turn.current {
                    attempt.abandon(world);
                }
            }
            Driver::Race(race) => race.abandon(world),
            Driver::Settle(settle) => settle.abandon(world),
        }
        world.hang_up(self.span);
    }
}

#[derive(Default)]
struct InTurn {
    /// Places that were asked, or turned out to take no calls.
    tried: Vec<usize>,
    attempts: usize,
    current: Option<Attempt>,
    /// Who failed last, and how.
    failed: Option<(String, Fail)>,
}

impl InTurn {
    fn poll(
        &mut self,
        world: &mut World,
        request: &Request,
        seats: &[Seat],
        span: usize,
        caller: Caller,
    ) -> Option<Result<Ended, Fail>> {
        loop {
            if let Some(attempt) = &mut self.current {
                match attempt.poll(world, request, caller)? {
                    Ok(reply) => {
                        let attempt = self.current.take()?;
                        return Some(Ok(serve(world, attempt, reply, span)));
                    }
                    Err((Outcome::Abort, fail)) => {
                        return Some(Err(world.aborted(attempt.id, attempt.index, fail)));
                    }
                    Err((outcome, fail)) if !outcome.moves_on() => return Some(Err(fail)),
                    Err((_, fail)) => {
                        let name = world.members[attempt.id].name.to_owned();
                        self.failed = Some((name, fail));
                        self.current = None;
                    }
                }
            }
            let view = world.view(seats);
            let last = self.tried.last().copied();
            let turn = Turn { request, seats, view: &view, tried: &self.tried, last };
            let Some(at) = next(world, &turn) else {
                let cause = self.failed.take().map(|(_, fail)| fail);
                let down = MuxFail { cause, ..world.all_down(self.attempts) };
                return Some(Err(down.into()));
            };
            self.tried.push(at);
            let (id, probes) = (seats[at].id, view.probe.contains(&at));
            let Some(attempt) = Attempt::open(world, span, id, self.attempts, probes) else {
                continue;
            };
            if let Some((from, cause)) = &self.failed {
                let (from, to) = (from.clone(), world.members[id].name.to_owned());
                let (index, cause) = (self.attempts as u32 - 1, cause.clone());
                world.totals.failovers += 1;
                world.told.push(Told::Failover { from, to, index, cause });
            }
            self.attempts += 1;
            self.current = Some(attempt);
        }
    }
}

/// A backend has answered and nobody else matters.
pub(crate) fn serve(world: &mut World, mut attempt: Attempt, reply: Reply, span: usize) -> Ended {
    match reply {
        Reply::Answer(answer) => {
            attempt.close(world, Outcome::Ok, None);
            Ended::Answer(answer)
        }
        Reply::Reader(first, side) => {
            attempt.keep(world);
            Ended::Reader(Box::new(Reader::new(attempt, first, side, span)))
        }
        Reply::Writer(side) => {
            attempt.keep(world);
            Ended::Writer(Writer::alone(attempt, side, span))
        }
    }
}
