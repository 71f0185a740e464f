//! The breaker on real threads.

use std::sync::atomic::{AtomicU32, Ordering};

use storage_mux::retry::Verdict;
use storage_mux::sim::FakeClock;

use super::{Closed, Open, breaker, fail, options, ripe};

/// On real threads: never more trials than allowed, and no place is lost.
///
/// Spec: RT-06
#[test]
fn many_threads_at_the_door_never_hold_more_places_than_there_are() {
    let clock = FakeClock::new();
    let breaker = ripe(&clock, options().with_half_open_max(2));
    let (held, admitted) = (AtomicU32::new(0), AtomicU32::new(0));
    std::thread::scope(|scope| {
        for thread in 0..4_u32 {
            let (breaker, held, admitted) = (&breaker, &held, &admitted);
            scope.spawn(move || {
                for round in 0..2_000 {
                    let Ok(permit) = breaker.admit() else { continue };
                    assert!(held.fetch_add(1, Ordering::SeqCst) < 2);
                    admitted.fetch_add(1, Ordering::SeqCst);
                    std::thread::yield_now();
                    held.fetch_sub(1, Ordering::SeqCst);
                    if (round + thread) % 2 == 0 {
                        drop(permit);
                    } else {
                        permit.settle(Verdict::Ignored);
                    }
                }
            });
        }
    });
    assert!(admitted.load(Ordering::SeqCst) > 0);
    let _both = (breaker.admit().unwrap(), breaker.admit().unwrap());
    assert!(breaker.admit().is_err());
}

/// On real threads: failures are neither lost nor counted twice.
///
/// Spec: RT-06
#[test]
fn failures_from_many_threads_add_up_to_the_threshold_exactly() {
    let clock = FakeClock::new();
    let breaker = breaker(&clock, options().with_failure_threshold(4_001));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..1_000).for_each(|_| fail(&breaker)));
        }
    });
    assert_eq!(breaker.state(), Closed);
    fail(&breaker);
    assert_eq!(breaker.state(), Open);
}
