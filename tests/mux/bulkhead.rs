//! Timeouts: a hung backend costs its timeout and nothing else.

use std::time::Duration;

use storage_mux::sim::Fault;
use storage_mux::{Clock, Instant, MuxCode, OpContext, StorageError};

use crate::support::{World, ms, plain};

/// Spec: BH-1
#[test]
fn a_hung_primary_gives_way_within_the_timeout_and_fifty_milliseconds() {
    let world = World::new(2, plain());
    world.put(1, "k", "v");
    world.stores[0].push(Fault::Hang);
    world.stores[1].push(Fault::Delay(ms(10)));
    assert_eq!(world.run(world.mux.get("k")).expect("b answers"), "v");
    assert_eq!(world.now_ms(), 1_010);
    assert_eq!(world.backend(0).timeouts, 1);
    world.assert_at_rest();
}

/// Spec: BH-1
#[test]
fn an_answer_just_before_the_timeout_counts_and_one_at_it_does_too() {
    for (delay, served) in [(999, true), (1_000, true), (1_001, false)] {
        let world = World::new(1, plain());
        world.put(0, "k", "v");
        world.stores[0].push(Fault::Delay(ms(delay)));
        assert_eq!(world.run(world.mux.get("k")).is_ok(), served, "after {delay} ms");
    }
}

/// Spec: BH-2, E-3
#[test]
fn when_all_hang_the_source_is_a_backend_timeout() {
    let world = World::new(2, plain());
    world.stores.iter().for_each(|store| store.set_always(Fault::Hang));
    let error = world.run(world.mux.get("k")).expect_err("all hang");
    assert!(error.is_mux(MuxCode::AllBackendsDown));
    let source = error.as_mux().and_then(|mux| mux.cause()).expect("a source");
    assert_eq!(source.code(), "STORAGE_MUX.BACKEND_TIMEOUT");
    let timeout = source.as_mux().expect("a mux error");
    assert_eq!(timeout.backend().map(|name| name.as_str()), Some("b"));
    assert_eq!(timeout.attempt_index(), Some(1));
    assert_eq!(world.now_ms(), 2_000);
}

/// Spec: BH-1, AB-2
#[test]
fn the_signal_of_a_try_that_timed_out_reads_aborted_for_whoever_kept_it() {
    let world = World::new(2, plain());
    world.stores[0].keep_signals();
    world.stores[0].push(Fault::Hang);
    let _ = world.run(world.mux.get("k"));
    let signals = world.stores[0].signals();
    assert_eq!(signals.len(), 1);
    assert!(signals[0].is_aborted());
}

/// Case TC-01. Spec: BH-1, HE-6
#[test]
fn an_endless_timeout_is_practically_never_and_panics_nowhere() {
    let options =
        plain().with_backend_timeout(Duration::MAX).with_cooldown(Duration::MAX, Duration::MAX);
    let world = World::new(2, options);
    world.put_all("k", "v");
    world.clock.jump(Instant::from_nanos(u64::MAX / 2));
    world.stores[0]
        .push(Fault::DelayThenFail(Duration::from_secs(1 << 30), StorageError::http(500)));
    assert_eq!(world.run(world.mux.get("k")).expect("b answers"), "v");
    assert_eq!(world.backend(0).cooldown_until, Some(Instant::MAX));
}

/// Case RT-02. Spec: P-3
#[test]
fn a_deadline_ends_the_call_like_an_abort_and_marks_no_backend() {
    let world = World::new(2, plain());
    world.stores.iter().for_each(|store| store.set_always(Fault::Hang));
    let cx = OpContext::new().with_deadline(world.clock.now() + ms(300));
    let error = world.run(world.mux.with(&cx).get("k")).expect_err("too late");
    assert!(error.is_mux(MuxCode::BackendAborted), "{error}");
    assert_eq!(world.now_ms(), 300);
    assert_eq!(world.calls(), [1, 0]);
    assert!(world.topics().is_empty());
    assert_eq!(world.backend(0).cancelled, 1);
    world.assert_at_rest();
}

/// Case RT-02. Spec: P-3
#[test]
fn no_backend_is_asked_after_the_deadline() {
    let world = World::new(2, plain());
    world.clock.advance(ms(500));
    let cx = OpContext::new().with_deadline(Instant::from_epoch(ms(500)));
    let error = world.run(world.mux.with(&cx).get("k")).expect_err("too late");
    assert!(error.is_mux(MuxCode::BackendAborted), "{error}");
    assert_eq!(world.calls(), [0, 0]);
}
