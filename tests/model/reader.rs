//! The model of an open read stream. Clauses SM-1, SM-3 to SM-5.

use bytes::Bytes;

use crate::attempt::{Attempt, Caller, Limit};
use crate::fail::{ABORTED, Answer, Blob, Fail};
use crate::member::Outcome;
use crate::store::ReadSide;
use crate::world::World;

pub(crate) struct Reader {
    attempt: Attempt,
    side: ReadSide,
    span: usize,
    first: Option<Bytes>,
    limit: Option<Limit>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// The backend has ended before its first chunk, which nobody has been told yet.
    Empty,
    Over,
}

impl Reader {
    pub(crate) fn new(attempt: Attempt, first: Option<Bytes>, side: ReadSide, span: usize) -> Self {
        let state = if first.is_some() { State::Open } else { State::Empty };
        Self { attempt, side, span, first, limit: None, state }
    }

    pub(crate) const fn is_over(&self) -> bool {
        matches!(self.state, State::Over)
    }

    /// The backend of which a try is open.
    pub(crate) fn open_tries(&self) -> Vec<usize> {
        if self.is_over() { Vec::new() } else { vec![self.attempt.id] }
    }

    /// Timers that are waited for.
    pub(crate) fn waiting(&self) -> usize {
        self.side.turn.waiting() + usize::from(self.limit.is_some())
    }

    /// The next chunk. After its end or its error a stream has ended and stays so.
    pub(crate) fn poll(
        &mut self,
        world: &mut World,
        caller: Caller,
    ) -> Option<Result<Answer, Fail>> {
        if self.is_over() {
            return Some(Ok(Answer::Chunk(None)));
        }
        if caller.gone {
            return Some(Err(self.end(world, Outcome::Abort, ABORTED)));
        }
        if let Some(first) = self.first.take() {
            return Some(Ok(Answer::Chunk(Some(Blob(first)))));
        }
        let id = self.attempt.id;
        let step = if self.state == State::Empty {
            Some(Ok(None))
        } else {
            self.side.next(world.now, &mut world.members[id].store.timers)
        };
        match step {
            Some(Ok(Some(chunk))) => {
                self.limit = None;
                Some(Ok(Answer::Chunk(Some(Blob(chunk)))))
            }
            Some(Ok(None)) => {
                self.close(world, Outcome::Ok, None);
                Some(Ok(Answer::Chunk(None)))
            }
            Some(Err(fail)) => Some(Err(self.end(world, Outcome::of(&fail), fail))),
            None => {
                let limit = *self.limit.get_or_insert_with(|| Limit::set(world, caller));
                let fail = match limit.passed(world.now)? {
                    Outcome::Abort => self.end(world, Outcome::Abort, ABORTED),
                    late => {
                        let fail = world.timed_out(id, Some(self.attempt.index));
                        self.end(world, late, fail)
                    }
                };
                Some(Err(fail))
            }
        }
    }

    fn close(&mut self, world: &mut World, outcome: Outcome, fail: Option<&Fail>) {
        self.limit = None;
        self.state = State::Over;
        // Whatever the store's end waited for is gone with it.
        self.side.drop_timer();
        self.attempt.close(world, outcome, fail);
        world.hang_up(self.span);
    }

    fn end(&mut self, world: &mut World, outcome: Outcome, fail: Fail) -> Fail {
        self.close(world, outcome, Some(&fail));
        if outcome == Outcome::Abort {
            world.aborted(self.attempt.id, self.attempt.index, fail)
        } else {
            fail
        }
    }

    /// The caller drops it.
    pub(crate) fn abandon(mut self, world: &mut World) {
        if !self.is_over() {
            self.attempt.abandon(world);
            world.hang_up(self.span);
        }
    }
}
