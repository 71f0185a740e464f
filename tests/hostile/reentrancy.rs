//! Watchers, backends and errors that call back into the mux, at the worst moment.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use futures_util::{FutureExt, SinkExt};
use storage_mux::sim::{FakeClock, Fault, FaultStorage, run};
use storage_mux::{
    Backend, BackendStatus, Event, HealthCheck, MemoryStorage, MuxMode, SeededRng, StorageError,
    StorageMux,
};

use crate::rigged::{HookClock, Rigged};
use crate::support::{Store, TestMux, mode, ms, plain};

/// Case EV-01. Spec: IS-3
#[test]
fn a_sink_may_do_everything_at_every_event() {
    for each in [MuxMode::Failover, MuxMode::Mirror, MuxMode::Shield, MuxMode::StickyByKey] {
        let clock = FakeClock::new();
        let handle: Arc<OnceLock<TestMux>> = Arc::default();
        let (inside, heard) = (AtomicBool::new(false), Arc::new(AtomicUsize::new(0)));
        let (mux_of_sink, count) = (handle.clone(), heard.clone());
        let time = clock.clone();
        let sink = move |_: &Event| {
            let Some(mux) = mux_of_sink.get() else { return };
            if inside.swap(true, Ordering::SeqCst) {
                return;
            }
            let seen = count.fetch_add(1, Ordering::SeqCst);
            let _ = (mux.stats(), format!("{mux:?}"));
            let _ = mux.set_weight("a", seen as f64);
            let name = format!("guest {seen}");
            let guest = FaultStorage::new(MemoryStorage::new(), time.clone());
            let _ = mux.add_backend(Backend::new(name.as_str(), guest));
            let _ = mux.get("k").now_or_never();
            let _ = mux.set("k", "w").now_or_never();
            let _ = mux.drain(&name).now_or_never();
            let _ = mux.remove_backend("b").now_or_never();
            inside.store(false, Ordering::SeqCst);
        };
        let stores: Vec<Store> =
            (0..3).map(|_| FaultStorage::new(MemoryStorage::new(), clock.clone())).collect();
        let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
            .backends(
                ["a", "b", "c"]
                    .into_iter()
                    .zip(&stores)
                    .map(|(name, store)| Backend::new(name, store.clone())),
            )
            .options(mode(each))
            .event_sink(sink)
            .build()
            .expect("a mux");
        assert!(handle.set(mux.clone()).is_ok());
        for round in 0..6 {
            stores[round % 3].push(Fault::Fail(StorageError::http(503)));
            let _ = run(&clock, mux.get("k")).expect("it ends");
            stores[round % 3].push(Fault::Fail(StorageError::http(503)));
            let _ = run(&clock, mux.set("k", "v")).expect("it ends");
            clock.advance(ms(70_000));
        }
        assert!(heard.load(Ordering::SeqCst) > 2, "{each}");
        assert!(mux.stats().backends.iter().all(|backend| backend.in_flight == 0), "{each}");
    }
}

/// Case EV-06. Spec: IS-3, MU-3
#[test]
fn a_backend_may_change_the_mux_that_asks_it() {
    let clock = FakeClock::new();
    let handle: Arc<OnceLock<StorageMux<Rigged, FakeClock, SeededRng>>> = Arc::default();
    let (mux_of_store, once) = (handle.clone(), AtomicBool::new(false));
    let store = Rigged::new(move |_| {
        if let Some(mux) = mux_of_store.get()
            && !once.swap(true, Ordering::SeqCst)
        {
            mux.add_backend(Backend::new("late", Rigged::new(|_| {}))).expect("added");
            mux.set_weight("a", 3.0).expect("changed");
            assert!(mux.drain("a").now_or_never().is_none(), "this very call is in flight");
            mux.set("elsewhere", "v").now_or_never().expect("ready").expect("late takes it");
        }
    });
    let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
        .backend(Backend::new("a", store))
        .options(plain())
        .build()
        .expect("a mux");
    assert!(handle.set(mux.clone()).is_ok());
    run(&clock, mux.set("k", "v")).expect("ready").expect("it finishes where it was routed");
    assert_eq!(mux.stats().backends[0].status, BackendStatus::Draining);
    mux.drain("a").now_or_never().expect("nothing in flight").expect("drained");
    assert_eq!(mux.stats().backends.len(), 1);
}

/// Spec: DR-4, SH-3, SH-4
#[test]
fn an_origin_that_drains_while_a_write_sets_out_hands_over_to_the_next() {
    for streamed in [false, true] {
        let clock = HookClock::default();
        let stores = [MemoryStorage::new(), MemoryStorage::new(), MemoryStorage::new()];
        let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
            .backends(
                ["a", "b", "c"]
                    .into_iter()
                    .zip(stores.clone())
                    .map(|(name, store)| Backend::new(name, store)),
            )
            .options(mode(MuxMode::Shield))
            .build()
            .expect("a mux");
        let handle = mux.clone();
        clock.on_next_reading(move || {
            handle.drain("a").now_or_never().expect("nothing in flight").expect("drained");
        });
        let written = run(&clock.inner, async {
            if !streamed {
                return mux.set("k", "v").await.map(|_| ());
            }
            let mut sink = mux.set_stream("k").await?;
            sink.send("v".into()).await?;
            sink.close().await
        });
        written.expect("ready").expect("b is the origin now, and stored it");
        let lengths: Vec<usize> = stores.iter().map(MemoryStorage::len).collect();
        assert_eq!(lengths, [0, 1, 1]);
        assert_eq!(mux.stats().total_fanout_partials, 0);
    }
}

/// Spec: HC-3
#[test]
fn a_check_that_closes_the_mux_is_the_last_one() {
    let clock = FakeClock::new();
    let handle: Arc<Mutex<Option<StorageMux<MemoryStorage, FakeClock, SeededRng>>>> =
        Arc::default();
    let checks = Arc::new(AtomicUsize::new(0));
    let check = || {
        let (handle, checks) = (handle.clone(), checks.clone());
        HealthCheck::custom(move |_| {
            let (handle, checks) = (handle.clone(), checks.clone());
            async move {
                checks.fetch_add(1, Ordering::SeqCst);
                let last = handle.lock().expect("unpoisoned").take();
                drop(last);
                Ok(())
            }
        })
    };
    let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
        .backend(Backend::new("a", MemoryStorage::new()).with_health_check(check()))
        .backend(Backend::new("b", MemoryStorage::new()).with_health_check(check()))
        .options(plain().with_health_check_interval(ms(1_000)))
        .build()
        .expect("a mux");
    let schedule = mux.health_checks();
    *handle.lock().expect("unpoisoned") = Some(mux);
    run(&clock, schedule).expect("the last handle is gone, so the schedule ends");
    assert_eq!(checks.load(Ordering::SeqCst), 1, "no check after the close");
    assert_eq!(clock.waiting(), 0);
}

/// An error that looks at the mux while it is written.
struct Nosy(Arc<OnceLock<TestMux>>, Arc<AtomicBool>);

impl fmt::Debug for Nosy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(mux) = self.0.get().cloned() {
            let looking = std::thread::spawn(move || mux.backend_stats("a").is_some());
            for _ in 0..2_000_000 {
                if looking.is_finished() {
                    self.1.store(true, Ordering::SeqCst);
                    break;
                }
                std::thread::yield_now();
            }
        }
        f.write_str("Nosy")
    }
}

impl fmt::Display for Nosy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nosy")
    }
}

impl std::error::Error for Nosy {}

/// Spec: IS-3
#[test]
fn the_last_error_of_a_backend_is_written_with_no_lock_held() {
    let clock = FakeClock::new();
    let store = FaultStorage::new(MemoryStorage::new(), clock.clone());
    let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
        .backend(Backend::new("a", store.clone()))
        .options(plain())
        .build()
        .expect("a mux");
    let (handle, looked) = (Arc::new(OnceLock::new()), Arc::new(AtomicBool::new(false)));
    store.push(Fault::Fail(StorageError::other(Nosy(handle.clone(), looked.clone()))));
    run(&clock, mux.get("k")).expect("ready").expect_err("down");
    assert!(handle.set(mux.clone()).is_ok());
    let text = format!("{mux:?}");
    assert!(text.contains("Nosy"), "the error is shown: {text}");
    assert!(looked.load(Ordering::SeqCst), "statistics had to wait for the writing of an error");
}
