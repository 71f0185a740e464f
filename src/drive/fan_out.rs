//! Attempts on several backends, polled side by side.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use super::attempt::{Attempt, Lane};
use super::record::Entry;
use super::{Call, Request};
use crate::mode::BackendSet;
use crate::port::{Clock, LocalStorage};
use crate::rng::Rng;

/// Futures polled by hand: for the two to eight backends of a mux this costs a fraction of a set
/// that tracks who woke. Every wake polls all that still run.
pub(super) struct FanOut<F> {
    lanes: Vec<(usize, Option<Pin<Box<F>>>)>,
}

impl<F: Future> FanOut<F> {
    /// The places of the backends, in the order of the mux.
    pub(super) fn places(&self) -> impl Iterator<Item = usize> {
        self.lanes.iter().map(|(at, _)| *at)
    }

    /// Polls all that still run, and hands over who has ended. Ready once none is left.
    pub(super) fn poll(
        &mut self,
        task: &mut Context<'_>,
        mut ended: impl FnMut(usize, F::Output),
    ) -> Poll<()> {
        let mut rest = Poll::Ready(());
        for (at, lane) in &mut self.lanes {
            let Some(future) = lane else { continue };
            match future.as_mut().poll(task) {
                Poll::Ready(output) => {
                    *lane = None;
                    ended(*at, output);
                }
                Poll::Pending => rest = Poll::Pending,
            }
        }
        rest
    }
}

impl<'a, S: LocalStorage, C: Clock, R: Rng> Call<'a, S, C, R> {
    /// Opens an attempt on each of `targets` that takes it; nothing is asked before the first poll.
    /// One of `asked_anyway` is asked also where another call turns out to be probing it. What was
    /// answered is ended by `end`, still open where it is `raced`.
    pub(super) fn fan_out<'q, Q: Request<S>, T, E>(
        &'a self,
        request: &'q Q,
        targets: BackendSet,
        probing: BackendSet,
        asked_anyway: BackendSet,
        raced: bool,
        end: E,
    ) -> FanOut<impl Future<Output = Lane<T>> + use<'a, 'q, S, C, R, Q, T, E>>
    where
        E: FnOnce(Attempt<'a, S, C, R>, Q::Answer) -> T + Copy,
    {
        let mut lanes = Vec::with_capacity(targets.len());
        for at in targets.iter() {
            let Some(member) = self.roster.member(at) else { continue };
            let index = u32::try_from(lanes.len()).unwrap_or(u32::MAX);
            let probe = probing.contains(at);
            let enter = |probing| Entry::of(member, self.stripe, probing, self.started);
            let anyway = probe && asked_anyway.contains(at);
            if let Some(entry) = enter(probe).or_else(|| anyway.then(|| enter(false)).flatten()) {
                let mut attempt = Attempt::new(self.engine, member, index, entry, self.started);
                attempt.trace(self);
                lanes.push((at, Some(Box::pin(attempt.run(self, request, raced, end)))));
            }
        }
        FanOut { lanes }
    }
}
