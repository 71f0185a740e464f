//! The breaker as a machine without time, threads or futures: facts go in, answers come out.
//!
//! | from | on | to |
//! |---|---|---|
//! | closed | `failure_threshold` failures in a row | open |
//! | open | a call after `timeout` | half-open, that call is the first trial |
//! | half-open | `success_threshold` successes in a row | closed |
//! | half-open | any failure | open, for another `timeout` |
//!
//! Each change begins a new generation. A call belongs to the generation that let it through, and
//! its outcome counts in that one alone: what was slow in an earlier state says nothing of this one.

use core::fmt;
use core::time::Duration;

use super::options::CircuitBreakerOptions;
use crate::time::Instant;

/// Whether a breaker lets calls through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "kebab-case"))]
pub enum CircuitState {
    /// Every call is let through.
    Closed,
    /// None is. It stays so, also past its time, until the next call comes.
    Open,
    /// A few are, on trial.
    HalfOpen,
}

impl CircuitState {
    /// The name that events and measurements use: a wire contract.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half-open",
        }
    }
}

impl fmt::Display for CircuitState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The `state_change` event of a breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct StateChange {
    /// The state before.
    pub from: CircuitState,
    /// The state after.
    pub to: CircuitState,
    /// Which change of this breaker it is, counted from one. Listeners that are called from
    /// several threads can tell the order by it.
    pub sequence: u64,
}

impl StateChange {
    /// The topic: a wire contract.
    pub const TOPIC: &'static str = "state_change";
}

/// What the outcome of a call says about the callee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Verdict {
    /// It is well. An answer of "no" is an answer: it ends a run of failures.
    Success,
    /// It is not.
    Failure,
    /// Nothing: the call never got there, or its caller gave up.
    Ignored,
}

impl Verdict {
    /// The plain reading: a value is a success and an error a failure.
    #[must_use]
    pub const fn of<T, E>(result: &Result<T, E>) -> Self {
        match result {
            Ok(_) => Self::Success,
            Err(_) => Self::Failure,
        }
    }
}

/// Proof that a call was let through, and in which generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticket {
    generation: u64,
    /// It occupies one of the places of the half-open state.
    trial: bool,
}

impl Ticket {
    pub(super) const fn is_trial(self) -> bool {
        self.trial
    }
}

/// What a breaker needs to know without its lock, in one word: the generation, whether failures
/// are being counted, and the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word(u64);

impl Word {
    const OPEN: u64 = 1;
    const HALF_OPEN: u64 = 2;
    const STATE: u64 = 0b011;
    const COUNTING: u64 = 0b100;
    const GENERATION: u32 = 3;

    pub(super) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(super) const fn bits(self) -> u64 {
        self.0
    }

    pub(super) const fn state(self) -> CircuitState {
        match self.0 & Self::STATE {
            Self::OPEN => CircuitState::Open,
            Self::HALF_OPEN => CircuitState::HalfOpen,
            _ => CircuitState::Closed,
        }
    }

    /// The ticket of a closed breaker, which lets everyone through; none in any other state.
    pub(super) const fn ticket_if_closed(self) -> Option<Ticket> {
        if self.0 & Self::STATE == 0 {
            Some(Ticket { generation: self.0 >> Self::GENERATION, trial: false })
        } else {
            None
        }
    }

    /// Whether a success of this ticket would change nothing: closed, the same generation, and no
    /// run of failures to end.
    pub(super) const fn is_settled_by(self, ticket: Ticket) -> bool {
        !ticket.trial && self.0 == ticket.generation << Self::GENERATION
    }
}

/// The answer to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// Let through, after the change if there is one.
    Granted(Ticket, Option<StateChange>),
    /// Refused. The shortest time after which a call can be let through.
    Refused(Duration),
}

/// The machine.
#[derive(Debug)]
pub(super) struct Machine {
    options: CircuitBreakerOptions,
    generation: u64,
    phase: Phase,
}

#[derive(Debug)]
enum Phase {
    Closed { failures: u32 },
    Open { until: Instant },
    HalfOpen { running: u32, successes: u32 },
}

impl Machine {
    pub(super) const fn new(options: CircuitBreakerOptions) -> Self {
        Self { options, generation: 0, phase: Phase::Closed { failures: 0 } }
    }

    pub(super) const fn word(&self) -> Word {
        let state = match self.phase {
            Phase::Closed { failures: 0 } => 0,
            Phase::Closed { .. } => Word::COUNTING,
            Phase::Open { .. } => Word::OPEN,
            Phase::HalfOpen { .. } => Word::HALF_OPEN,
        };
        Word(self.generation << Word::GENERATION | state)
    }

    /// A call asks to be let through.
    pub(super) fn admit(&mut self, now: Instant) -> Admission {
        match &mut self.phase {
            Phase::Closed { .. } => Admission::Granted(self.ticket(false), None),
            Phase::Open { until } if now < *until => Admission::Refused(*until - now),
            Phase::Open { .. } => {
                let change = self.enter(Phase::HalfOpen { running: 1, successes: 0 });
                Admission::Granted(self.ticket(true), Some(change))
            }
            Phase::HalfOpen { running, .. } if *running < self.options.half_open_max() => {
                *running += 1;
                Admission::Granted(self.ticket(true), None)
            }
            Phase::HalfOpen { .. } => Admission::Refused(Duration::ZERO),
        }
    }

    /// A call that was let through has succeeded.
    pub(super) fn on_success(&mut self, ticket: Ticket) -> Option<StateChange> {
        if ticket.generation != self.generation {
            return None;
        }
        match &mut self.phase {
            Phase::Closed { failures } => *failures = 0,
            Phase::Open { .. } => {}
            Phase::HalfOpen { running, successes } => {
                *running = running.saturating_sub(1);
                *successes = successes.saturating_add(1);
                if *successes >= self.options.success_threshold() {
                    return Some(self.enter(Phase::Closed { failures: 0 }));
                }
            }
        }
        None
    }

    /// A call that was let through has failed.
    pub(super) fn on_failure(&mut self, now: Instant, ticket: Ticket) -> Option<StateChange> {
        if ticket.generation != self.generation {
            return None;
        }
        let trips = match &mut self.phase {
            Phase::Closed { failures } => {
                *failures = failures.saturating_add(1);
                *failures >= self.options.failure_threshold()
            }
            Phase::Open { .. } => false,
            // One failed trial is the verdict, whatever the threshold of the closed state.
            Phase::HalfOpen { .. } => true,
        };
        trips.then(|| self.enter(Phase::Open { until: now + self.options.timeout() }))
    }

    /// A call that was let through has ended without a verdict.
    pub(super) fn on_release(&mut self, ticket: Ticket) {
        if let Phase::HalfOpen { running, .. } = &mut self.phase
            && ticket.generation == self.generation
        {
            *running = running.saturating_sub(1);
        }
    }

    const fn ticket(&self, trial: bool) -> Ticket {
        Ticket { generation: self.generation, trial }
    }

    fn enter(&mut self, phase: Phase) -> StateChange {
        let from = self.word().state();
        self.phase = phase;
        self.generation += 1;
        StateChange { from, to: self.word().state(), sequence: self.generation }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What changes nothing takes no lock, so word and ticket alone must tell that it does.
    ///
    /// Spec: RT-06
    #[test]
    fn only_a_success_in_the_same_closed_state_with_no_failures_to_forget_is_settled_beforehand() {
        let options = CircuitBreakerOptions::new().with_failure_threshold(2);
        let options = options.with_timeout(Duration::ZERO);
        let mut machine = Machine::new(options);
        for round in 0..3 {
            let ticket = machine.word().ticket_if_closed().expect("it is closed");
            assert!(!ticket.is_trial(), "it has no place to give back");
            assert!(machine.word().is_settled_by(ticket), "round {round}");
            machine.on_failure(Instant::ZERO, ticket);
            assert!(!machine.word().is_settled_by(ticket), "a failure is there to forget");
            machine.on_success(ticket);
            assert!(machine.word().is_settled_by(ticket), "and is forgotten");

            machine.on_failure(Instant::ZERO, ticket);
            machine.on_failure(Instant::ZERO, ticket);
            assert_eq!(machine.word().ticket_if_closed(), None, "it is open");
            assert!(!machine.word().is_settled_by(ticket));
            let Admission::Granted(trial, Some(_)) = machine.admit(Instant::ZERO) else {
                panic!("its time is over")
            };
            assert_eq!(machine.word().ticket_if_closed(), None, "it is half-open");
            assert!(trial.is_trial(), "it has one");
            assert!(!machine.word().is_settled_by(trial), "a trial always counts");
            machine.on_success(trial);
            assert!(!machine.word().is_settled_by(ticket), "of an earlier state");
            assert!(!machine.word().is_settled_by(trial), "likewise");
        }
    }
}
