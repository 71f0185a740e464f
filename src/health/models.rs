//! Every order in which calls can meet at a backend that is down: at the probe slot, and with
//! outcomes that are late.

use core::time::Duration;

use loom::thread;

use super::*;
use crate::error::StorageError;
use crate::sync::{Arc, AtomicU32, Ordering};
use crate::time::Instant;

const COOLDOWN: Cooldown = Cooldown { base: Duration::from_secs(1), cap: Duration::from_secs(60) };
/// The end of the first cooldown of a backend that failed at zero.
const RESTED: Instant = Instant::from_nanos(1_000_000_000);

/// A backend that failed at zero, and the stamp of a call that set out before.
fn down() -> (Arc<Health>, Stamp) {
    let health = Arc::new(Health::default());
    let before = health.stamp();
    fail(&health, Instant::ZERO, before);
    (health, before)
}

fn fail(health: &Health, now: Instant, seen: Stamp) -> Option<Transition> {
    health.on_failure(now, seen, &StorageError::http(500), COOLDOWN)
}

/// Runs `call` in a second thread and here, and gives both results.
fn twice<T: Send + 'static>(
    health: &Arc<Health>,
    call: impl Fn(&Health) -> T + Copy + Send + 'static,
) -> [T; 2] {
    let other = health.clone();
    let other = thread::spawn(move || call(&other));
    let own = call(health);
    [own, other.join().unwrap()]
}

/// Spec: HE-4
#[test]
fn of_two_calls_at_the_end_of_a_cooldown_exactly_one_probes() {
    loom::model(|| {
        let (health, _) = down();
        let probes = twice(&health, |health| health.begin_probe(RESTED));
        assert!(probes[0] != probes[1]);
        assert_eq!(health.standing(RESTED), Standing::Probing);
    });
}

/// Spec: HE-4, AB-5
#[test]
fn a_probe_that_is_dropped_frees_the_slot_and_two_never_hold_it_together() {
    loom::model(|| {
        let (health, _) = down();
        let inside = Arc::new(AtomicU32::new(0));
        let other = (health.clone(), inside.clone());
        let probe = |health: &Health, inside: &AtomicU32| {
            let granted = health.begin_probe(RESTED);
            if granted {
                assert_eq!(inside.fetch_add(1, Ordering::Relaxed), 0);
                inside.fetch_sub(1, Ordering::Relaxed);
                health.end_probe();
            }
            granted
        };
        let other = thread::spawn(move || probe(&other.0, &other.1));
        let own = probe(&health, &inside);
        assert!(other.join().unwrap() || own);
        assert!(health.begin_probe(RESTED));
    });
}

/// Spec: HE-3, HE-4
#[test]
fn a_probe_in_vain_is_not_repeated_by_a_call_that_looked_before_it() {
    loom::model(|| {
        let (health, _) = down();
        let probes = twice(&health, |health| {
            let granted = health.begin_probe(RESTED);
            if granted {
                fail(health, RESTED, health.stamp());
                health.end_probe();
            }
            granted
        });
        assert!(probes[0] != probes[1]);
        assert_eq!(health.observe().consecutive_failures, 2);
        assert_eq!(health.standing(RESTED), Standing::Resting);
    });
}

/// Spec: HE-2
#[test]
fn two_calls_that_fail_together_are_one_outage_and_one_of_them_tells() {
    loom::model(|| {
        let health = Arc::new(Health::default());
        let seen = health.stamp();
        let told = twice(&health, move |health| fail(health, Instant::ZERO, seen));
        assert!(told == [Some(Transition::Down), None] || told == [None, Some(Transition::Down)]);
        assert_eq!(health.observe().consecutive_failures, 1);
    });
}

/// Spec: HE-2
#[test]
fn who_sees_a_backend_down_sees_its_cooldown_too() {
    loom::model(|| {
        let health = Arc::new(Health::default());
        let seen = health.stamp();
        let other = health.clone();
        let other = thread::spawn(move || fail(&other, RESTED, seen));
        // A cooldown that is not yet written ends at zero, and would have this call probe at once.
        assert!(matches!(health.standing(RESTED), Standing::Up | Standing::Resting));
        other.join().unwrap();
        assert_eq!(health.standing(RESTED), Standing::Resting);
    });
}

/// Spec: HE-4
#[test]
fn a_recovery_is_told_once_and_a_failure_of_the_outage_does_not_undo_it() {
    loom::model(|| {
        let (health, _) = down();
        let seen = health.stamp();
        let other = health.clone();
        let late = thread::spawn(move || fail(&other, RESTED, seen));
        let told = twice(&health, move |health| health.on_success(RESTED, seen));
        assert_eq!(told.iter().flatten().count(), 1);
        assert_eq!(late.join().unwrap(), None);
        assert_eq!(health.standing(RESTED), Standing::Up);
        assert_eq!(health.observe().consecutive_failures, 0);
    });
}

/// Spec: HE-4
#[test]
fn outcomes_of_calls_from_before_the_outage_change_nothing_in_it_or_after_it() {
    loom::model(|| {
        let (health, before) = down();
        let seen = health.stamp();
        let other = health.clone();
        let late =
            thread::spawn(move || (other.on_success(RESTED, before), fail(&other, RESTED, before)));
        let back = health.on_success(RESTED, seen);
        assert_eq!(back, Some(Transition::Recovered { down_for: Duration::from_secs(1) }));
        assert_eq!(late.join().unwrap(), (None, None));
        assert_eq!(health.standing(RESTED), Standing::Up);
    });
}
