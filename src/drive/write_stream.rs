//! The write stream of a mux: to one backend, or to several chunk by chunk.

use alloc::vec::Vec;
use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll};

use bytes::Bytes;
use futures_sink::Sink;

use super::attempt::Served;
use super::observe::CallSpan;
use super::settle::{End, LaneEnd, conclude};
use super::stream_watch::StreamWatch;
use super::write_lane::{Step, WriteLane};
use super::{Call, Engine, SetStream};
use crate::error::StorageError;
use crate::mode::{Plan, Quorum, plan};
use crate::port::{Clock, LocalStorage, Operation};
use crate::rng::Rng;
use crate::stats::Outcome;
use crate::sync::Arc;

/// The sink that [`set_stream`](LocalStorage::set_stream) of a mux gives.
///
/// Under the modes that write to one backend the call fell through to others up to the first
/// chunk, as `set` does. From there on a failure is final, since the chunks are gone: the error is
/// returned, again for every further use, and nothing becomes visible. Under shield and mirror
/// each chunk goes to all backends; the slowest sets the pace, one that fails is left behind, and
/// the stream fails with the origin, or with the last peer. What the others lack is told at the
/// close, as for `set`.
///
/// (A close that fails or times out may have stored the value all the same; only the backend
/// knows.) The backend timeout applies to each wait. The call counts as in flight until the sink is
/// closed, fails or is dropped; a dropped sink stores nothing.
pub struct MuxWriter<S: LocalStorage, C: Clock, R: Rng> {
    state: State,
    lanes: Vec<WriteLane<S, C, R>>,
    /// Backends that were skipped or failed before the first chunk.
    absent: Vec<LaneEnd>,
    /// Whose success counts; none where there is but one backend.
    quorum: Option<Quorum>,
    engine: Arc<Engine<S, C, R>>,
    /// Ends after the attempts' own spans.
    span: Option<CallSpan>,
}

enum State {
    Open,
    Closed,
    Failed(StorageError),
}

impl<S: LocalStorage, C: Clock, R: Rng> Call<'_, S, C, R> {
    /// Opens a write stream by the driver that the mode chooses.
    pub(crate) async fn open_writer(
        mut self,
        shared: &Arc<Engine<S, C, R>>,
        request: &SetStream<'_>,
    ) -> Result<MuxWriter<S, C, R>, StorageError> {
        let (mut lanes, mut absent) = (Vec::new(), Vec::new());
        let quorum = match plan(self.engine.settings.mode, Operation::SetStream) {
            Plan::InTurn | Plan::Race => {
                let (writer, (attempt, cx)) =
                    self.in_turn(request, |attempt, writer| (writer, attempt.keep(shared))).await?;
                let watch = StreamWatch::new(attempt, self.signal.clone(), cx);
                lanes.push(WriteLane::new(writer, watch, 0, true));
                None
            }
            Plan::Settle(quorum) => {
                let targets = self.targets(quorum);
                let mut opened = Vec::new();
                let settled = self.write_all(request, &targets, Served::new, |at, served| {
                    opened.push((at, served));
                });
                let settled = settled.await;
                let ends = self.ends(&targets, settled);
                opened.sort_unstable_by_key(|(at, _)| *at);
                let origin = ends.iter().find(|lane| lane.is_origin).map(|lane| lane.at);
                for (at, served) in opened {
                    let (writer, (attempt, cx)) = served.keep(shared);
                    let watch = StreamWatch::new(attempt, self.signal.clone(), cx);
                    lanes.push(WriteLane::new(writer, watch, at, origin == Some(at)));
                }
                absent.extend(ends.into_iter().filter(|lane| !matches!(lane.end, End::Stored)));
                Some(quorum)
            }
        };
        let mut writer = MuxWriter {
            state: State::Open,
            lanes,
            absent,
            quorum,
            engine: shared.clone(),
            span: Some(core::mem::take(&mut self.span)),
        };
        writer.fail_if_doomed()?;
        Ok(writer)
    }
}

impl<S: LocalStorage, C: Clock, R: Rng> MuxWriter<S, C, R> {
    /// Lets every backend's sink take a step. Ready once all have, those left behind apart.
    fn step(
        &mut self,
        task: &mut Context<'_>,
        step: Step<S::Writer>,
    ) -> Poll<Result<(), StorageError>> {
        match &self.state {
            State::Open => {}
            State::Closed => return Poll::Ready(Err(closed())),
            State::Failed(error) => return Poll::Ready(Err(error.clone())),
        }
        let mut all = Poll::Ready(());
        for lane in &mut self.lanes {
            if lane.poll(task, step).is_pending() {
                all = Poll::Pending;
            }
        }
        self.fail_if_doomed()?;
        all.map(Ok)
    }

    /// Ends the stream as failed where it can no longer succeed: everything still open is dropped
    /// unclosed, so that nothing more becomes visible.
    fn fail_if_doomed(&mut self) -> Result<(), StorageError> {
        let failed = |lane: &WriteLane<S, C, R>| lane.failure().is_some();
        let gave_up =
            |lane: &WriteLane<S, C, R>| matches!(lane.failure(), Some((Outcome::Abort, _)));
        let doomed = self.lanes.iter().any(gave_up)
            || match self.quorum {
                None => self.lanes.iter().any(failed),
                Some(Quorum::Origin) => {
                    !self.lanes.iter().any(|lane| lane.is_origin && !failed(lane))
                }
                Some(Quorum::Any) => self.lanes.iter().all(failed),
            };
        if !doomed {
            return Ok(());
        }
        // First what is to blame, since giving up marks the others as aborted.
        let error = match self.quorum {
            None => self.lanes.first().and_then(|lane| {
                let (outcome, error) = lane.failure()?;
                Some(lane.watch.blame(outcome, error.clone()))
            }),
            Some(quorum) => conclude(&self.engine, quorum, self.ends()).err(),
        };
        self.lanes.iter_mut().for_each(WriteLane::give_up);
        self.span = None;
        let error = error.unwrap_or_else(|| self.engine.all_down(0).into());
        self.state = State::Failed(error.clone());
        Err(error)
    }

    /// What became of each backend so far. One that is still open lacks the value, and was not to
    /// blame.
    fn ends(&self) -> Vec<LaneEnd> {
        let mut ends: Vec<LaneEnd> = self.absent.clone();
        ends.extend(self.lanes.iter().map(|lane| LaneEnd {
            at: lane.at,
            name: lane.watch.name().clone(),
            index: lane.watch.index(),
            is_origin: lane.is_origin,
            end: lane.end.clone().unwrap_or_else(|| End::GivenUp(StorageError::aborted())),
        }));
        ends.sort_unstable_by_key(|lane| lane.at);
        ends
    }
}

fn closed() -> StorageError {
    StorageError::other("the write stream is closed; open another")
}

impl<S: LocalStorage, C: Clock, R: Rng> Sink<Bytes> for MuxWriter<S, C, R> {
    type Error = StorageError;

    fn poll_ready(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        self.get_mut().step(task, |writer, task| writer.poll_ready(task))
    }

    fn start_send(self: Pin<&mut Self>, chunk: Bytes) -> Result<(), StorageError> {
        let this = self.get_mut();
        match &this.state {
            State::Open => {
                this.lanes.iter_mut().for_each(|lane| lane.send(chunk.clone()));
                this.fail_if_doomed()
            }
            State::Closed => Err(closed()),
            State::Failed(error) => Err(error.clone()),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        self.get_mut().step(task, |writer, task| writer.poll_flush(task))
    }

    fn poll_close(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        let this = self.get_mut();
        match &this.state {
            State::Open => {}
            State::Closed => return Poll::Ready(Ok(())),
            State::Failed(error) => return Poll::Ready(Err(error.clone())),
        }
        // Every lane closes at its own pace and is never asked again once it has.
        for lane in this.lanes.iter_mut().filter(|lane| lane.is_open()) {
            if lane.poll(task, |writer, task| writer.poll_close(task)).is_ready() {
                lane.store();
            }
        }
        this.fail_if_doomed()?;
        if this.lanes.iter().any(WriteLane::is_open) {
            return Poll::Pending;
        }
        let concluded = match this.quorum {
            None => Ok(()),
            Some(quorum) => conclude(&this.engine, quorum, this.ends()),
        };
        this.span = None;
        this.state = match &concluded {
            Ok(()) => State::Closed,
            Err(error) => State::Failed(error.clone()),
        };
        Poll::Ready(concluded)
    }
}

impl<S: LocalStorage, C: Clock, R: Rng> fmt::Debug for MuxWriter<S, C, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            State::Open => "open",
            State::Closed => "closed",
            State::Failed(_) => "failed",
        };
        f.debug_struct("MuxWriter").field("state", &state).finish_non_exhaustive()
    }
}
