//! A write goes to all usable backends at once, and all are waited for.

use alloc::vec::Vec;
use core::future::poll_fn;

use super::attempt::Attempt;
use super::tries::Failure;
use super::{Call, Engine, Request};
use crate::error::{MuxCode, MuxError, StorageError};
use crate::mode::{BackendSet, Quorum};
use crate::name::BackendName;
use crate::port::{Clock, Event, LocalStorage};
use crate::rng::Rng;
use crate::roster::Member;
use crate::stats::Outcome;
use crate::sync::Ordering;

/// What became of a write on one backend.
#[derive(Clone, Debug)]
pub(super) struct LaneEnd {
    /// Its place in the order of the mux.
    pub(super) at: usize,
    pub(super) name: BackendName,
    pub(super) index: u32,
    pub(super) is_origin: bool,
    pub(super) end: End,
}

#[derive(Clone, Debug)]
pub(super) enum End {
    Stored,
    Failed(Outcome, StorageError),
    /// It was not asked, since it is down.
    Skipped(StorageError),
    /// It was asked, but the stream failed elsewhere first.
    GivenUp(StorageError),
}

impl End {
    const fn error(&self) -> Option<&StorageError> {
        match self {
            Self::Stored => None,
            Self::Failed(_, error) | Self::Skipped(error) | Self::GivenUp(error) => Some(error),
        }
    }
}

/// The backends of a write: who is asked, and who is skipped.
pub(super) struct Targets {
    pub(super) asked: BackendSet,
    pub(super) probing: BackendSet,
    pub(super) skipped: BackendSet,
    /// The origin, where it decides: asked whatever its health.
    decides: BackendSet,
}

/// How a write on several backends went.
pub(super) struct Settled {
    /// Who was asked in the end.
    opened: BackendSet,
    failures: Vec<(usize, Failure)>,
}

impl Settled {
    /// Whether it was stored by everyone who takes calls: there is nothing to conclude then.
    fn is_whole(&self, targets: &Targets) -> bool {
        let all = targets.skipped.is_empty() && self.opened == targets.asked;
        all && self.failures.is_empty()
    }
}

impl<'a, S: LocalStorage, C: Clock, R: Rng> Call<'a, S, C, R> {
    /// Who a write goes to: all that are usable, and the origin in any case where it decides.
    pub(super) fn targets(&self, quorum: Quorum) -> Targets {
        let view = self.roster.view(self.started);
        let mut decides = BackendSet::EMPTY;
        if let (Quorum::Origin, Some(origin)) = (quorum, self.roster.origin()) {
            decides.insert(origin);
        }
        let asked = view.up.union(view.probe).union(decides);
        let skipped = self.roster.active().minus(asked);
        Targets { asked, probing: view.probe, skipped, decides }
    }

    /// Sends a write to all, waits for all, and answers by the quorum.
    ///
    /// # Errors
    ///
    /// See [`conclude`].
    pub(super) async fn settle<Q: Request<S>>(
        &'a self,
        request: &Q,
        quorum: Quorum,
    ) -> Result<Q::Answer, StorageError> {
        let targets = self.targets(quorum);
        // The answer of the first in the order of the mux.
        let mut first: Option<(usize, Q::Answer)> = None;
        let end = |_, answer| answer;
        let settled = self.write_all(request, &targets, end, |at, answer| {
            if first.as_ref().is_none_or(|(known, _)| at < *known) {
                first = Some((at, answer));
            }
        });
        let settled = settled.await;
        if !settled.is_whole(&targets) {
            conclude(self.engine, quorum, self.ends(&targets, settled))?;
        }
        first.map(|(_, answer)| answer).ok_or_else(|| self.engine.all_down(0).into())
    }

    /// Runs a write on all targets, ends each that succeeds by `end`, and hands over what it makes.
    pub(super) async fn write_all<Q: Request<S>, T>(
        &'a self,
        request: &Q,
        targets: &Targets,
        end: impl FnOnce(Attempt<'a, S, C, R>, Q::Answer) -> T + Copy,
        mut stored: impl FnMut(usize, T),
    ) -> Settled {
        let Targets { asked, probing, decides, .. } = *targets;
        let mut lanes = self.fan_out(request, asked, probing, decides, false, end);
        let opened: BackendSet = lanes.places().collect();
        let mut failures: Vec<(usize, Failure)> = Vec::new();
        poll_fn(|task| {
            lanes.poll(task, |at, lane| match lane {
                None => {}
                Some(Ok(end)) => stored(at, end),
                Some(Err((_, failure))) => failures.push((at, failure)),
            })
        })
        .await;
        Settled { opened, failures }
    }

    /// What became of each backend, in the order of the mux, those that were skipped among them.
    pub(super) fn ends(&self, targets: &Targets, settled: Settled) -> Vec<LaneEnd> {
        let Settled { opened, mut failures } = settled;
        let mut ends = Vec::new();
        let mut index = 0;
        for at in targets.asked.union(targets.skipped).iter() {
            let Some(member) = self.roster.member(at) else { continue };
            let failure = failures.iter().position(|(failed, _)| *failed == at);
            let end = match failure.map(|found| failures.swap_remove(found).1) {
                Some(failure) => End::Failed(failure.outcome, failure.error),
                None if opened.contains(at) => End::Stored,
                // One that began to drain on the way in was never skipped for being down.
                None if targets.asked.contains(at) && member.is_draining() => continue,
                None => End::Skipped(why_skipped(member)),
            };
            // Where the origin drains on the way in, the next in the order takes its place.
            let is_origin = ends.is_empty();
            ends.push(LaneEnd { at, name: member.name.clone(), index, is_origin, end });
            index += u32::from(opened.contains(at));
        }
        ends
    }
}

/// The error that keeps a backend out.
pub(super) fn why_skipped<S>(member: &Member<S>) -> StorageError {
    let last = member.health.observe().last_error;
    last.unwrap_or_else(|| StorageError::other("the backend is down and was not asked"))
}

/// What a write that went to several backends comes to, once all have ended.
///
/// # Errors
///
/// `BACKEND_ABORTED` where the caller gave up. Where the origin decides and failed, its semantic
/// error as it is, or `ALL_BACKENDS_DOWN` with its error as the source. Where anyone's success
/// counts and there is none, the common semantic error, or `ALL_BACKENDS_DOWN` with all errors by
/// name. `WRITE_FANOUT_PARTIAL` where the options ask for it.
pub(super) fn conclude<S: LocalStorage, C: Clock, R: Rng>(
    engine: &Engine<S, C, R>,
    quorum: Quorum,
    ends: Vec<LaneEnd>,
) -> Result<(), StorageError> {
    for LaneEnd { name, index, end, .. } in &ends {
        if let End::Failed(Outcome::Abort, error) = end {
            return Err(engine.aborted(name, *index, error.clone()));
        }
    }
    let asked = ends.iter().filter(|lane| !matches!(lane.end, End::Skipped(_))).count();
    let down = || engine.all_down(u32::try_from(asked).unwrap_or(u32::MAX));
    match quorum {
        Quorum::Origin => match ends.iter().find(|lane| lane.is_origin).map(|lane| &lane.end) {
            Some(End::Stored) => {}
            Some(End::Failed(Outcome::Ok | Outcome::Miss | Outcome::Semantic, error)) => {
                return Err(error.clone());
            }
            Some(End::Failed(_, error) | End::Skipped(error) | End::GivenUp(error)) => {
                return Err(down().with_source(error.clone()).into());
            }
            None => return Err(down().into()),
        },
        Quorum::Any if ends.iter().any(|lane| matches!(lane.end, End::Stored)) => {}
        Quorum::Any => {
            if let Some(error) = common_answer(&ends) {
                return Err(error.clone());
            }
            let errors = named_errors(ends);
            return Err(
                if errors.is_empty() { down() } else { down().with_aggregate(errors) }.into()
            );
        }
    }
    let lacking = named_errors(ends);
    if lacking.is_empty() {
        return Ok(());
    }
    engine.totals.fanout_partials.fetch_add(1, Ordering::Relaxed);
    engine.watchers.emit(|| Event::FanoutPartial {
        mode: engine.settings.mode,
        failed: lacking.iter().map(|(name, _)| name.clone()).collect(),
        causes: lacking.iter().map(|(_, error)| error.clone()).collect(),
    });
    if engine.settings.throw_on_fanout_partial {
        let error = MuxError::new(MuxCode::WriteFanoutPartial).with_mode(engine.settings.mode);
        return Err(error.with_aggregate(lacking).into());
    }
    Ok(())
}

/// The semantic error that all who were asked gave alike.
fn common_answer(ends: &[LaneEnd]) -> Option<&StorageError> {
    let mut asked = ends.iter().filter(|lane| !matches!(lane.end, End::Skipped(_)));
    let End::Failed(Outcome::Semantic | Outcome::Miss, first) = &asked.next()?.end else {
        return None;
    };
    asked.all(|lane| lane.end.error() == Some(first)).then_some(first)
}

fn named_errors(ends: Vec<LaneEnd>) -> Vec<(BackendName, StorageError)> {
    let named = |lane: LaneEnd| Some((lane.name, lane.end.error()?.clone()));
    ends.into_iter().filter_map(named).collect()
}
