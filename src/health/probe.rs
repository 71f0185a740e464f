//! A backend's health, shared between calls, and its one probe slot.

use core::fmt;

use super::transition::State;
use super::{Cooldown, Observation, Stamp, Standing, Transition};
use crate::error::StorageError;
use crate::sync::{AtomicBool, AtomicU64, Lock, Ordering};
use crate::time::Instant;

/// The state machine behind a lock, with what calls must read in front of it.
#[derive(Default)]
pub(crate) struct Health {
    /// The stamp, for calls that only look.
    word: AtomicU64,
    /// The end of the cooldown, likewise. Written before the word that makes it matter.
    cooldown_until: AtomicU64,
    probing: AtomicBool,
    state: Lock<State>,
}

impl Health {
    /// What a call should remember of the state when it sets out.
    #[inline]
    pub(crate) fn stamp(&self) -> Stamp {
        Stamp::from_word(self.word.load(Ordering::Acquire))
    }

    /// What the backend may be asked for at `now`.
    pub(crate) fn standing(&self, now: Instant) -> Standing {
        if self.stamp().is_up() {
            Standing::Up
        } else if self.probing.load(Ordering::Acquire) {
            Standing::Probing
        } else if self.has_rested(now) {
            Standing::Probe
        } else {
            Standing::Resting
        }
    }

    /// Takes the probe slot. False where another call has it, or where another has probed since
    /// this one looked and the backend rests again.
    pub(crate) fn begin_probe(&self, now: Instant) -> bool {
        if self.probing.compare_exchange(false, true, Ordering::AcqRel, Ordering::Acquire).is_err()
        {
            return false;
        }
        let due = self.stamp().is_up() || self.has_rested(now);
        if !due {
            self.end_probe();
        }
        due
    }

    fn has_rested(&self, now: Instant) -> bool {
        now >= Instant::from_nanos(self.cooldown_until.load(Ordering::Acquire))
    }

    /// Frees the probe slot. Only for whoever took it.
    pub(crate) fn end_probe(&self) {
        self.probing.store(false, Ordering::Release);
    }

    /// A call that set out at `seen` was answered at `now`.
    #[inline]
    pub(crate) fn on_success(&self, now: Instant, seen: Stamp) -> Option<Transition> {
        if self.stamp().is_up() {
            return None;
        }
        self.change(|state| state.on_success(now, seen))
    }

    /// A call that set out at `seen` has failed at `now`.
    pub(crate) fn on_failure(
        &self,
        now: Instant,
        seen: Stamp,
        error: &StorageError,
        cooldown: Cooldown,
    ) -> Option<Transition> {
        // An outcome that no longer counts needs no lock to be told so.
        if self.stamp() != seen {
            return None;
        }
        let mut error = Some(error.clone());
        // The error that is replaced drops here, after the lock.
        self.change(|state| state.on_failure(now, seen, &mut error, cooldown))
    }

    fn change(&self, f: impl FnOnce(&mut State) -> Option<Transition>) -> Option<Transition> {
        self.state.with(|state| {
            let transition = f(state);
            self.cooldown_until.store(state.cooldown_until.as_nanos(), Ordering::Release);
            self.word.store(state.stamp.to_word(), Ordering::Release);
            transition
        })
    }

    /// A copy of the state for reports.
    pub(crate) fn observe(&self) -> Observation {
        self.state.with(|state| state.observe())
    }
}

impl fmt::Debug for Health {
    /// Writes a copy, since the last error is foreign code and must not be written under the lock.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.observe();
        f.debug_struct("Health")
            .field("state", &state)
            .field("probing", &self.probing.load(Ordering::Relaxed))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;

    const COOLDOWN: Cooldown =
        Cooldown { base: Duration::from_secs(1), cap: Duration::from_secs(60) };

    fn down(at: Instant) -> Health {
        let health = Health::default();
        health.on_failure(at, health.stamp(), &StorageError::http(500), COOLDOWN);
        health
    }

    /// Spec: HE-4
    #[test]
    fn it_rests_up_to_the_last_nanosecond_of_the_cooldown_and_is_probed_from_its_end() {
        let health = down(Instant::ZERO);
        assert_eq!(health.standing(Instant::from_nanos(999_999_999)), Standing::Resting);
        assert_eq!(health.standing(Instant::from_nanos(1_000_000_000)), Standing::Probe);
    }

    /// Spec: HE-4
    #[test]
    fn one_call_probes_and_the_slot_is_free_again_after_it() {
        let health = down(Instant::ZERO);
        assert!(health.begin_probe(Instant::MAX));
        assert!(!health.begin_probe(Instant::MAX));
        assert_eq!(health.standing(Instant::MAX), Standing::Probing);
        health.end_probe();
        assert!(health.begin_probe(Instant::MAX));
    }

    /// Spec: HE-1, HE-4
    #[test]
    fn the_answer_that_brings_it_back_is_told_once_and_leaves_no_cooldown() {
        let health = down(Instant::ZERO);
        let (seen, now) = (health.stamp(), Instant::from_nanos(7));
        let back = Transition::Recovered { down_for: Duration::from_nanos(7) };
        assert_eq!(health.on_success(now, seen), Some(back));
        assert_eq!(health.on_success(now, health.stamp()), None);
        assert_eq!(health.standing(now), Standing::Up);
        let state = health.observe();
        assert_eq!((state.is_up, state.cooldown_until), (true, None));
        assert_eq!(state.last_error, Some(StorageError::http(500)), "what it was is still known");
    }

    #[test]
    fn what_is_written_for_debugging_tells_the_state_and_who_probes() {
        let health = down(Instant::ZERO);
        assert!(health.begin_probe(Instant::MAX));
        let text = alloc::format!("{health:?}");
        for part in ["consecutive_failures: 1", "500", "probing: true"] {
            assert!(text.contains(part), "{text}");
        }
    }

    /// Spec: HE-4
    #[test]
    fn a_call_that_looked_before_another_has_probed_in_vain_does_not_probe() {
        let health = down(Instant::ZERO);
        let looked_at = Instant::from_nanos(1_000_000_000);
        assert_eq!(health.standing(looked_at), Standing::Probe);
        health.on_failure(looked_at, health.stamp(), &StorageError::http(500), COOLDOWN);
        assert!(!health.begin_probe(looked_at));
        assert_eq!(health.standing(looked_at), Standing::Resting, "the slot is free");
    }
}
