//! Round-robin: each call goes to the next healthy backend around the circle.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

use futures_util::future::join_all;
use storage_mux::sim::Fault;
use storage_mux::{BackendStatus, Event, MuxCode, MuxMode, Operation, StorageError};

use crate::perform::{KEY, OLD, busy, perform, seeded};
use crate::support::{World, mode, ms};

fn world(count: usize) -> World {
    seeded(World::new(count, mode(MuxMode::RoundRobin)))
}

/// Spec: RR-1
#[test]
fn nine_calls_over_three_healthy_backends_give_three_each_whatever_the_operation() {
    for operation in Operation::ALL {
        let world = world(3);
        for call in 0..9 {
            let (_, asked) = world.calls_during(perform(&world.mux, operation));
            let mut turn = [0; 3];
            turn[call % 3] = 1;
            assert_eq!(asked, turn, "call {call} of {operation}");
        }
        assert_eq!(world.calls(), [3, 3, 3], "{operation}");
        assert_eq!(world.mux.stats().total_failovers, 0);
        world.assert_at_rest();
    }
}

/// Spec: RR-1
#[test]
fn different_operations_share_one_circle() {
    let world = world(3);
    for operation in [Operation::Set, Operation::Get, Operation::List] {
        world.run(perform(&world.mux, operation)).expect("served");
    }
    assert_eq!(world.calls(), [1, 1, 1]);
}

/// Spec: RR-2
#[test]
fn four_calls_with_the_middle_one_down_give_two_none_and_two() {
    let world = world(3);
    world.take_down_any(1);
    for operation in Operation::ALL {
        let (_, asked) = world.calls_during(async {
            for _ in 0..4 {
                let _ = perform(&world.mux, operation).await;
            }
        });
        assert_eq!(asked, [2, 0, 2], "{operation}");
    }
}

/// Spec: RR-2, DR-1
#[test]
fn one_that_drains_is_skipped_from_the_start_of_its_drain() {
    let world = world(3);
    world.stores[0].push(Fault::Hang);
    let mut call = pin!(world.mux.get(KEY));
    let mut drain = pin!(world.mux.drain("a"));
    let mut task = Context::from_waker(Waker::noop());
    assert!(call.as_mut().poll(&mut task).is_pending());
    assert!(drain.as_mut().poll(&mut task).is_pending());
    let (_, asked) = world.calls_during(async {
        for _ in 0..4 {
            world.mux.has(KEY).await.expect("served");
        }
    });
    assert_eq!(asked, [0, 2, 2]);
}

/// Case SEL-07. Spec: RR-2
#[test]
fn the_share_of_a_dead_backend_goes_to_all_others_and_not_to_its_neighbour() {
    let world = world(4);
    world.take_down_any(1);
    let (_, asked) = world.calls_during(async {
        for _ in 0..3_000 {
            world.mux.has(KEY).await.expect("served");
        }
    });
    assert_eq!(asked[1], 0);
    for at in [0, 2, 3] {
        assert!((999..=1_001).contains(&asked[at]), "{asked:?}");
    }
}

/// Case HC-01, SEL-09. Spec: RR-3
#[test]
fn with_none_healthy_every_operation_ends_at_once_and_nobody_is_asked() {
    for count in [1, 3] {
        let world = world(count);
        (0..count).for_each(|at| world.take_down_any(at));
        for operation in Operation::ALL {
            let (result, asked) = world.calls_during(perform(&world.mux, operation));
            let error = result.expect_err("none is healthy");
            assert!(error.is_mux(MuxCode::AllBackendsDown), "{operation}: {error}");
            assert_eq!(asked, vec![0; count], "{operation}");
        }
        assert_eq!(world.now_ms(), 0);
        world.assert_at_rest();
    }
}

/// Spec: RR-4
#[test]
fn a_transient_error_advances_to_the_next_one_around_the_circle_whatever_the_operation() {
    for operation in Operation::ALL {
        for (first, second) in [(0, 1), (1, 2), (2, 0)] {
            let world = world(3);
            for _ in 0..first {
                world.run(world.mux.has(KEY)).expect("served");
            }
            world.stores[first].push(busy());
            let (result, asked) = world.calls_during(perform(&world.mux, operation));
            result.expect("the next one serves");
            let mut expected = [0; 3];
            (expected[first], expected[second]) = (1, 1);
            assert_eq!(asked, expected, "{operation}");
            let moved = world.events_of("storage-mux.failover");
            let [Event::Failover { from, to, attempt_index: 0, cause }] = &moved[..] else {
                panic!("one failover, not {moved:?}")
            };
            let names = ["a", "b", "c"];
            assert_eq!((from.as_str(), to.as_str()), (names[first], names[second]));
            assert_eq!(*cause, StorageError::http(503));
            world.assert_at_rest();
        }
    }
}

/// Spec: RR-4
#[test]
fn a_call_that_moves_on_asks_each_backend_once_and_then_gives_the_last_error() {
    let world = world(3);
    world.run(world.mux.has(KEY)).expect("served by a");
    for (store, status) in world.stores.iter().zip([500, 502, 503]) {
        store.push(Fault::Fail(StorageError::http(status)));
    }
    let (result, asked) = world.calls_during(world.mux.get(KEY));
    let error = result.expect_err("all have failed");
    assert_eq!(asked, [1, 1, 1]);
    let mux = error.as_mux().expect("a mux error");
    assert_eq!((mux.code(), mux.attempt_count()), (MuxCode::AllBackendsDown, Some(3)));
    assert_eq!(mux.cause(), Some(&StorageError::http(500)), "a was the last around the circle");
    assert_eq!(mux.mode(), Some(MuxMode::RoundRobin));
}

/// Spec: RR-4, BH-1
#[test]
fn a_timeout_advances_as_an_error_does() {
    let world = world(2);
    world.stores[0].push(Fault::Hang);
    assert_eq!(world.run(world.mux.get(KEY)).expect("b serves"), OLD);
    assert_eq!((world.now_ms(), world.backend(0).timeouts), (1_000, 1));
}

/// Spec: RR-4, FO-2
#[test]
fn a_semantic_error_is_the_answer_and_the_next_one_is_untouched() {
    for error in [StorageError::key_not_found(), StorageError::http(403)] {
        let world = world(2);
        world.stores[0].push(Fault::Fail(error.clone()));
        let (result, asked) = world.calls_during(world.mux.get(KEY));
        assert_eq!((result, asked), (Err(error), vec![1, 0]));
    }
}

/// Spec: RR-2, HE-4
#[test]
fn one_that_is_back_takes_its_turn_again() {
    let world = world(3);
    world.take_down_any(1);
    world.clock.advance(ms(1_000));
    let (_, asked) = world.calls_during(async {
        for _ in 0..9 {
            world.mux.has(KEY).await.expect("served");
        }
    });
    assert_eq!(asked, [3, 3, 3]);
    assert_eq!(world.backend(1).status, BackendStatus::Up);
}

/// Spec: IS-2
#[test]
fn a_hundred_concurrent_gets_over_four_backends_lose_no_attempt_and_count_none_twice() {
    for failure in [
        Fault::Fail(StorageError::http(500)),
        Fault::DelayThenFail(ms(5), StorageError::http(500)),
        Fault::DelayThenFail(ms(40), StorageError::http(500)),
        Fault::Hang,
    ] {
        let world = world(4);
        for store in [&world.stores[0], &world.stores[2], &world.stores[3]] {
            store.set_always(Fault::Delay(ms(10)));
        }
        world.stores[1].set_always(failure);
        let key = |call: usize| if call.is_multiple_of(3) { "missing" } else { KEY };
        let results = world.run(join_all((0..100).map(|call| world.mux.get(key(call)))));
        for (call, result) in results.into_iter().enumerate() {
            match key(call) {
                KEY => assert_eq!(result.expect("one of the three has it"), OLD),
                _ => assert_eq!(result, Err(StorageError::key_not_found())),
            }
        }
        let stats = world.mux.stats();
        // Two counts of the attempts that are not the mux's own: its spans, and what was asked.
        let spans = world.recorder.spans();
        let mut attempts = 0;
        for (backend, store) in stats.backends.iter().zip(&world.stores) {
            let name = backend.name.as_str();
            let opened = spans.iter().filter(|span| {
                span.name == "storage-mux.attempt"
                    && span.attribute("mux.backend.name") == Some(name)
            });
            let opened = opened.count() as u64;
            assert_eq!(backend.hits + backend.misses + backend.errors, opened, "{name}");
            assert_eq!(opened, store.calls() as u64, "{name}");
            attempts += opened;
        }
        assert_eq!(stats.total_calls, 100);
        assert_eq!(attempts, stats.total_calls + stats.total_failovers);
        assert!(stats.total_failovers > 0, "the failing one was asked");
        assert_eq!(world.events_of("storage-mux.failover").len() as u64, stats.total_failovers);
        world.assert_at_rest();
    }
}
