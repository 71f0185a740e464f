//! All usable backends at once; the first answer wins and the rest is dropped.

use alloc::vec::Vec;
use core::future::poll_fn;
use core::task::Poll;

use super::attempt::Served;
use super::tries::Failure;
use super::{Call, Request};
use crate::error::StorageError;
use crate::mode::BackendSet;
use crate::port::{Clock, LocalStorage};
use crate::rng::Rng;
use crate::stats::Outcome;

impl<'a, S: LocalStorage, C: Clock, R: Rng> Call<'a, S, C, R> {
    /// Asks all usable backends. A value wins at once. A "no" never beats a slower "yes": errors,
    /// and answers that say there is nothing, wait for all the others.
    ///
    /// # Errors
    ///
    /// The common semantic error where every backend that was asked gave the same;
    /// `BACKEND_ABORTED` where the caller gave up; else `ALL_BACKENDS_DOWN` with all errors by name.
    pub(super) async fn race<Q: Request<S>>(
        &'a self,
        request: &Q,
    ) -> Result<Served<'a, S, C, R, Q::Answer>, StorageError> {
        let view = self.roster.view(self.started);
        let (usable, nobody) = (view.up.union(view.probe), BackendSet::EMPTY);
        let mut lanes = self.fan_out(request, usable, view.probe, nobody, true, Served::new);
        let asked = lanes.places().count();
        let mut negative: Option<Served<'a, S, C, R, Q::Answer>> = None;
        let mut failures: Vec<(usize, u32, Failure)> = Vec::new();
        let winner = poll_fn(|task| {
            let mut winner = None;
            let rest = lanes.poll(task, |at, lane| match lane {
                None => {}
                Some(Ok(served)) if winner.is_some() => drop(served.finish()),
                Some(Ok(served)) if Q::is_conclusive(&served.answer) => winner = Some(served),
                // Of several that say there is nothing one is enough to say so; each is an answer.
                Some(Ok(served)) => match negative {
                    None => negative = Some(served),
                    Some(_) => drop(served.finish()),
                },
                Some(Err((index, failure))) => failures.push((at, index, failure)),
            });
            if winner.is_some() { Poll::Ready(winner) } else { rest.map(|()| None) }
        })
        .await;
        // The losers end here, before the winner is booked.
        drop(lanes);
        if let Some(winner) = winner {
            drop(negative.map(Served::finish));
            return Ok(winner);
        }
        failures.sort_unstable_by_key(|(at, ..)| *at);
        self.none_won(asked, negative, failures)
    }

    /// Nobody gave a value: what do they say together?
    fn none_won<T>(
        &self,
        asked: usize,
        negative: Option<Served<'a, S, C, R, T>>,
        failures: Vec<(usize, u32, Failure)>,
    ) -> Result<Served<'a, S, C, R, T>, StorageError> {
        let mut errors = Vec::with_capacity(failures.len());
        let mut all_semantic = true;
        for (at, index, failure) in failures {
            let Some(member) = self.roster.member(at) else { continue };
            match failure.outcome {
                Outcome::Abort => {
                    drop(negative.map(Served::finish));
                    return Err(self.engine.aborted(&member.name, index, failure.error));
                }
                Outcome::Transient | Outcome::Timeout => all_semantic = false,
                Outcome::Ok | Outcome::Miss | Outcome::Semantic => {}
            }
            errors.push((member.name.clone(), failure.error));
        }
        match negative {
            Some(negative) if all_semantic => return Ok(negative),
            Some(negative) => drop(negative.finish()),
            None => {}
        }
        if all_semantic
            && let Some((_, first)) = errors.first()
            && errors.iter().all(|(_, error)| error == first)
        {
            return Err(first.clone());
        }
        let down = self.engine.all_down(u32::try_from(asked).unwrap_or(u32::MAX));
        Err(if errors.is_empty() { down } else { down.with_aggregate(errors) }.into())
    }
}
