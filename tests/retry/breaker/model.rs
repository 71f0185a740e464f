//! The breaker against a model that keeps books instead of states.

use core::time::Duration;
use std::collections::BTreeSet;

use proptest::prelude::*;
use storage_mux::retry::{CircuitBreaker, CircuitBreakerOptions, CircuitState, Permit, Verdict};
use storage_mux::sim::FakeClock;

use crate::support::ms;

const OPEN_MS: u64 = 100;

#[derive(Clone, Debug)]
enum Step {
    Ask,
    /// Ends the call at this position among those under way, if there are any.
    End(usize, Verdict),
    Drop(usize),
    Wait(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let verdict = prop::sample::select(&[Verdict::Success, Verdict::Failure, Verdict::Ignored][..]);
    let failing = (any::<usize>(), Just(Verdict::Failure)).prop_map(|(i, v)| Step::End(i, v));
    let step = prop_oneof![
        4 => Just(Step::Ask),
        2 => (any::<usize>(), verdict).prop_map(|(i, v)| Step::End(i, v)),
        2 => failing,
        1 => any::<usize>().prop_map(Step::Drop),
        1 => (0..=OPEN_MS * 3 / 2).prop_map(Step::Wait),
    ];
    prop::collection::vec(step, 1..150)
}

/// An era ends with each change of state. Everything else is read off the books of the era.
struct Model {
    failure_threshold: usize,
    success_threshold: usize,
    half_open_max: usize,
    now: u64,
    era: u64,
    /// When the open era began; none in the others.
    opened_at: Option<u64>,
    /// Whether the era is one of trials.
    trials: bool,
    /// The verdicts of this era's own calls, oldest first.
    verdicts: Vec<Verdict>,
    /// This era's own calls that are under way.
    under_way: BTreeSet<u64>,
    next_call: u64,
}

impl Model {
    fn begin(&mut self, opened_at: Option<u64>, trials: bool) {
        self.era += 1;
        self.opened_at = opened_at;
        self.trials = trials;
        self.verdicts.clear();
        self.under_way.clear();
    }

    fn state(&self) -> CircuitState {
        match (self.opened_at, self.trials) {
            (Some(_), _) => CircuitState::Open,
            (None, true) => CircuitState::HalfOpen,
            (None, false) => CircuitState::Closed,
        }
    }

    /// The new call, or how long to stay away.
    fn ask(&mut self) -> Result<u64, Duration> {
        if let Some(opened_at) = self.opened_at {
            let since = self.now - opened_at;
            if since < OPEN_MS {
                return Err(ms(OPEN_MS - since));
            }
            self.begin(None, true);
        }
        if self.trials && self.under_way.len() >= self.half_open_max {
            return Err(Duration::ZERO);
        }
        self.next_call += 1;
        self.under_way.insert(self.next_call);
        Ok(self.next_call)
    }

    fn end(&mut self, call: u64, verdict: Verdict) {
        if !self.under_way.remove(&call) || verdict == Verdict::Ignored {
            return;
        }
        self.verdicts.push(verdict);
        let in_a_row = self.verdicts.iter().rev().take_while(|past| **past == verdict).count();
        match verdict {
            Verdict::Failure if self.trials || in_a_row >= self.failure_threshold => {
                self.begin(Some(self.now), false);
            }
            Verdict::Success if self.trials && in_a_row >= self.success_threshold => {
                self.begin(None, false);
            }
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// Spec: RT-06
    #[test]
    fn the_breaker_does_what_the_books_say(
        thresholds in (1..5_u32, 1..4_u32, 1..4_u32),
        steps in steps(),
    ) {
        let (failures, successes, places) = thresholds;
        let options = CircuitBreakerOptions::new()
            .with_failure_threshold(failures)
            .with_success_threshold(successes)
            .with_half_open_max(places)
            .with_timeout(ms(OPEN_MS));
        let clock = FakeClock::new();
        let breaker = CircuitBreaker::new(options, clock.clone()).unwrap();
        let mut model = Model {
            failure_threshold: failures as usize,
            success_threshold: successes as usize,
            half_open_max: places as usize,
            now: 0,
            era: 0,
            opened_at: None,
            trials: false,
            verdicts: Vec::new(),
            under_way: BTreeSet::new(),
            next_call: 0,
        };
        let mut calls: Vec<(Permit<'_, FakeClock>, u64)> = Vec::new();
        for step in steps {
            match step {
                Step::Ask => match (breaker.admit(), model.ask()) {
                    (Ok(permit), Ok(call)) => calls.push((permit, call)),
                    (Err(refused), Err(wait)) => prop_assert_eq!(refused.retry_after, wait),
                    (real, expected) => prop_assert!(false, "{:?} but {:?}", real, expected),
                },
                Step::End(at, verdict) if !calls.is_empty() => {
                    let (permit, call) = calls.swap_remove(at % calls.len());
                    permit.settle(verdict);
                    model.end(call, verdict);
                }
                Step::Drop(at) if !calls.is_empty() => {
                    let (permit, call) = calls.swap_remove(at % calls.len());
                    drop(permit);
                    model.end(call, Verdict::Ignored);
                }
                Step::End(..) | Step::Drop(_) => {}
                Step::Wait(wait) => {
                    clock.advance(ms(wait));
                    model.now += wait;
                }
            }
            prop_assert_eq!(breaker.state(), model.state());
        }
    }
}
