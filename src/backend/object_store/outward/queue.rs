//! Chunks on their way into a write stream, pushed on by whoever waits.
//!
//! The parts of an upload are futures that may be polled in any order, together, on several
//! threads, or never. So none of them owns the stream: whichever is polled takes it, gives it what
//! is next in line, and puts it back. The stream wakes all who wait, since any of them can go on.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::task::Wake;
use alloc::vec::Vec;
use core::task::{Context, Poll, Waker};

use bytes::Bytes;

use crate::error::StorageError;
use crate::port::BoxWriter;
use crate::sync::{Arc, Lock};

pub(super) struct Queue {
    state: Lock<State>,
}

struct State {
    chunks: VecDeque<Bytes>,
    /// How many chunks were handed over, and how many of them the stream has taken.
    pushed: u64,
    taken: u64,
    writer: Slot,
    /// Whether the stream is to be closed once it has all.
    closing: bool,
    /// Whether, while somebody had the stream, it took a chunk or woke those who wait.
    moved: bool,
    end: Option<Result<(), StorageError>>,
    waiting: BTreeMap<u64, Waker>,
    turns: u64,
}

enum Slot {
    Free(BoxWriter),
    /// Somebody polls it right now.
    Taken,
    Gone,
}

/// What somebody waits for.
pub(super) enum Goal {
    /// The stream has taken as many chunks as this.
    Taken(u64),
    /// The stream is closed.
    Closed,
}

/// The place of one who waits.
pub(super) struct Turn {
    queue: Arc<Queue>,
    id: u64,
}

/// What to do with the stream next.
enum Step {
    Feed,
    Close,
    Rest,
}

impl Queue {
    pub(super) fn new(writer: BoxWriter) -> Self {
        Self {
            state: Lock::new(State {
                chunks: VecDeque::new(),
                pushed: 0,
                taken: 0,
                writer: Slot::Free(writer),
                closing: false,
                moved: false,
                end: None,
                waiting: BTreeMap::new(),
                turns: 0,
            }),
        }
    }

    /// Puts chunks into the line. What to wait for until all of them are taken.
    pub(super) fn push(&self, chunks: impl Iterator<Item = Bytes>) -> Goal {
        self.state.with(|state| {
            // After the end nothing more is kept, and whoever waits is told.
            if state.end.is_none() && !state.closing {
                let before = state.chunks.len();
                state.chunks.extend(chunks.filter(|chunk| !chunk.is_empty()));
                let new = state.chunks.len().saturating_sub(before) as u64;
                state.pushed = state.pushed.saturating_add(new);
                return Goal::Taken(state.pushed);
            }
            Goal::Taken(u64::MAX)
        })
    }

    pub(super) fn turn(self: &Arc<Self>) -> Turn {
        let id = self.state.with(|state| {
            state.turns = state.turns.saturating_add(1);
            state.turns
        });
        Turn { queue: self.clone(), id }
    }

    /// Drops the stream and all that waits in line. False where it is closed already.
    pub(super) fn give_up(&self, error: StorageError) -> bool {
        let (was_open, rest) = self.state.with(|state| {
            let was_open = !matches!(state.end, Some(Ok(())));
            (was_open, state.end.is_none().then(|| state.finish(Err(error))))
        });
        if let Some(rest) = rest {
            rest.settle();
        }
        was_open
    }

    /// Gives the stream what it has room for.
    fn drive(self: &Arc<Self>) {
        let Some(writer) = self.state.with(State::take) else { return };
        let waker = Waker::from(self.clone());
        let mut cx = Context::from_waker(&waker);
        // Should the stream panic, the guard tells those who wait.
        let mut hold = Hold { queue: self, writer: Some(writer) };
        loop {
            let step = self.state.with(|state| state.step());
            if matches!(step, Step::Rest) && hold.put_back(true) {
                return;
            }
            let Some(writer) = &mut hold.writer else { return };
            let result = match step {
                Step::Rest => continue,
                Step::Feed => writer.as_mut().poll_ready(&mut cx),
                Step::Close => writer.as_mut().poll_close(&mut cx),
            };
            match (result, step) {
                (Poll::Pending, _) => {
                    hold.put_back(false);
                    return;
                }
                (Poll::Ready(Err(error)), _) => return hold.finish(Err(error)),
                (Poll::Ready(Ok(())), Step::Feed) => {
                    let chunk = self.state.with(|state| state.chunks.pop_front());
                    let Some(chunk) = chunk else { continue };
                    if let Err(error) = writer.as_mut().start_send(chunk) {
                        return hold.finish(Err(error));
                    }
                    self.state.with(|state| {
                        state.taken = state.taken.saturating_add(1);
                        state.moved = true;
                    });
                }
                (Poll::Ready(Ok(())), _) => return hold.finish(Ok(())),
            }
        }
    }
}

impl State {
    fn take(&mut self) -> Option<BoxWriter> {
        match core::mem::replace(&mut self.writer, Slot::Taken) {
            Slot::Free(writer) => {
                self.moved = false;
                Some(writer)
            }
            // What moved is for the one who has the stream to tell.
            other => {
                self.writer = other;
                None
            }
        }
    }

    fn step(&self) -> Step {
        match (&self.end, self.chunks.is_empty()) {
            (Some(_), _) => Step::Rest,
            (None, false) => Step::Feed,
            (None, true) if self.closing => Step::Close,
            (None, true) => Step::Rest,
        }
    }

    fn finish(&mut self, end: Result<(), StorageError>) -> Rest {
        self.end = Some(end);
        let writer = match core::mem::replace(&mut self.writer, Slot::Gone) {
            Slot::Free(writer) => Some(writer),
            Slot::Taken | Slot::Gone => None,
        };
        Rest { writer, chunks: core::mem::take(&mut self.chunks), waiting: self.all() }
    }

    fn all(&mut self) -> Vec<Waker> {
        core::mem::take(&mut self.waiting).into_values().collect()
    }

    fn outcome(&self, goal: &Goal) -> Option<Result<(), StorageError>> {
        match (goal, &self.end) {
            (Goal::Taken(chunks), _) if self.taken >= *chunks => Some(Ok(())),
            (Goal::Taken(_), Some(Ok(()))) => {
                Some(Err(StorageError::http(409).with_detail("the upload is complete")))
            }
            (Goal::Taken(u64::MAX), None) => {
                Some(Err(StorageError::http(409).with_detail("the upload is being completed")))
            }
            (_, end) => end.clone(),
        }
    }
}

/// What an end leaves over: dropped and woken outside the lock.
#[must_use]
struct Rest {
    writer: Option<BoxWriter>,
    chunks: VecDeque<Bytes>,
    waiting: Vec<Waker>,
}

impl Rest {
    fn settle(self) {
        drop((self.writer, self.chunks));
        self.waiting.into_iter().for_each(Waker::wake);
    }
}

/// The stream in the hands of one who polls it.
struct Hold<'a> {
    queue: &'a Queue,
    writer: Option<BoxWriter>,
}

impl Hold<'_> {
    /// Puts the stream back, or drops it where the end has come meanwhile. False where `idle`, as
    /// there was nothing to do for it, has become untrue.
    fn put_back(&mut self, idle: bool) -> bool {
        let Some(writer) = self.writer.take() else { return true };
        let (writer, waiting) = self.queue.state.with(|state| {
            if state.end.is_some() {
                return (Some(writer), state.all());
            }
            if idle && !matches!(state.step(), Step::Rest) {
                self.writer = Some(writer);
                return (None, Vec::new());
            }
            state.writer = Slot::Free(writer);
            // Whoever was woken before the stream was back could not take it.
            (None, if state.moved { state.all() } else { Vec::new() })
        });
        drop(writer);
        waiting.into_iter().for_each(Waker::wake);
        self.writer.is_none()
    }

    fn finish(mut self, end: Result<(), StorageError>) {
        let writer = self.writer.take();
        // An end that came from outside meanwhile stays.
        let rest = self.queue.state.with(|state| {
            let end = state.end.take().unwrap_or(end);
            state.finish(end)
        });
        drop(writer);
        rest.settle();
    }
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        if let Some(writer) = self.writer.take() {
            let error = StorageError::other("the write stream panicked");
            let rest = self.queue.state.with(|state| state.finish(Err(error)));
            drop(writer);
            rest.settle();
        }
    }
}

impl Wake for Queue {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let waiting = self.state.with(|state| {
            state.moved = true;
            state.all()
        });
        waiting.into_iter().for_each(Waker::wake);
    }
}

impl Turn {
    pub(super) fn poll(
        &mut self,
        goal: &Goal,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), StorageError>> {
        let first = self.look(goal, cx);
        if first.is_ready() {
            return first;
        }
        self.queue.drive();
        self.look(goal, cx)
    }

    /// Whether the goal is reached. Else this turn is woken when something happens.
    fn look(&self, goal: &Goal, cx: &Context<'_>) -> Poll<Result<(), StorageError>> {
        let waker = cx.waker().clone();
        let old = self.queue.state.with(|state| {
            if let Some(outcome) = state.outcome(goal) {
                return Err(outcome);
            }
            state.closing |= matches!(goal, Goal::Closed);
            Ok(state.waiting.insert(self.id, waker))
        });
        match old {
            Ok(_) => Poll::Pending,
            Err(outcome) => Poll::Ready(outcome),
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let waker = self.queue.state.with(|state| state.waiting.remove(&self.id));
        drop(waker);
    }
}
