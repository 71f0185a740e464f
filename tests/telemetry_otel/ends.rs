//! Every span that is started is ended, whatever becomes of its call.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;

use futures_util::{SinkExt, StreamExt, poll};
use storage_mux::retry::{CircuitBreaker, CircuitBreakerOptions};
use storage_mux::sim::{Fault, StreamFault};
use storage_mux::{AbortController, Backend, MuxMode, OpContext, SharedStorage, StorageError};

use crate::hooked::Hooked;
use crate::scene::Scene;
use crate::support::{mode, ms, plain};

/// Case OT-01. Spec: OT-1, AB-5
#[test]
fn a_read_stream_that_is_dropped_after_a_chunk_ends_its_spans() {
    let scene = Scene::new();
    let (mux, _) = scene.mux(1, plain());
    let mut reader = scene.run(mux.get_stream("k")).expect("opens");
    scene.run(reader.next()).expect("a chunk").expect("of the value");
    assert_eq!(scene.spans().len(), 0, "both are open as long as the stream is");
    drop(reader);
    assert_eq!(scene.outcomes_of_the_one_call(), ["abort"]);
}

/// Case OT-01. Spec: OT-1, AB-5
#[test]
fn a_write_stream_that_is_dropped_after_a_chunk_ends_its_spans() {
    let scene = Scene::new();
    let (mux, _) = scene.mux(3, mode(MuxMode::Mirror));
    let mut writer = scene.run(mux.set_stream("new")).expect("opens");
    scene.run(writer.send("chunk".into())).expect("taken");
    drop(writer);
    assert_eq!(scene.outcomes_of_the_one_call(), ["abort"; 3]);
}

/// Case OT-01. Spec: OT-1, SM-5
#[test]
fn a_read_stream_that_breaks_ends_its_spans_with_what_broke_it() {
    for (fault, outcome) in [
        (Fault::Fail(StorageError::http(500)), "transient"),
        (Fault::Hang, "timeout"),
        (Fault::None, "ok"),
    ] {
        let scene = Scene::new();
        let (mux, stores) = scene.mux(1, plain());
        stores[0].push_stream(StreamFault::new(1, fault));
        let mut reader = scene.run(mux.get_stream("k")).expect("opens");
        while scene.run(reader.next()).is_some_and(|chunk| chunk.is_ok()) {}
        assert_eq!(scene.outcomes_of_the_one_call(), [outcome], "before the stream is dropped");
    }
}

/// Case OT-01. Spec: OT-1, AB-5
#[test]
fn a_get_that_is_dropped_at_any_point_ends_its_spans() {
    // Asleep in the first backend, asleep in the second, or not begun at all.
    for (polls, outcomes) in [(1, &["abort"][..]), (2, &["timeout", "abort"])] {
        let scene = Scene::new();
        let (mux, stores) = scene.mux(2, plain());
        stores.iter().for_each(|store| store.push(Fault::Hang));
        {
            let mut get = pin!(mux.get("k"));
            for _ in 0..polls {
                assert!(scene.run(async { poll!(get.as_mut()) }).is_pending());
                scene.clock.advance(ms(1_000));
            }
        }
        assert_eq!(scene.outcomes_of_the_one_call(), outcomes);
    }
    let scene = Scene::new();
    drop(scene.mux(1, plain()).0.get("k"));
    assert_eq!(scene.spans().len(), 0, "a future that is not polled starts nothing");
}

/// Case OT-01. Spec: OT-1, AB-3, AB-4
#[test]
fn a_get_whose_caller_aborts_ends_its_spans() {
    let scene = Scene::new();
    let (mux, stores) = scene.mux(2, plain());
    stores[0].push(Fault::Hang);
    let controller = AbortController::new();
    let cx = OpContext::new().with_signal(controller.signal());
    scene.run(async {
        let mux = mux.with(&cx);
        let mut get = pin!(mux.get("k"));
        assert!(poll!(get.as_mut()).is_pending());
        controller.abort();
        get.await.expect_err("aborted");
    });
    assert_eq!(scene.outcomes_of_the_one_call(), ["abort"]);

    let scene = Scene::new();
    let (mux, _) = scene.mux(1, plain());
    scene.run(mux.with(&cx).get("k")).expect_err("aborted before it began");
    assert_eq!(scene.outcomes_of_the_one_call(), [""; 0]);
}

/// Case OT-01. Spec: OT-1, BH-1
#[test]
fn a_get_that_times_out_everywhere_ends_its_spans() {
    let scene = Scene::new();
    let (mux, stores) = scene.mux(2, plain());
    stores.iter().for_each(|store| store.push(Fault::Hang));
    scene.run(mux.get("k")).expect_err("both hang");
    assert_eq!(scene.outcomes_of_the_one_call(), ["timeout", "timeout"]);
}

/// Case OT-01. Spec: OT-1, MI-1
#[test]
fn the_losers_of_a_race_end_their_spans() {
    let scene = Scene::new();
    let (mux, stores) = scene.mux(3, mode(MuxMode::Mirror));
    stores[0].push(Fault::Delay(ms(30)));
    stores[1].push(Fault::Delay(ms(5)));
    stores[2].push(Fault::Hang);
    scene.run(mux.get("k")).expect("b answers");
    assert_eq!(scene.outcomes_of_the_one_call(), ["abort", "ok", "abort"]);
}

/// Case OT-01. Spec: OT-1, RT-06
#[test]
fn a_get_that_a_breaker_refuses_ends_its_spans() {
    let scene = Scene::new();
    let options = CircuitBreakerOptions::new().with_failure_threshold(1);
    let breaker = CircuitBreaker::new(options, scene.clock.clone()).expect("a breaker");
    breaker.admit().expect("closed").settle(storage_mux::retry::Verdict::Failure);
    let guarded = Hooked::new(move |_| breaker.admit().map(drop).map_err(StorageError::other));
    let backend = Backend::new("guarded", SharedStorage::new(guarded));
    let mux = scene.builder(plain()).backend(backend).build().expect("a mux");
    scene.run(mux.get("k")).expect_err("refused");
    assert_eq!(scene.outcomes_of_the_one_call(), ["transient"]);
}

/// Case OT-01. Spec: OT-1
#[test]
fn a_get_whose_backend_panics_ends_its_spans() {
    let scene = Scene::new();
    let broken = Hooked::new(|_| panic!("a bug of the backend"));
    let backend = Backend::new("broken", SharedStorage::new(broken));
    let mux = scene.builder(plain()).backend(backend).build().expect("a mux");
    let panicked = catch_unwind(AssertUnwindSafe(|| scene.run(mux.get("k"))));
    panicked.expect_err("the panic is the caller's to see");
    assert_eq!(scene.outcomes_of_the_one_call(), ["abort"]);
}
