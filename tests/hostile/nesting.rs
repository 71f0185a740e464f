//! Muxes in muxes: depth that grows later, circles, aborts and timeouts that reach the innermost.

use std::time::Duration;

use futures_util::FutureExt;
use storage_mux::retry::RetryOptions;
use storage_mux::sim::{FakeClock, Fault, FaultStorage, run};
use storage_mux::{
    AbortController, Backend, BackendStatus, Clock, LocalStorage, MemoryStorage, MuxCode, MuxMode,
    MuxOptions, OpContext, Operation, SeededRng, SharedStorage, StorageMux,
};

use crate::support::{Store, mode, ms, plain};

type Nest = StorageMux<SharedStorage, FakeClock, SeededRng>;

fn mux_of(clock: &FakeClock, options: MuxOptions, backends: Vec<SharedStorage>) -> Nest {
    let named = |(at, storage)| Backend::new(format!("b{at}").as_str(), storage);
    StorageMux::builder(clock.clone(), SeededRng::new(3))
        .backends(backends.into_iter().enumerate().map(named))
        .options(options)
        .build()
        .expect("a mux")
}

fn leaf(clock: &FakeClock) -> (Store, SharedStorage) {
    let store = FaultStorage::new(MemoryStorage::new(), clock.clone());
    (store.clone(), SharedStorage::new(store))
}

/// Spec: IN-2
#[test]
fn a_nest_that_grows_past_eight_after_it_was_nested_refuses_calls() {
    let clock = FakeClock::new();
    let (_, store) = leaf(&clock);
    let bottom = mux_of(&clock, plain(), vec![store]);
    let mut outer = bottom.clone();
    for _ in 0..7 {
        outer = mux_of(&clock, plain(), vec![outer.into()]);
    }
    run(&clock, outer.set("k", "v")).expect("ready").expect("eight levels are legal");
    let (_, store) = leaf(&clock);
    let ninth = mux_of(&clock, plain(), vec![store]);
    bottom.add_backend(Backend::new("ninth", ninth.into())).expect("it cannot know its parents");
    run(&clock, bottom.drain("b0")).expect("ready").expect("drained");
    let error = run(&clock, outer.get("k")).expect("ready").expect_err("nine levels");
    let error = error.as_mux().expect("the mux says so").clone();
    assert_eq!(error.code(), MuxCode::RecursionDepthExceeded);
    run(&clock, bottom.set("k", "v")).expect("ready").expect("two levels are legal");
}

/// Spec: IN-2, E-6
#[test]
fn a_mux_that_is_its_own_backend_refuses_calls_and_overflows_nothing() {
    for each in [MuxMode::Failover, MuxMode::Mirror, MuxMode::RoundRobin] {
        let clock = FakeClock::new();
        let (store, shared) = leaf(&clock);
        let mux = mux_of(&clock, mode(each), vec![shared]);
        mux.add_backend(Backend::new("myself", mux.clone().into())).expect("it is one deep");
        store.set_always(Fault::Hang);
        run(&clock, mux.drain("b0")).expect("ready").expect("drained");
        let error = run(&clock, mux.get("k")).expect("it ends").expect_err("nobody is there");
        let error = error.as_mux().expect("the mux says so").clone();
        assert_eq!(error.code(), MuxCode::RecursionDepthExceeded, "{each}");
        assert_eq!(mux.stats().backends[0].in_flight, 0);
        // It must come out of its own ring, or it is never freed.
        run(&clock, mux.remove_backend("myself")).expect("ready").expect("removed");
    }
}

/// Spec: IN-1, AB-4, AB-5
#[test]
fn an_abort_reaches_the_innermost_backend_in_one_poll_and_marks_nobody() {
    for each in [MuxMode::Failover, MuxMode::Mirror, MuxMode::Shield] {
        let clock = FakeClock::new();
        let ((hung, a), (spare, b)) = (leaf(&clock), leaf(&clock));
        hung.set_always(Fault::Hang);
        spare.set_always(Fault::Hang);
        hung.keep_signals();
        let inner = mux_of(&clock, mode(each), vec![a, b]);
        let outer = mux_of(&clock, plain(), vec![inner.clone().into()]);
        let controller = AbortController::new();
        let cx = OpContext::new().with_signal(controller.signal());
        let with = outer.with(&cx);
        let mut call = Box::pin(with.get("k"));
        assert!(call.as_mut().now_or_never().is_none());
        controller.abort();
        let error = call.as_mut().now_or_never().expect("within one poll").expect_err("aborted");
        assert!(error.is_mux(MuxCode::BackendAborted), "{error}");
        drop(call);
        assert!(hung.signals().iter().all(storage_mux::AbortSignal::is_aborted));
        for mux in [&inner, &outer] {
            for backend in mux.stats().backends {
                assert_eq!((backend.in_flight, backend.errors), (0, 0), "{each}");
                assert_eq!(backend.status, BackendStatus::Up);
            }
        }
        assert_eq!((controller.waiters(), clock.waiting()), (0, 0));
    }
}

/// Spec: IN-1, BH-1, AB-5
#[test]
fn an_outer_timeout_drops_the_inner_call_whole() {
    let clock = FakeClock::new();
    let ((hung, a), (spare, b)) = (leaf(&clock), leaf(&clock));
    hung.set_always(Fault::Hang);
    let patient = plain().with_backend_timeout(Duration::MAX).with_retry(RetryOptions::new());
    let inner = mux_of(&clock, patient, vec![a]);
    let outer = mux_of(&clock, plain(), vec![inner.clone().into(), b]);
    run(&clock, outer.set("k", "v")).expect("it ends").expect("the second takes it");
    assert_eq!(clock.now().as_nanos(), 1_000_000_000);
    assert_eq!((hung.calls(), spare.calls()), (1, 1));
    let stats = inner.stats();
    assert_eq!((stats.backends[0].in_flight, stats.backends[0].cancelled), (0, 1));
    assert_eq!(clock.waiting(), 0);
}

/// Spec: MX-5, MU-1
#[test]
fn an_inner_mux_that_is_drained_empty_and_filled_again_serves_again() {
    let clock = FakeClock::new();
    let (_, a) = leaf(&clock);
    let inner = mux_of(&clock, plain(), vec![a]);
    let outer = mux_of(&clock, plain(), vec![inner.clone().into()]);
    run(&clock, inner.drain("b0")).expect("ready").expect("drained");
    let error = run(&clock, outer.get("k")).expect("ready").expect_err("nobody is there");
    assert!(error.is_mux(MuxCode::AllBackendsDown), "{error}");
    let (_, c) = leaf(&clock);
    inner.add_backend(Backend::new("c", c)).expect("added");
    clock.advance(ms(60_000));
    run(&clock, outer.set("k", "v")).expect("ready").expect("stored");
    assert_eq!(outer.stats().backends[0].status, BackendStatus::Up);
}

/// Spec: MX-5
#[test]
fn sixty_four_backends_work_in_every_mode_and_the_sixty_fifth_is_refused() {
    for each in [MuxMode::Failover, MuxMode::RoundRobin, MuxMode::Mirror, MuxMode::Shield] {
        let clock = FakeClock::new();
        let store = MemoryStorage::new();
        let all = (0..64).map(|_| SharedStorage::new(store.clone())).collect();
        let mux = mux_of(&clock, mode(each), all);
        run(&clock, mux.set("k", "v")).expect("ready").expect("stored");
        for _ in 0..65 {
            assert_eq!(run(&clock, mux.get("k")).expect("ready").expect("found"), "v");
        }
        let error = mux
            .add_backend(Backend::new("one more", SharedStorage::new(store)))
            .expect_err("it is full");
        assert_eq!(error.code(), MuxCode::CapacityExceeded);
        assert!(mux.stats().backends.iter().all(|backend| backend.in_flight == 0));
    }
}

/// Spec: IN-2, MX-5, E-6
#[test]
fn a_mux_that_is_its_own_backend_tells_its_depth_and_capabilities() {
    let clock = FakeClock::new();
    let (_, storage) = leaf(&clock);
    let mux = mux_of(&clock, plain(), vec![storage]);
    mux.add_backend(Backend::new("itself", mux.clone().into())).expect("nobody can tell");
    assert_eq!(LocalStorage::depth(&mux), 2);
    assert!(LocalStorage::capabilities(&mux).contains(Operation::Get));
}
