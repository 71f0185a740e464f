//! Every order in which calls, changes and drains can meet at the roster.
//!
//! The snapshot is the one of builds without `std`, on loom's lock: the swap of a pointer is taken
//! for granted here, what is swapped is not.

use alloc::vec::Vec;
use core::time::Duration;

use loom::future::block_on;
use loom::thread;

use super::*;
use crate::error::StorageError;
use crate::health::Cooldown;
use crate::memory::MemoryStorage;
use crate::mux_mode::MuxMode;
use crate::stats::Outcome;
use crate::sync::{Arc, AtomicU32, Ordering, Stripe};
use crate::time::Instant;

const COOLDOWN: Cooldown = Cooldown { base: Duration::from_secs(1), cap: Duration::from_secs(60) };

fn backend(name: &str) -> Backend<MemoryStorage> {
    Backend::new(name, MemoryStorage::new())
}

fn rosters(names: &[&str]) -> Arc<Rosters<MemoryStorage>> {
    let backends: Vec<_> = names.iter().map(|name| backend(name)).collect();
    Arc::new(Rosters::new(MuxMode::Failover, backends, 1).unwrap())
}

/// The names in a snapshot, once every part of it is found to tell of the same members.
fn names(roster: &Roster<MemoryStorage>) -> Vec<&str> {
    let names: Vec<&str> = roster.members().iter().map(|member| member.name.as_str()).collect();
    for (at, name) in names.iter().enumerate() {
        assert_eq!(roster.position(name), Some(at));
    }
    assert_eq!(roster.active().len(), names.len());
    assert!(roster.position("gone").is_none());
    names
}

/// Spec: MU-1, MU-3
#[test]
fn a_call_sees_the_old_set_or_the_new_one_and_never_goes_back() {
    loom::model(|| {
        let rosters = rosters(&["a"]);
        let writer = rosters.clone();
        let writer = thread::spawn(move || writer.add(backend("b")).unwrap());
        let (first, second) = (rosters.load(), rosters.load());
        let (seen, then) = (names(&first), names(&second));
        assert!(seen == ["a"] || seen == ["a", "b"]);
        assert!(then == ["a", "b"] || then == seen);
        writer.join().unwrap();
        // What a call has taken stays as it was, whatever is published meanwhile.
        assert_eq!(names(&first), seen);
        assert_eq!(names(&rosters.load()), ["a", "b"]);
    });
}

/// Spec: MU-1
#[test]
fn of_two_changes_at_once_neither_is_lost() {
    loom::model(|| {
        let rosters = rosters(&["a"]);
        let writer = rosters.clone();
        let writer = thread::spawn(move || writer.add(backend("b")).unwrap());
        let a = rosters.load().member(0).cloned().unwrap();
        assert!(rosters.purge(&a));
        writer.join().unwrap();
        assert_eq!(names(&rosters.load()), ["b"]);
    });
}

/// Spec: HE-2, IS-1
#[test]
fn a_backend_that_fails_while_another_recovers_is_not_published_as_healthy() {
    loom::model(|| {
        let rosters = rosters(&["a", "b"]);
        fail(&rosters, 0);
        let other = rosters.clone();
        let other = thread::spawn(move || fail(&other, 1));
        let health = &rosters.load().member(0).cloned().unwrap().health;
        assert!(health.on_success(Instant::ZERO, health.stamp()).is_some());
        rosters.refresh();
        other.join().unwrap();
        // A snapshot in which all are up is believed without a look at the members.
        assert!(rosters.load().view(Instant::ZERO).up.iter().eq([0]));
    });
}

/// A call on a member fails, which is published as the drivers publish it.
fn fail(rosters: &Rosters<MemoryStorage>, at: usize) {
    let health = &rosters.load().member(at).cloned().unwrap().health;
    let error = StorageError::http(500);
    assert!(health.on_failure(Instant::ZERO, health.stamp(), &error, COOLDOWN).is_some());
    rosters.refresh();
}

/// A call: what it does to the backend ends before it is counted out, by its outcome.
fn call(member: &Member<MemoryStorage>, done: &AtomicU32, (at, outcome): (u32, Outcome)) -> u32 {
    let stripe = Stripe::nth(at);
    if !member.enter(stripe) {
        return 0;
    }
    done.fetch_add(1, Ordering::Relaxed);
    member.book(stripe, outcome, Duration::ZERO.into(), Instant::ZERO);
    1
}

/// Drains under calls in these stripes that end so. Each was waited for, or refused: had one been
/// let in after the backend was told to be idle, or had the drain not waited, more would be done
/// than it saw.
fn drain_under(calls: &[(u32, Outcome)]) {
    let rosters = rosters(&["a"]);
    let member = rosters.load().member(0).cloned().unwrap();
    let done = Arc::new(AtomicU32::new(0));
    let calls: Vec<_> = calls
        .iter()
        .map(|&each| {
            let (member, done) = (member.clone(), done.clone());
            thread::spawn(move || call(&member, &done, each))
        })
        .collect();
    assert!(member.start_draining(Instant::ZERO));
    block_on(member.idle());
    let seen = done.load(Ordering::Relaxed);
    let admitted: u32 = calls.into_iter().map(|call| call.join().unwrap()).sum();
    assert_eq!(seen, admitted);
    assert_eq!(member.in_flight(), 0);
    assert_eq!(call(&member, &done, (0, Outcome::Abort)), 0);
}

/// Spec: DR-1, DR-4
#[test]
fn a_call_is_waited_for_or_refused_by_a_drain() {
    loom::model(|| drain_under(&[(0, Outcome::Abort)]));
    loom::model(|| drain_under(&[(0, Outcome::Ok)]));
}

/// Spec: DR-1, DR-4
#[test]
fn two_calls_are_each_waited_for_or_refused_by_a_drain() {
    // In one stripe the last to leave can be one that was refused; in two nobody is the last of all.
    loom::model(|| drain_under(&[(0, Outcome::Abort), (0, Outcome::Abort)]));
    loom::model(|| drain_under(&[(0, Outcome::Abort), (1, Outcome::Abort)]));
}

/// The drain must look at ends before it looks at beginnings. Found with three preemptions, not with
/// two.
///
/// Spec: DR-1
#[test]
fn a_call_that_is_refused_while_a_drain_counts_hides_none_that_is_under_way() {
    loom::model(|| {
        let rosters = rosters(&["a"]);
        let member = rosters.load().member(0).cloned().unwrap();
        let done = Arc::new(AtomicU32::new(0));
        let stripe = Stripe::nth(0);
        assert!(member.enter(stripe));
        let drain = thread::spawn({
            let (member, done) = (member.clone(), done.clone());
            move || {
                assert!(member.start_draining(Instant::ZERO));
                block_on(member.idle());
                done.load(Ordering::Relaxed)
            }
        });
        let other = thread::spawn({
            let member = member.clone();
            move || call(&member, &AtomicU32::new(0), (0, Outcome::Abort))
        });
        done.store(1, Ordering::Relaxed);
        member.book(stripe, Outcome::Abort, Duration::ZERO.into(), Instant::ZERO);
        assert_eq!(drain.join().unwrap(), 1);
        other.join().unwrap();
    });
}

/// Spec: SA-1
#[test]
fn a_report_tells_of_no_more_calls_than_there_are_at_a_time() {
    loom::model(|| {
        let rosters = rosters(&["a"]);
        let member = rosters.load().member(0).cloned().unwrap();
        let caller = member.clone();
        let caller = thread::spawn(move || {
            (0..2).map(|_| call(&caller, &AtomicU32::new(0), (0, Outcome::Abort))).sum::<u32>()
        });
        assert!(member.in_flight() <= 1);
        assert_eq!(caller.join().unwrap(), 2);
        assert_eq!(member.in_flight(), 0);
    });
}

/// Spec: DR-2
#[test]
fn two_who_wait_for_one_drain_both_hear_of_its_end_and_one_began_it() {
    loom::model(|| {
        let rosters = rosters(&["a"]);
        let member = rosters.load().member(0).cloned().unwrap();
        let stripe = Stripe::current();
        assert!(member.enter(stripe));
        let waiters = [(); 2].map(|()| {
            let member = member.clone();
            thread::spawn(move || {
                let began = member.start_draining(Instant::ZERO);
                block_on(member.idle());
                began
            })
        });
        member.leave(stripe);
        let began = waiters.map(|waiter| waiter.join().unwrap());
        assert!(began[0] != began[1]);
    });
}
