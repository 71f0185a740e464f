//! Backends that panic, or that hold callers to the letter of a trait.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::{FutureExt, StreamExt};
use storage_mux::sim::{FakeClock, Recorder, run};
use storage_mux::{Backend, MuxMode, SeededRng, StorageMux};

use crate::rigged::Rigged;
use crate::support::mode;

const MODES: [MuxMode; 6] = [
    MuxMode::Failover,
    MuxMode::RoundRobin,
    MuxMode::Weighted,
    MuxMode::StickyByKey,
    MuxMode::Shield,
    MuxMode::Mirror,
];

/// Case ST-07. Spec: SM-1, SM-5
#[test]
fn the_stream_of_an_empty_value_is_not_polled_after_its_end() {
    for each in MODES {
        let clock = FakeClock::new();
        let stores = [Rigged::new(|_| {}), Rigged::new(|_| {})];
        let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
            .backend(Backend::new("a", stores[0].clone()).with_weight(1.0))
            .backend(Backend::new("b", stores[1].clone()).with_weight(1.0))
            .options(mode(each))
            .build()
            .expect("a mux");
        for store in &stores {
            let cx = storage_mux::OpContext::new();
            run(&clock, storage_mux::Storage::set(&store.inner, "empty", "".into(), &cx))
                .expect("ready")
                .expect("stored");
        }
        let chunks = run(&clock, async {
            let mut stream = mux.get_stream("empty").await.expect("it is there");
            let mut chunks = Vec::new();
            while let Some(chunk) = stream.next().await {
                chunks.push(chunk.expect("no error"));
            }
            assert!(stream.next().await.is_none(), "and it stays at its end");
            chunks
        });
        let bytes: usize = chunks.expect("ready").iter().map(|chunk| chunk.len()).sum();
        assert_eq!(bytes, 0, "{each}");
        assert!(mux.stats().backends.iter().all(|backend| backend.in_flight == 0), "{each}");
    }
}

/// Case CB-12, EV-04, OT-01. Spec: AB-5, HE-4, OT-1
#[test]
fn a_panic_in_a_backend_leaves_no_call_no_probe_and_no_span_behind() {
    for each in MODES {
        let clock = FakeClock::new();
        let recorder = Recorder::new();
        let rude = Arc::new(AtomicBool::new(true));
        let heard = rude.clone();
        let store = Rigged::new(move |_| assert!(!heard.load(Ordering::SeqCst), "rude"));
        let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
            .backend(Backend::new("a", store.clone()).with_weight(1.0))
            .backend(Backend::new("b", store).with_weight(1.0))
            .options(mode(each))
            .tracer(recorder.clone())
            .build()
            .expect("a mux");
        for _ in 0..20 {
            let call = catch_unwind(AssertUnwindSafe(|| run(&clock, mux.get("k"))));
            assert!(call.is_err(), "the panic is the caller's to see");
            let call = catch_unwind(AssertUnwindSafe(|| run(&clock, mux.set("k", "v"))));
            assert!(call.is_err(), "the panic is the caller's to see");
        }
        rude.store(false, Ordering::SeqCst);
        run(&clock, mux.set("k", "v")).expect("ready").expect("served as if nothing had been");
        assert_eq!(run(&clock, mux.get("k")).expect("ready").expect("served"), "v");
        assert!(recorder.spans().iter().all(|span| span.ends == 1), "{each}");
        assert_eq!(clock.waiting(), 0);
        mux.drain("a").now_or_never().expect("nothing in flight").expect("drained");
    }
}

/// Case EV-04, OT-01. Spec: AB-5, OT-1
#[test]
fn a_panic_in_a_sink_leaves_no_call_and_no_open_span_behind() {
    let clock = FakeClock::new();
    let recorder = Recorder::new();
    let store = |fault: bool| {
        let store =
            storage_mux::sim::FaultStorage::new(storage_mux::MemoryStorage::new(), clock.clone());
        if fault {
            store.push(storage_mux::sim::Fault::Fail(storage_mux::StorageError::http(503)));
        }
        store
    };
    let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
        .backend(Backend::new("a", store(true)))
        .backend(Backend::new("b", store(false)))
        .options(crate::support::plain())
        .tracer(recorder.clone())
        .event_sink(|_: &storage_mux::Event| panic!("rude sink"))
        .build()
        .expect("a mux");
    assert!(catch_unwind(AssertUnwindSafe(|| run(&clock, mux.has("k")))).is_err());
    assert!(recorder.spans().iter().all(|span| span.ends == 1), "{:?}", recorder.spans());
    assert!(mux.stats().backends.iter().all(|backend| backend.in_flight == 0));
    assert_eq!(run(&clock, mux.has("k")).expect("ready"), Ok(false), "b serves");
}
