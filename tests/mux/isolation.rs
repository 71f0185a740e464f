//! One backend's trouble stays its own, and whoever watches may call back in.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::join_all;
use storage_mux::sim::{FakeClock, Fault, FaultStorage, run};
use storage_mux::{
    Backend, BackendStatus, Event, MemoryStorage, SeededRng, StorageError, StorageMux,
};

use crate::support::{TestMux, World, plain};

/// Spec: IS-1
#[test]
fn a_failure_of_one_leaves_the_record_of_the_next_untouched() {
    let world = World::new(3, plain());
    world.stores[0].push(Fault::Fail(StorageError::http(500)));
    world.run(world.mux.has("k")).expect("b answers");
    let untouched = world.backend(2);
    assert_eq!(untouched.status, BackendStatus::Up);
    assert_eq!((untouched.hits, untouched.errors, untouched.consecutive_failures), (0, 0, 0));
    assert_eq!((untouched.last_error, untouched.last_latency), (None, None));
}

/// Spec: IS-2
#[test]
fn every_attempt_of_many_concurrent_calls_is_counted_once() {
    let world = World::new(3, plain());
    world.put_all("k", "v");
    world.stores[0].set_always(Fault::Fail(StorageError::http(500)));
    let calls = (0..100).map(|n| world.mux.get(if n % 2 == 0 { "k" } else { "missing" }));
    world.run(join_all(calls));
    let stats = world.mux.stats();
    let attempts: u64 =
        stats.backends.iter().map(|each| each.hits + each.misses + each.errors).sum();
    for (backend, store) in stats.backends.iter().zip(&world.stores) {
        assert_eq!(backend.hits + backend.misses + backend.errors, store.calls() as u64);
    }
    assert_eq!(stats.total_calls, 100);
    assert_eq!(attempts, stats.total_calls + stats.total_failovers);
    world.assert_at_rest();
}

/// Case EV-01. Spec: IS-3
#[test]
fn a_sink_may_call_back_into_the_mux_on_every_event() {
    let clock = FakeClock::new();
    let store = FaultStorage::new(MemoryStorage::new(), clock.clone());
    let handle: Arc<std::sync::OnceLock<TestMux>> = Arc::default();
    let heard = Arc::new(AtomicUsize::new(0));
    let (inside, count) = (handle.clone(), heard.clone());
    let sink_clock = clock.clone();
    let mux: TestMux = StorageMux::builder(clock.clone(), SeededRng::new(1))
        .backend(Backend::new("a", store.clone()))
        .backend(Backend::new("b", FaultStorage::new(MemoryStorage::new(), clock.clone())))
        .options(plain())
        .event_sink(move |_: &Event| {
            count.fetch_add(1, Ordering::SeqCst);
            let mux = inside.get().expect("set below");
            let _ = mux.stats();
            let _ = run(&sink_clock, mux.has("from the sink"));
        })
        .build()
        .expect("a mux");
    handle.set(mux.clone()).expect("once");
    store.push(Fault::Fail(StorageError::http(500)));
    assert_eq!(run(&clock, mux.has("k")).expect("no deadlock"), Ok(false));
    assert_eq!(heard.load(Ordering::SeqCst), 2, "down, then failover");
}

/// Case EV-04, CB-12. Spec: AB-5
#[test]
fn a_sink_that_panics_leaves_nothing_held_and_the_mux_usable() {
    let clock = FakeClock::new();
    let store = FaultStorage::new(MemoryStorage::new(), clock.clone());
    let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
        .backend(Backend::new("a", store.clone()))
        .options(plain())
        .event_sink(|event: &Event| assert_ne!(event.topic(), "storage-mux.backend.down"))
        .build()
        .expect("a mux");
    store.push(Fault::Fail(StorageError::http(500)));
    let panicked =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(&clock, mux.has("k"))));
    assert!(panicked.is_err());
    let backend = mux.stats().backends[0].clone();
    assert_eq!((backend.in_flight, backend.errors), (0, 1));
    assert_eq!(run(&clock, mux.has("k")).expect("runs"), Ok(false));
    assert_eq!(mux.stats().backends[0].status, BackendStatus::Up);
}

/// Spec: EV-2, OT-2
#[test]
fn without_sink_tracer_and_meter_nothing_fails() {
    let clock = FakeClock::new();
    let store = FaultStorage::new(MemoryStorage::new(), clock.clone());
    store.push(Fault::Fail(StorageError::http(500)));
    let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
        .backend(Backend::new("a", store.clone()))
        .backend(Backend::new("b", store))
        .options(plain())
        .build()
        .expect("a mux");
    assert_eq!(run(&clock, mux.has("k")).expect("runs"), Ok(false));
    assert_eq!(mux.stats().total_failovers, 1);
}
