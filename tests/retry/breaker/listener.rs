//! The `state_change` events and those who listen to them.

use core::future::ready;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};

use storage_mux::retry::{StateChange, Verdict};
use storage_mux::sim::FakeClock;

use super::{Breaker, Closed, HalfOpen, Open, breaker, fail, options, succeed, trip};
use crate::support::{run, secs};

fn changes(breaker: Breaker) -> (Breaker, Arc<Mutex<Vec<StateChange>>>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listener = heard.clone();
    (breaker.with_listener(move |change| listener.lock().unwrap().push(*change)), heard)
}

/// Spec: RT-06
#[test]
fn each_change_of_state_is_told_once_and_in_order() {
    let clock = FakeClock::new();
    let (breaker, heard) = changes(breaker(&clock, options()));
    trip(&breaker);
    assert!(breaker.admit().is_err());
    clock.advance(secs(10));
    fail(&breaker);
    clock.advance(secs(10));
    succeed(&breaker);
    succeed(&breaker);
    let heard: Vec<_> = heard
        .lock()
        .unwrap()
        .iter()
        .map(|change| (change.sequence, change.from, change.to))
        .collect();
    assert_eq!(
        heard,
        [
            (1, Closed, Open),
            (2, Open, HalfOpen),
            (3, HalfOpen, Open),
            (4, Open, HalfOpen),
            (5, HalfOpen, Closed),
        ]
    );
    assert_eq!(StateChange::TOPIC, "state_change");
}

/// Case EV-01: the listener runs without a lock and may use the breaker that called it.
///
/// Spec: RT-06, IS-3
#[test]
fn a_listener_may_use_the_breaker_that_called_it() {
    let clock = FakeClock::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (listener_seen, listener_clock) = (seen.clone(), clock.clone());
    let breaker = Arc::new_cyclic(|weak: &Weak<Breaker>| {
        let weak = weak.clone();
        breaker(&clock, options().with_half_open_max(2)).with_listener(move |change| {
            let breaker = weak.upgrade().unwrap();
            let call = breaker.call(|| ready(Ok::<_, &str>(())));
            let refused = run(&listener_clock, call).is_err();
            listener_seen.lock().unwrap().push((change.to, breaker.state(), refused));
        })
    });
    trip(&breaker);
    clock.advance(secs(10));
    let trial = breaker.admit().unwrap();
    // The listener's own call was the second trial, and closed the breaker.
    trial.settle(Verdict::Failure);
    assert_eq!(breaker.state(), Closed);
    assert_eq!(
        *seen.lock().unwrap(),
        [(Open, Open, true), (Closed, Closed, false), (HalfOpen, Closed, false)]
    );
}

/// Case EV-04: a listener that panics spoils its own call and nothing else.
///
/// Spec: RT-06
#[test]
fn a_listener_that_panics_takes_no_place_with_it_and_poisons_nothing() {
    let clock = FakeClock::new();
    let told = Arc::new(AtomicU32::new(0));
    let listener = told.clone();
    let breaker = breaker(&clock, options()).with_listener(move |change| {
        listener.fetch_add(1, Ordering::SeqCst);
        assert!(change.to == Closed, "the listener is broken");
    });
    assert!(catch_unwind(AssertUnwindSafe(|| trip(&breaker))).is_err());
    assert_eq!(breaker.state(), Open);
    clock.advance(secs(10));
    assert!(catch_unwind(AssertUnwindSafe(|| breaker.admit().is_ok())).is_err());
    assert_eq!(breaker.state(), HalfOpen);
    for _ in 0..100 {
        succeed(&breaker);
    }
    assert_eq!((breaker.state(), told.load(Ordering::SeqCst)), (Closed, 3));
}
