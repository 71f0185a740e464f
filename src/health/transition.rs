//! The state machine of a backend's health. No clock, no lock, no atomics.

use core::time::Duration;

use super::Cooldown;
use crate::error::StorageError;
use crate::time::Instant;

/// What one call had seen of the state when it set out. Results are judged by it: a call that set
/// out before a change says nothing about what came after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// Counts the changes between up and down. Odd while down.
    pub(crate) epoch: u32,
    /// Failures in a row that counted.
    pub(crate) failures: u32,
}

impl Stamp {
    pub(crate) const fn is_up(self) -> bool {
        self.epoch.is_multiple_of(2)
    }

    pub(crate) const fn to_word(self) -> u64 {
        (self.epoch as u64) << 32 | self.failures as u64
    }

    pub(crate) const fn from_word(word: u64) -> Self {
        Self { epoch: (word >> 32) as u32, failures: word as u32 }
    }
}

/// What a backend may be asked for at this moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Any call.
    Up,
    /// One call, to see whether it is back.
    Probe,
    /// Nothing: another call is finding out.
    Probing,
    /// Nothing, unless all else has failed.
    Resting,
}

/// A change that others should hear of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transition {
    /// From up to down.
    Down,
    /// From down to up.
    Recovered {
        /// The time between.
        down_for: Duration,
    },
}

/// The health of one backend.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    pub(crate) stamp: Stamp,
    pub(crate) cooldown_until: Instant,
    pub(crate) last_transition: Option<Instant>,
    pub(crate) last_error: Option<StorageError>,
}

/// A copy of the state for reports.
#[derive(Clone, Debug)]
pub(crate) struct Observation {
    pub(crate) is_up: bool,
    pub(crate) consecutive_failures: u32,
    pub(crate) cooldown_until: Option<Instant>,
    pub(crate) last_transition: Option<Instant>,
    pub(crate) last_error: Option<StorageError>,
}

impl State {
    /// A call that set out at `seen` has failed.
    ///
    /// Calls that were under way together and fail together are one outage and count once: all but
    /// the first carry an old stamp. `error` is swapped for the one remembered before, which the
    /// caller drops where it may: dropping an error can run foreign code.
    pub(crate) fn on_failure(
        &mut self,
        now: Instant,
        seen: Stamp,
        error: &mut Option<StorageError>,
        cooldown: Cooldown,
    ) -> Option<Transition> {
        if seen != self.stamp {
            return None;
        }
        let was_up = self.stamp.is_up();
        let retry_after = error.as_ref().and_then(StorageError::retry_after);
        self.cooldown_until = now + cooldown.after(self.stamp.failures, retry_after);
        self.stamp.failures = self.stamp.failures.saturating_add(1);
        core::mem::swap(&mut self.last_error, error);
        if !was_up {
            return None;
        }
        self.turn(now);
        Some(Transition::Down)
    }

    /// A call that set out at `seen` was answered.
    pub(crate) fn on_success(&mut self, now: Instant, seen: Stamp) -> Option<Transition> {
        if self.stamp.is_up() || seen.epoch != self.stamp.epoch {
            return None;
        }
        let down_for = now - self.last_transition.unwrap_or(now);
        self.stamp.failures = 0;
        self.turn(now);
        Some(Transition::Recovered { down_for })
    }

    fn turn(&mut self, now: Instant) {
        self.stamp.epoch = self.stamp.epoch.wrapping_add(1);
        self.last_transition = Some(now);
    }

    pub(crate) fn observe(&self) -> Observation {
        let is_up = self.stamp.is_up();
        Observation {
            is_up,
            consecutive_failures: self.stamp.failures,
            cooldown_until: (!is_up).then_some(self.cooldown_until),
            last_transition: self.last_transition,
            last_error: self.last_error.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COOLDOWN: Cooldown =
        Cooldown { base: Duration::from_secs(1), cap: Duration::from_secs(60) };

    fn at(seconds: u64) -> Instant {
        Instant::from_epoch(Duration::from_secs(seconds))
    }

    fn fail(state: &mut State, now: Instant) -> Option<Transition> {
        let seen = state.stamp;
        fail_from(state, now, seen)
    }

    fn fail_from(state: &mut State, now: Instant, seen: Stamp) -> Option<Transition> {
        state.on_failure(now, seen, &mut Some(StorageError::http(503)), COOLDOWN)
    }

    /// Spec: HE-2, HE-3
    #[test]
    fn the_first_failure_takes_it_down_once_and_the_next_lengthens_the_cooldown() {
        let mut state = State::default();
        assert_eq!(fail(&mut state, at(10)), Some(Transition::Down));
        assert_eq!(state.cooldown_until, at(11));
        assert_eq!(fail(&mut state, at(11)), None);
        assert_eq!(state.cooldown_until, at(13));
        assert_eq!(state.observe().consecutive_failures, 2);
        assert_eq!(state.observe().cooldown_until, Some(at(13)));
        assert_eq!(state.observe().last_transition, Some(at(10)));
    }

    /// Spec: HE-4
    #[test]
    fn a_success_while_down_brings_it_back_with_the_time_it_was_down() {
        let mut state = State::default();
        fail(&mut state, at(10));
        let seen = state.stamp;
        let back = state.on_success(at(14), seen);
        assert_eq!(back, Some(Transition::Recovered { down_for: Duration::from_secs(4) }));
        assert_eq!(state.observe().consecutive_failures, 0);
        assert_eq!(state.on_success(at(15), state.stamp), None);
    }

    /// Spec: HE-2
    #[test]
    fn a_hundred_calls_that_hang_together_are_one_outage() {
        let mut state = State::default();
        let seen = state.stamp;
        for _ in 0..100 {
            fail_from(&mut state, at(30), seen);
        }
        assert_eq!(state.observe().consecutive_failures, 1);
        assert_eq!(state.cooldown_until, at(31));
    }

    /// Spec: HE-4
    #[test]
    fn a_call_that_set_out_before_the_outage_does_not_end_it_and_a_late_failure_does_not_renew_it()
    {
        let mut state = State::default();
        let before = state.stamp;
        fail(&mut state, at(1));
        assert_eq!(state.on_success(at(20), before), None);
        assert!(!state.observe().is_up);
        let down = state.stamp;
        state.on_success(at(21), down);
        assert_eq!(fail_from(&mut state, at(22), before), None);
        assert_eq!(fail_from(&mut state, at(22), down), None);
        assert!(state.observe().is_up);
    }

    /// Spec: HE-6
    #[test]
    fn a_clock_that_jumps_back_reads_as_no_time_at_all() {
        let mut state = State::default();
        fail(&mut state, at(100));
        let seen = state.stamp;
        let back = state.on_success(at(5), seen);
        assert_eq!(back, Some(Transition::Recovered { down_for: Duration::ZERO }));
        fail(&mut state, Instant::MAX);
        assert_eq!(state.cooldown_until, Instant::MAX);
    }
}
