//! Drains: a backend leaves when its last call has ended, and is not touched after.

use futures_util::future::join;
use futures_util::{FutureExt, StreamExt};
use storage_mux::sim::{FakeClock, Fault, FaultStorage, run};
use storage_mux::{
    AbortController, Backend, BackendStatus, Clock, Event, MemoryStorage, MuxCode, MuxMode,
    OpContext, SeededRng, StorageError, StorageMux,
};

use crate::support::{Store, World, mode, ms, plain};

fn newcomer(world: &World, name: &str) -> (Store, Backend<Store>) {
    let store = FaultStorage::new(MemoryStorage::new(), world.clock.clone());
    (store.clone(), Backend::new(name, store))
}

/// Spec: DR-1, DR-3, EV-1
#[test]
fn a_drain_waits_for_the_calls_in_flight_and_new_ones_skip_the_backend() {
    let world = World::new(2, plain());
    world.put_all("k", "v");
    world.stores[0].push(Fault::Delay(ms(500)));
    let (in_flight, drained, ()) = world.run(futures_util::future::join3(
        world.mux.get("k"),
        async {
            world.clock.sleep(ms(100)).await;
            world.mux.drain("a").await
        },
        async {
            world.clock.sleep(ms(200)).await;
            assert_eq!(world.backend(0).status, BackendStatus::Draining);
            assert_eq!(world.mux.get("k").await.expect("b answers"), "v");
            assert_eq!(world.calls(), [1, 1]);
        },
    ));
    assert_eq!(in_flight.expect("it finishes normally"), "v");
    drained.expect("drained");
    assert_eq!(world.now_ms(), 500);
    assert!(world.mux.backend_stats("a").is_none());
    let events = world.recorder.events();
    assert_eq!(
        events,
        [
            Event::DrainStarted { name: "a".into(), in_flight: 1 },
            Event::DrainCompleted { name: "a".into(), duration: ms(400) },
        ]
    );
    let (_, again) = newcomer(&world, "a");
    world.mux.add_backend(again).expect("the name is free again");
}

/// Spec: DR-3, MU-1
#[test]
fn removing_a_backend_drains_it_and_says_so() {
    let world = World::new(2, plain());
    world.run(world.mux.remove_backend("b")).expect("removed");
    let (drain, complete) = ("storage-mux.drain.started", "storage-mux.drain.completed");
    assert_eq!(world.topics(), [drain, complete, "storage-mux.backend.removed"]);
    assert_eq!(world.mux.stats().backends.len(), 1);
    let error = world.run(world.mux.remove_backend("b")).expect_err("gone");
    assert_eq!(error.code(), MuxCode::BackendNotFound);
    let error = world.run(world.mux.drain("z")).expect_err("never there");
    assert_eq!(error.code(), MuxCode::BackendNotFound);
}

/// Spec: DR-2
#[test]
fn an_aborted_drain_leaves_the_backend_draining_and_draining_again_waits_again() {
    let world = World::new(2, plain());
    world.put_all("k", "v");
    world.stores[0].push(Fault::Delay(ms(900)));
    let controller = AbortController::new();
    let cx = OpContext::new().with_signal(controller.signal());
    let scene = async {
        world.clock.sleep(ms(100)).await;
        let abort = async { controller.abort() };
        let (aborted, ()) = join(world.mux.with(&cx).drain("a"), abort).await;
        assert_eq!(aborted.expect_err("aborted").code(), MuxCode::BackendAborted);
        assert_eq!(world.backend(0).status, BackendStatus::Draining);
        assert_eq!(world.now_ms(), 100);
        world.mux.drain("a").await.expect("drained");
        assert_eq!(world.now_ms(), 900);
    };
    let (call, ()) = world.run(join(world.mux.get("k"), scene));
    call.expect("finished");
    assert_eq!(world.events_of("storage-mux.drain.started").len(), 1);
    assert_eq!(world.events_of("storage-mux.drain.completed").len(), 1);
    assert_eq!(controller.waiters(), 0);
    world.assert_at_rest();
}

/// Case DR-03. Spec: DR-2
#[test]
fn a_drain_that_takes_too_long_says_not_drained_and_leaves_the_call_running() {
    let world = World::new(1, plain());
    world.put(0, "k", "v");
    world.stores[0].push(Fault::Delay(ms(900)));
    let cx = OpContext::new().with_deadline(world.clock.now() + ms(300));
    let drain = async { world.mux.with(&cx).drain("a").await };
    let (call, drain) = world.run(join(world.mux.get("k"), drain));
    assert_eq!(call.expect("left running"), "v");
    assert_eq!(drain.expect_err("too long").code(), MuxCode::BackendAborted);
}

/// Spec: DR-2
#[test]
fn a_drain_that_is_dropped_can_be_asked_for_again() {
    let world = World::new(2, plain());
    world.put_all("k", "v");
    let stream = world.run(world.mux.get_stream("k")).expect("open");
    assert!(world.mux.drain("a").now_or_never().is_none(), "an open stream is in flight");
    assert!(world.mux.backend_stats("a").is_some());
    drop(stream);
    world.run(world.mux.drain("a")).expect("drained");
    assert!(world.mux.backend_stats("a").is_none());
}

/// Spec: DR-1
#[test]
fn two_drains_of_one_backend_both_end_and_it_is_told_once() {
    let world = World::new(2, plain());
    world.put_all("k", "v");
    world.stores[0].push(Fault::Delay(ms(500)));
    let removals = async { join(world.mux.remove_backend("a"), world.mux.drain("a")).await };
    let (call, (removed, drained)) = world.run(join(world.mux.get("k"), removals));
    assert!(call.is_ok() && removed.is_ok() && drained.is_ok());
    for topic in ["drain.started", "drain.completed", "backend.removed"] {
        assert_eq!(world.events_of(&format!("storage-mux.{topic}")).len(), 1, "{topic}");
    }
}

/// Case SEL-09. Spec: DR-5, BH-2
#[test]
fn draining_the_last_backend_is_legal_and_calls_then_find_nobody_in_any_mode() {
    for each in MuxMode::ALL {
        let clock = FakeClock::new();
        let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
            .backends(
                ["a", "b"].map(|name| Backend::new(name, MemoryStorage::new()).with_weight(1.0)),
            )
            .options(mode(each))
            .build()
            .expect("a mux");
        for name in ["a", "b"] {
            run(&clock, mux.drain(name)).expect("runs").expect("drained");
        }
        let errors = run(&clock, async {
            let page = Default::default();
            vec![
                mux.get("k").await.err(),
                mux.set("k", "v").await.err(),
                mux.has("k").await.err(),
                mux.list("", &page).await.err(),
                mux.get_stream("k").await.err(),
                mux.set_stream("k").await.err(),
            ]
        });
        for error in errors.expect("no hang") {
            let error = error.expect("nobody is left");
            assert!(error.is_mux(MuxCode::AllBackendsDown), "{each}: {error}");
        }
        mux.add_backend(Backend::new("a", MemoryStorage::new()).with_weight(1.0)).expect("again");
        run(&clock, mux.set("k", "v")).expect("runs").expect("served again");
    }
}

/// Found by the simulation, seed 37. Spec: SA-1, DR-5
#[test]
fn a_call_that_finds_nobody_left_is_counted_whether_the_last_one_drains_or_is_gone() {
    let world = World::new(1, plain());
    let held = world.run(world.mux.set_stream("k")).expect("a stream");
    assert!(world.run(world.mux.with(&impatient(&world)).drain("a")).is_err());
    assert!(world.run(world.mux.get("k")).is_err(), "it drains");
    assert_eq!(world.mux.stats().total_calls, 2);
    drop(held);
    world.run(world.mux.drain("a")).expect("drained");
    assert!(world.run(world.mux.get("k")).is_err(), "it is gone");
    assert_eq!(world.mux.stats().total_calls, 3);
}

/// A context that waits for a millisecond.
fn impatient(world: &World) -> OpContext {
    OpContext::new().with_deadline(world.clock.now() + ms(1))
}

/// Case DR-04. Spec: DR-4
#[test]
fn a_retry_in_place_does_not_go_on_with_a_backend_that_drains_meanwhile() {
    let world = World::new(2, plain().with_retry(Default::default()));
    world.put(1, "k", "from b");
    world.stores[0].push(Fault::DelayThenFail(ms(10), StorageError::http(500)));
    let drain = async {
        world.clock.sleep(ms(5)).await;
        world.mux.drain("a").await.expect("drained");
    };
    let (call, ()) = world.run(join(world.mux.get("k"), drain));
    assert_eq!(call.expect("b answers"), "from b");
    assert_eq!(world.calls(), [1, 1], "no try is started on a draining backend");
}

/// Case DR-01. Spec: DR-1, AB-5
#[test]
fn every_way_a_call_can_end_gives_its_place_back() {
    let world = World::new(1, plain());
    world.put(0, "k", "v");
    let store = &world.stores[0];
    for _ in 0..20 {
        let _ = world.run(world.mux.get("k"));
    }
    store.set_always(Fault::Fail(StorageError::http(500)));
    for _ in 0..30 {
        let _ = world.run(world.mux.get("k"));
    }
    store.set_always(Fault::Hang);
    for _ in 0..50 {
        assert!(world.mux.get("k").now_or_never().is_none());
    }
    for _ in 0..10 {
        let _ = world.run(world.mux.get("k"));
    }
    store.set_always(Fault::None);
    for _ in 0..5 {
        let mut stream = world.run(world.mux.get_stream("k")).expect("open");
        world.run(stream.next());
    }
    assert_eq!(world.backend(0).in_flight, 0);
    assert!(world.mux.drain("a").now_or_never().expect("at once").is_ok());
}

/// Spec: DR-2, AB-3
#[test]
fn a_drain_whose_caller_had_aborted_before_leaves_the_backend_as_it_is() {
    let world = World::new(2, plain());
    let controller = AbortController::new();
    controller.abort();
    let cx = OpContext::new().with_signal(controller.signal());
    let error = world.run(world.mux.with(&cx).drain("a")).expect_err("aborted");
    assert_eq!(error.code(), MuxCode::BackendAborted);
    assert_eq!(world.backend(0).status, BackendStatus::Up);
    assert!(world.topics().is_empty());
}
