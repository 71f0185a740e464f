//! Failover: backends in order, the first that can answer does.

use storage_mux::sim::Fault;
use storage_mux::{BackendStatus, Event, MuxCode, Operation, StorageError};

use crate::perform::{KEY, after, answer, busy, perform, seeded};
use crate::support::{World, ms, plain};

/// Spec: FO-1
#[test]
fn a_transient_error_moves_to_the_next_backend_and_says_so_with_both_names() {
    let world = World::new(3, plain());
    world.put(1, "k", "from b");
    world.stores[0].push(busy());
    let value = world.run(world.mux.get("k")).expect("b has it");
    assert_eq!(value, "from b");
    assert_eq!(world.calls(), [1, 1, 0]);
    let moved = world.events_of("storage-mux.failover");
    let [Event::Failover { from, to, attempt_index, cause }] = &moved[..] else {
        panic!("one failover, not {moved:?}")
    };
    assert_eq!((from.as_str(), to.as_str(), *attempt_index), ("a", "b", 0));
    assert_eq!(*cause, StorageError::http(503));
    assert_eq!(world.mux.stats().total_failovers, 1);
    world.assert_at_rest();
}

/// Spec: FO-1
#[test]
fn every_operation_moves_on_after_an_error_and_after_a_timeout_and_stays_with_who_answers() {
    for operation in Operation::ALL {
        for (fault, took) in [(busy(), 0), (Fault::Hang, 1_000)] {
            let world = seeded(World::new(3, plain()));
            world.stores[0].push(fault);
            let (result, asked) = world.calls_during(perform(&world.mux, operation));
            assert_eq!(result.as_deref(), Ok(answer(operation)), "{operation}");
            assert_eq!((asked, world.now_ms()), (vec![1, 1, 0], took), "{operation}");
            assert_eq!(world.peek(1, KEY).as_deref(), after(operation), "{operation}");
            assert_eq!(world.peek(0, KEY).as_deref(), after(Operation::Get), "{operation}");
            assert_eq!(world.mux.stats().total_failovers, 1);
            world.assert_at_rest();
        }
    }
}

/// Spec: FO-2
#[test]
fn a_semantic_error_is_returned_as_it_is_and_the_next_backend_is_untouched() {
    for error in [
        StorageError::key_not_found(),
        StorageError::invalid_key("no"),
        StorageError::unsupported(),
        StorageError::credential_expired(),
        StorageError::http(403),
    ] {
        let world = World::new(2, plain());
        world.put(1, "k", "from b");
        world.stores[0].push(Fault::Fail(error.clone()));
        assert_eq!(world.run(world.mux.get("k")), Err(error));
        assert_eq!(world.calls(), [1, 0]);
        assert!(world.topics().is_empty());
    }
}

/// Spec: FO-3
#[test]
fn when_all_have_failed_the_last_error_is_the_source_and_the_count_is_of_backends_tried() {
    let world = World::new(3, plain());
    for (store, status) in world.stores.iter().zip([500, 502, 503]) {
        store.push(Fault::Fail(StorageError::http(status)));
    }
    let error = world.run(world.mux.get("k")).expect_err("all are down");
    let mux = error.as_mux().expect("a mux error");
    assert_eq!(mux.code(), MuxCode::AllBackendsDown);
    assert_eq!(mux.code().as_str(), "STORAGE_MUX.ALL_BACKENDS_DOWN");
    assert_eq!(mux.cause(), Some(&StorageError::http(503)));
    assert_eq!(mux.attempt_count(), Some(3));
    assert_eq!(mux.mode(), Some(storage_mux::MuxMode::Failover));
    assert_eq!(world.mux.stats().total_failovers, 2);
}

/// Case FO-08. Spec: FO-2, FO-3
#[test]
fn a_miss_where_one_can_be_reached_is_told_from_an_outage_of_all_whatever_the_order() {
    let miss_first = World::new(2, plain());
    miss_first.stores[1].set_always(busy());
    assert_eq!(miss_first.run(miss_first.mux.get("k")), Err(StorageError::key_not_found()));

    let miss_last = World::new(2, plain());
    miss_last.stores[0].set_always(busy());
    assert_eq!(miss_last.run(miss_last.mux.get("k")), Err(StorageError::key_not_found()));

    let outage = World::new(2, plain());
    outage.stores.iter().for_each(|store| store.set_always(busy()));
    let error = outage.run(outage.mux.get("k")).expect_err("both are down");
    assert!(error.is_mux(MuxCode::AllBackendsDown));
}

/// Spec: FO-4
#[test]
fn one_hung_primary_costs_one_timeout_and_not_one_per_call() {
    let world = World::new(2, plain());
    world.put_all("k", "v");
    world.stores[0].set_always(Fault::Hang);
    world.run(world.mux.get("k")).expect("b answers");
    assert_eq!(world.now_ms(), 1_000);
    for _ in 0..50 {
        world.run(world.mux.get("k")).expect("b answers");
    }
    assert_eq!(world.now_ms(), 1_000, "a backend in cooldown must be skipped");
    assert_eq!(world.calls(), [1, 51]);
}

/// Spec: FO-4
#[test]
fn when_all_are_in_cooldown_all_are_tried_in_order_as_a_last_resort() {
    let world = World::new(3, plain());
    world.stores.iter().for_each(|store| store.push(busy()));
    world.run(world.mux.get("k")).expect_err("all down");
    world.put(2, "k", "from c");
    world.stores[0].push(busy());
    world.stores[1].push(busy());
    assert_eq!(world.run(world.mux.get("k")).expect("c is back"), "from c");
    assert_eq!(world.calls(), [2, 2, 2]);
    assert_eq!(world.backend(2).status, BackendStatus::Up);
}

/// Spec: FO-4
#[test]
fn the_last_resort_is_also_taken_when_the_last_healthy_backend_fails_in_this_very_call() {
    let world = World::new(2, plain());
    world.take_down(0);
    world.put(0, "k", "from a");
    world.stores[1].push(busy());
    assert_eq!(world.run(world.mux.get("k")).expect("a is tried after all"), "from a");
}

/// Case SEL-09. Spec: FO-4
#[test]
fn a_single_backend_in_cooldown_is_still_asked() {
    let world = World::new(1, plain());
    world.stores[0].push(busy());
    world.run(world.mux.get("k")).expect_err("down");
    world.put(0, "k", "v");
    assert_eq!(world.run(world.mux.get("k")).expect("asked all the same"), "v");
}

/// Case HC-13. Spec: FO-4, HE-4
#[test]
fn a_primary_returns_by_time_alone_and_the_caller_is_served_either_way() {
    let world = World::new(2, plain());
    world.put_all("k", "v");
    world.take_down(0);
    world.clock.advance(ms(1_000));
    world.stores[0].push(busy());
    assert_eq!(world.run(world.mux.get("k")).expect("b serves"), "v");
    assert_eq!(world.backend(0).consecutive_failures, 2);
    world.clock.advance(ms(2_000));
    world.run(world.mux.get("k")).expect("a serves");
    assert_eq!(world.backend(0).status, BackendStatus::Up);
    assert_eq!(world.topics().last(), Some(&"storage-mux.backend.recovered"));
}
