//! Mirror: writes go to all healthy peers, and anyone's success is one.

use storage_mux::sim::Fault;
use storage_mux::{
    Capabilities, Condition, Event, LocalStorage, MemoryStorage, MuxCode, MuxMode, OpContext,
    Operation, Storage, StorageError,
};

use crate::perform::{FRESH, KEY, NEW, after, busy, perform, seeded, writes};
use crate::support::{World, mode, ms};

fn world(count: usize) -> World {
    seeded(World::new(count, mode(MuxMode::Mirror)))
}

fn throwing(count: usize) -> World {
    seeded(World::new(count, mode(MuxMode::Mirror).with_throw_on_fanout_partial(true)))
}

fn fail(status: u16) -> Fault {
    Fault::Fail(StorageError::http(status))
}

/// The partial writes that were told, each as who lacks it and why.
fn partials(world: &World) -> Vec<(Vec<String>, Vec<StorageError>)> {
    let told = world.events_of("storage-mux.fanout-partial").into_iter();
    told.map(|event| match event {
        Event::FanoutPartial { mode: MuxMode::Mirror, failed, causes } => {
            (failed.iter().map(|name| name.to_string()).collect(), causes)
        }
        other => panic!("{other:?}"),
    })
    .collect()
}

/// Spec: MI-3
#[test]
fn a_write_goes_to_all_peers_at_once_and_ends_when_the_slowest_has() {
    for operation in writes() {
        let world = world(3);
        for (store, wait) in world.stores.iter().zip([20, 30, 10]) {
            store.push(Fault::Delay(ms(wait)));
        }
        let (result, asked) = world.calls_during(perform(&world.mux, operation));
        result.expect("all store it");
        assert_eq!((asked, world.now_ms()), (vec![1, 1, 1], 30), "{operation}");
        for at in 0..3 {
            assert_eq!(world.peek(at, KEY).as_deref(), after(operation), "{operation}");
        }
        assert!(world.topics().is_empty());
        world.assert_at_rest();
    }
}

/// Case FO-01, FO-03. Spec: MI-3
#[test]
fn a_failing_peer_stops_no_other_is_named_and_gets_the_next_write() {
    for operation in writes() {
        for (failing, status, wait) in [(0, 503, 10), (1, 403, 10), (1, 503, 200)] {
            let world = world(2);
            let error = StorageError::http(status);
            world.stores[failing].push(Fault::DelayThenFail(ms(wait), error.clone()));
            world.stores[1 - failing].push(Fault::Delay(ms(100)));
            world.run(perform(&world.mux, operation)).expect("one has it");
            assert_eq!(world.now_ms(), wait.max(100), "{operation}: both have settled");
            assert_eq!(world.peek(1 - failing, KEY).as_deref(), after(operation), "{operation}");
            let name = ["a", "b"][failing].to_string();
            assert_eq!(partials(&world), [(vec![name], vec![error])], "{operation}");
            assert_eq!(world.mux.stats().total_fanout_partials, 1);
            assert_eq!(world.backend(failing).errors, 1);

            world.clock.advance(ms(1_000));
            world.run(perform(&world.mux, operation)).expect("both have it");
            assert_eq!(world.peek(failing, KEY).as_deref(), after(operation), "{operation}");
            assert_eq!(partials(&world).len(), 1);
            world.assert_at_rest();
        }
    }
}

/// Spec: MI-3
#[test]
fn a_peer_that_is_down_is_not_asked_and_is_named_with_what_took_it_down() {
    for operation in writes() {
        let world = world(3);
        world.take_down_any(1);
        let before = partials(&world).len();
        let (result, asked) = world.calls_during(perform(&world.mux, operation));
        result.expect("two have it");
        assert_eq!(asked, [1, 0, 1], "{operation}");
        let told = partials(&world).split_off(before);
        assert_eq!(told, [(vec!["b".to_string()], vec![StorageError::http(503)])], "{operation}");
        world.assert_at_rest();
    }
}

/// Case FO-11. Spec: MI-3, SH-5, E-3
#[test]
fn everyone_who_lacks_the_write_is_named_in_the_order_of_the_mux_and_not_of_time() {
    for operation in writes() {
        let world = throwing(3);
        world.stores[0].push(Fault::Hang);
        world.stores[1].push(fail(403));
        let error = world.run(perform(&world.mux, operation)).expect_err("partial");
        let mux = error.as_mux().expect("a mux error");
        assert_eq!(mux.code(), MuxCode::WriteFanoutPartial, "{operation}");
        let errors: Vec<_> = mux.aggregate().expect("an aggregate").iter().collect();
        assert_eq!(errors.len(), 2);
        assert!(errors[0].0 == "a" && errors[0].1.is_mux(MuxCode::BackendTimeout));
        assert!(errors[1].0 == "b" && *errors[1].1 == StorageError::http(403));
        assert_eq!(world.peek(2, KEY).as_deref(), after(operation), "the success stands");
        assert_eq!(partials(&world)[0].0, ["a", "b"], "it is an event too");
        world.assert_at_rest();
    }
}

/// Case FO-02. Spec: MI-3, BH-1
#[test]
fn a_peer_that_hangs_costs_one_timeout_and_reads_are_served_all_along() {
    let world = world(2);
    world.stores[1].set_always(Fault::Hang);
    for write in 0..10 {
        world.run(world.mux.set(KEY, NEW)).expect("a has it");
        assert_eq!(world.now_ms(), 1_000, "write {write}");
        assert_eq!(world.run(world.mux.get(KEY)).expect("served"), NEW);
    }
    assert_eq!((partials(&world).len(), world.stores[1].calls()), (10, 1));
}

/// Spec: MI-4, E-3
#[test]
fn when_all_peers_have_failed_one_error_names_each_with_its_own() {
    for operation in writes() {
        let world = world(3);
        world.stores[0].push(Fault::Hang);
        world.stores[1].push(fail(500));
        world.stores[2].push(fail(403));
        let error = world.run(perform(&world.mux, operation)).expect_err("nobody has it");
        let mux = error.as_mux().expect("a mux error");
        assert_eq!((mux.code(), mux.attempt_count()), (MuxCode::AllBackendsDown, Some(3)));
        let errors = mux.aggregate().expect("an aggregate");
        assert!(errors.of("a").is_some_and(|error| error.is_mux(MuxCode::BackendTimeout)));
        assert_eq!(errors.of("b"), Some(&StorageError::http(500)));
        assert_eq!(errors.of("c"), Some(&StorageError::http(403)));
        assert!(partials(&world).is_empty(), "{operation}: nothing was written, not even partly");
        assert_eq!(world.now_ms(), 1_000);
        world.assert_at_rest();
    }
}

/// Case HC-01, SEL-09. Spec: MI-4
#[test]
fn with_no_peer_healthy_a_write_ends_at_once_and_nobody_is_asked() {
    for operation in writes() {
        for count in [1, 3] {
            let world = world(count);
            (0..count).for_each(|at| world.take_down_any(at));
            let (result, asked) = world.calls_during(perform(&world.mux, operation));
            let error = result.expect_err("none is healthy");
            assert!(error.is_mux(MuxCode::AllBackendsDown), "{operation}: {error}");
            assert_eq!(error.as_mux().and_then(|mux| mux.attempt_count()), Some(0));
            assert_eq!((asked, world.now_ms()), (vec![0; count], 0), "{operation}");
            world.assert_at_rest();
        }
    }
}

/// Spec: MI-4, P-7
#[test]
fn a_refusal_that_all_give_alike_is_returned_as_it_is() {
    for operation in writes() {
        let world = world(2);
        world.stores.iter().for_each(|store| store.push(fail(403)));
        let result = world.run(perform(&world.mux, operation));
        assert_eq!(result, Err(StorageError::http(403)), "{operation}");
    }
    let world = world(2);
    let refused = world.run(world.mux.set("", NEW)).expect_err("no key");
    assert_eq!(refused.code(), "STORAGE.INVALID_KEY");
}

/// Spec: MI-5
#[test]
fn one_backend_is_a_mirror_too() {
    for operation in writes() {
        let world = world(1);
        world.run(perform(&world.mux, operation)).expect("the only one has it");
        assert_eq!(world.peek(0, KEY).as_deref(), after(operation), "{operation}");
        world.stores[0].push(busy());
        let error = world.run(perform(&world.mux, operation)).expect_err("the only one");
        assert!(error.is_mux(MuxCode::AllBackendsDown));
        assert!(partials(&world).is_empty());
    }
}

/// Spec: MX-1, MX-5
#[test]
fn a_conditional_write_is_unsupported_and_touches_nobody() {
    let world = world(3);
    let (result, asked) = world.calls_during(perform(&world.mux, Operation::SetIf));
    assert_eq!(result, Err(StorageError::unsupported()));
    let said = result.map_err(|error| error.to_string()).unwrap_err();
    assert!(said.contains("mirror mode has no set_if"), "{said}");
    assert_eq!(asked, [0, 0, 0]);
    assert_eq!(world.peek(0, FRESH), None);
    let cx = OpContext::new();
    let capabilities: Capabilities = LocalStorage::capabilities(&world.mux);
    let of_memory = Storage::capabilities(&MemoryStorage::new());
    assert_eq!(capabilities, of_memory.without(Operation::SetIf));
    let through_the_port =
        LocalStorage::set_if(&world.mux, FRESH, NEW.into(), Condition::Absent, &cx);
    assert_eq!(world.run(through_the_port), Err(StorageError::unsupported()));
    assert_eq!(world.calls(), [0, 0, 0]);
    world.assert_at_rest();
}
