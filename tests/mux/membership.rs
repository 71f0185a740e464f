//! Backends that come, go and change their weight while calls are under way.

use futures_util::future::join;
use storage_mux::sim::{FakeClock, Fault, FaultStorage, run};
use storage_mux::{
    Backend, Clock, Event, MemoryStorage, MuxCode, MuxMode, SeededRng, SharedStorage, StorageError,
    StorageMux,
};

use crate::support::{Store, World, mode, ms, plain};

fn newcomer(world: &World, name: &str) -> (Store, Backend<Store>) {
    let store = FaultStorage::new(MemoryStorage::new(), world.clock.clone());
    (store.clone(), Backend::new(name, store))
}

/// Spec: MU-1, EV-1
#[test]
fn a_backend_that_is_added_takes_its_share_and_is_announced_with_its_weight() {
    let world = World::new(2, mode(MuxMode::RoundRobin));
    let (store, backend) = newcomer(&world, "new");
    world.mux.add_backend(backend.with_weight(2.0)).expect("a free name");
    for _ in 0..9 {
        world.run(world.mux.has("k")).expect("answers");
    }
    assert_eq!((world.calls(), store.calls()), (vec![3, 3], 3));
    let added = Event::BackendAdded { name: "new".into(), weight: Some(2.0) };
    assert_eq!(world.recorder.events(), [added]);
}

/// Spec: MU-1, E-4
#[test]
fn a_backend_that_may_not_join_changes_nothing_and_is_not_announced() {
    let world = World::new(2, plain());
    let (_, backend) = newcomer(&world, "a");
    let error = world.mux.add_backend(backend).expect_err("taken");
    assert_eq!(error.code(), MuxCode::BackendNameConflict);
    let (_, backend) = newcomer(&world, "c");
    let error = world.mux.add_backend(backend.with_weight(-1.0)).expect_err("no weight");
    assert_eq!(error.code(), MuxCode::InvalidWeight);
    assert_eq!(error.backend().map(|name| name.as_str()), Some("c"));
    assert_eq!(world.mux.stats().backends.len(), 2);
    assert!(world.topics().is_empty());
}

/// Spec: IN-2
#[test]
fn a_ninth_level_is_refused_when_it_is_added_too() {
    let mux = |storage: SharedStorage| {
        StorageMux::builder(FakeClock::new(), SeededRng::new(1))
            .backend(Backend::new("inner", storage))
            .build()
            .expect("a level")
    };
    let leaf = SharedStorage::new(MemoryStorage::new());
    let top = mux(leaf.clone());
    let mut eight = leaf;
    for _ in 0..7 {
        eight = mux(eight).into();
    }
    top.add_backend(Backend::new("seven", eight.clone())).expect("seven and one are eight");
    let error = top.add_backend(Backend::new("eight", mux(eight).into())).expect_err("nine");
    assert_eq!(error.code(), MuxCode::RecursionDepthExceeded);
}

/// Spec: MU-1, MU-2, WT-1
#[test]
fn doubling_a_weight_doubles_its_share() {
    let clock = FakeClock::new();
    let stores: Vec<Store> =
        (0..3).map(|_| FaultStorage::new(MemoryStorage::new(), clock.clone())).collect();
    let recorder = storage_mux::sim::Recorder::new();
    let mux =
        StorageMux::builder(clock.clone(), SeededRng::new(3))
            .backends(["a", "b", "c"].into_iter().zip(&stores).zip([1.0, 1.0, 4.0]).map(
                |((name, store), weight)| Backend::new(name, store.clone()).with_weight(weight),
            ))
            .options(mode(MuxMode::Weighted))
            .event_sink(recorder.clone())
            .build()
            .expect("weights");
    let share_of_b = |calls: usize| {
        let before = stores[1].calls();
        for _ in 0..calls {
            run(&clock, mux.has("k")).expect("runs").expect("answers");
        }
        stores[1].calls() - before
    };
    assert!(share_of_b(6_000).abs_diff(1_000) < 145, "a sixth, within five standard deviations");
    mux.set_weight("b", 2.0).expect("a weight");
    assert!(share_of_b(7_000).abs_diff(2_000) < 190, "two sevenths");
    let changed = Event::WeightChanged { name: "b".into(), from: Some(1.0), to: 2.0 };
    assert_eq!(recorder.events(), [changed]);
}

/// Case SEL-02, SEL-03. Spec: MU-1, WT-3
#[test]
fn a_bad_weight_is_refused_and_the_old_one_stays_in_force() {
    let clock = FakeClock::new();
    let mux = StorageMux::builder(clock, SeededRng::new(3))
        .backend(Backend::new("a", MemoryStorage::new()).with_weight(0.0))
        .backend(Backend::new("b", MemoryStorage::new()).with_weight(1.0))
        .options(mode(MuxMode::Weighted))
        .build()
        .expect("weights");
    for bad in [f64::NAN, f64::INFINITY, -1.0, 0.0] {
        let error = mux.set_weight("b", bad).expect_err("no weight, or none left");
        assert_eq!(error.code(), MuxCode::InvalidWeight, "{bad}");
    }
    assert_eq!(mux.set_weight("z", 1.0).expect_err("unknown").code(), MuxCode::BackendNotFound);
    mux.set_weight("a", 1.0).expect("a weight");
    mux.set_weight("b", -0.0).expect("a has one now, and minus zero is zero");
}

/// Spec: MU-3, DR-1
#[test]
fn calls_in_flight_keep_the_set_they_started_with() {
    let world = World::new(2, plain());
    world.put(1, "k", "from b");
    let held = StorageError::http(503);
    world.stores[0].push(Fault::DelayThenFail(ms(100), held));
    let change = async {
        world.clock.sleep(ms(50)).await;
        let (store, backend) = newcomer(&world, "c");
        world.mux.add_backend(backend).expect("added");
        store
    };
    let (call, newcomer) = world.run(join(world.mux.get("k"), change));
    assert_eq!(call.expect("b, as when it started"), "from b");
    assert_eq!(newcomer.calls(), 0);
}

/// Spec: MI-3, MU-3
#[test]
fn a_peer_that_was_skipped_is_named_although_it_leaves_before_the_write_has_ended() {
    let world = World::new(2, mode(MuxMode::Mirror));
    world.take_down(0);
    world.stores[1].push(Fault::Delay(ms(100)));
    let leave = async {
        world.clock.sleep(ms(50)).await;
        world.mux.drain("a").await
    };
    let (set, left) = world.run(join(world.mux.set("k", "v"), leave));
    assert!(set.is_ok() && left.is_ok());
    let partial = world.events_of("storage-mux.fanout-partial");
    let [Event::FanoutPartial { failed, .. }] = &partial[..] else { panic!("{partial:?}") };
    assert_eq!(failed[..], [storage_mux::BackendName::from("a")]);
}

/// Spec: HC-3, IS-3
#[test]
fn a_weak_handle_finds_the_mux_while_another_lives_and_keeps_it_not() {
    let World { clock, mux, .. } = World::new(1, plain());
    let weak = mux.downgrade();
    let stream = {
        let strong = weak.upgrade().expect("alive");
        run(&clock, strong.set("k", "v")).expect("runs").expect("stored");
        run(&clock, strong.get_stream("k")).expect("runs").expect("open")
    };
    drop(mux);
    assert!(weak.upgrade().is_none(), "a stream that is still open is no handle");
    drop(stream);
}
