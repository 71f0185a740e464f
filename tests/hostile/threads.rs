//! Real threads: membership, health and drains against steady traffic.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use futures_util::FutureExt;
use storage_mux::sim::{FakeClock, Fault, FaultStorage};
use storage_mux::{Backend, MemoryStorage, MuxCode, MuxMode, SeededRng, StorageError, StorageMux};

use crate::rigged::Rigged;
use crate::support::{Ends, Store, mode};

const MODES: [MuxMode; 6] = [
    MuxMode::Failover,
    MuxMode::RoundRobin,
    MuxMode::Weighted,
    MuxMode::StickyByKey,
    MuxMode::Shield,
    MuxMode::Mirror,
];

fn is_legal(error: &StorageError) -> bool {
    error.is_mux(MuxCode::AllBackendsDown) || error.is_key_not_found()
}

/// Case DR-04, DR-05. Spec: MU-3, DR-1, DR-4
#[test]
fn a_drained_backend_is_never_asked_again_while_calls_rush_in() {
    for each in MODES {
        let mux = StorageMux::builder(FakeClock::new(), SeededRng::new(1))
            .backend(Backend::new("stays", Rigged::new(|_| {})).with_weight(1.0))
            .backend(Backend::new("too", Rigged::new(|_| {})).with_weight(1.0))
            .options(mode(each))
            .build()
            .expect("a mux");
        let over = AtomicBool::new(false);
        let calls = AtomicUsize::new(0);
        thread::scope(|scope| {
            let _readers_end = Ends(&over);
            for reader in 0..3 {
                let (mux, over, calls) = (&mux, &over, &calls);
                scope.spawn(move || {
                    while !over.load(Ordering::SeqCst) {
                        let key = format!("key {reader}");
                        let set = mux.set(&key, "v").now_or_never().expect("memory is ready");
                        let get = mux.get(&key).now_or_never().expect("memory is ready");
                        for error in [set.err(), get.err()].into_iter().flatten() {
                            assert!(is_legal(&error), "{each}: {error}");
                        }
                        calls.fetch_add(2, Ordering::SeqCst);
                    }
                });
            }
            for round in 0..40 {
                let gone = Arc::new(AtomicBool::new(false));
                let seen = gone.clone();
                let guest = Rigged::new(move |what| {
                    assert!(!seen.load(Ordering::SeqCst), "{what} after the drain");
                });
                let backend = Backend::new("guest", guest).with_weight(1.0);
                mux.add_backend(backend).expect("the name is free");
                mux.set_weight("guest", f64::from(round % 3)).expect("the others have weight");
                thread::yield_now();
                // Each call is short, so a few looks are enough; the number is only a bound.
                let drained = (0..1_000_000).find_map(|_| {
                    thread::yield_now();
                    mux.remove_backend("guest").now_or_never()
                });
                drained.expect("a drain ends").expect("it was there");
                gone.store(true, Ordering::SeqCst);
            }
        });
        let stats = mux.stats();
        assert_eq!(stats.total_calls as usize, calls.load(Ordering::SeqCst), "{each}");
        assert!(stats.backends.iter().all(|backend| backend.in_flight == 0), "{each}");
        assert_eq!(stats.backends.len(), 2);
    }
}

/// Spec: SH-3, HE-4
#[test]
fn two_writes_at_once_both_ask_an_origin_whose_cooldown_has_just_passed() {
    let clock = FakeClock::new();
    let stores: Vec<Store> =
        (0..2).map(|_| FaultStorage::new(MemoryStorage::new(), clock.clone())).collect();
    let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
        .backend(Backend::new("a", stores[0].clone()))
        .backend(Backend::new("b", stores[1].clone()))
        .options(mode(MuxMode::Shield))
        .build()
        .expect("a mux");
    for round in 0..300 {
        stores[0].push(Fault::Fail(StorageError::http(503)));
        let down = mux.set("k", "v").now_or_never().expect("ready").expect_err("a decides");
        assert!(down.is_mux(MuxCode::AllBackendsDown), "{down}");
        clock.advance(Duration::from_secs(61));
        let start = Barrier::new(2);
        let written: Vec<_> = thread::scope(|scope| {
            let write = || {
                start.wait();
                mux.set("k", "v").now_or_never().expect("ready")
            };
            let both = [scope.spawn(write), scope.spawn(write)];
            both.into_iter().map(|each| each.join().expect("no panic")).collect()
        });
        for result in written {
            result.unwrap_or_else(|error| panic!("round {round}: {error}"));
        }
    }
}

/// Case SM-06. Spec: IS-2, HE-2
#[test]
fn outages_under_load_are_counted_once_each_and_no_attempt_is_lost() {
    let clock = FakeClock::new();
    let stores: Vec<Store> =
        (0..3).map(|_| FaultStorage::new(MemoryStorage::new(), clock.clone())).collect();
    let names = ["a", "b", "c"];
    let (downs, ups) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (down, up) = (downs.clone(), ups.clone());
    let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
        .backends(
            names.into_iter().zip(&stores).map(|(name, each)| Backend::new(name, each.clone())),
        )
        .options(mode(MuxMode::RoundRobin))
        .event_sink(move |event: &storage_mux::Event| match event.topic() {
            "storage-mux.backend.down" => drop(down.fetch_add(1, Ordering::SeqCst)),
            "storage-mux.backend.recovered" => drop(up.fetch_add(1, Ordering::SeqCst)),
            _ => {}
        })
        .build()
        .expect("a mux");
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..2_000 {
                    let _ = mux.has("k").now_or_never().expect("ready");
                }
            });
        }
        for round in 0..200 {
            stores[round % 3].push(Fault::Fail(StorageError::http(503)));
            thread::yield_now();
            clock.advance(Duration::from_secs(61));
        }
    });
    // Whatever is still scheduled happens now, and all come back.
    for _ in 0..700 {
        clock.advance(Duration::from_secs(61));
        let _ = mux.has("k").now_or_never().expect("ready");
    }
    let stats = mux.stats();
    let asked: usize = stores.iter().map(FaultStorage::calls).sum();
    let booked: u64 = stats.backends.iter().map(|each| each.hits + each.misses + each.errors).sum();
    assert_eq!(asked as u64, booked);
    for (backend, store) in stats.backends.iter().zip(&stores) {
        let booked = backend.hits + backend.misses + backend.errors + backend.cancelled;
        assert_eq!(booked, store.calls() as u64, "{}", backend.name);
        assert_eq!(backend.in_flight, 0);
        assert_eq!(backend.status, storage_mux::BackendStatus::Up, "{}", backend.name);
    }
    assert_eq!(downs.load(Ordering::SeqCst), ups.load(Ordering::SeqCst), "each outage ended");
}
