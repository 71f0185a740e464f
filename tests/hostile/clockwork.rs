//! Deadlines, cooldowns and the end of time.

use std::time::Duration;

use storage_mux::retry::{Backoff, Jitter, RetryOptions};
use storage_mux::sim::Fault;
use storage_mux::{BackendStatus, Clock, Instant, MuxCode, MuxMode, OpContext, StorageError};

use crate::support::{World, mode, ms, plain};

fn retrying(delay: Duration) -> storage_mux::MuxOptions {
    let retry = RetryOptions::new()
        .with_max_attempts(10)
        .with_backoff(Backoff::constant(delay))
        .with_jitter(Jitter::None);
    plain().with_retry(retry)
}

/// Case RT-02. Spec: P-3, RC-1
#[test]
fn a_wait_that_would_outlast_the_deadline_is_not_begun() {
    let world = World::new(1, retrying(ms(3_000)));
    world.stores[0].set_always(Fault::Fail(StorageError::http(503)));
    let cx = OpContext::new().with_deadline(world.clock.now() + ms(5_000));
    let error = world.run(world.mux.with(&cx).get("k")).expect_err("down");
    assert!(error.is_mux(MuxCode::AllBackendsDown), "{error}");
    assert_eq!(error.as_mux().and_then(|mux| mux.cause()), Some(&StorageError::http(503)));
    assert_eq!(world.now_ms(), 3_000, "the next wait cannot fit");
    assert_eq!(world.calls(), [2]);
    world.assert_at_rest();
}

/// Case RT-02. Spec: P-3, FO-1
#[test]
fn with_no_time_left_to_wait_the_next_backend_is_asked_at_once() {
    let world = World::new(2, retrying(ms(5_000)));
    world.put(1, "k", "v");
    world.stores[0].set_always(Fault::Fail(StorageError::http(503)));
    let cx = OpContext::new().with_deadline(world.clock.now() + ms(5_000));
    assert_eq!(world.run(world.mux.with(&cx).get("k")).expect("b answers"), "v");
    assert_eq!(world.now_ms(), 0);
    let later = OpContext::new().with_deadline(world.clock.now() + ms(5_001));
    world.clock.advance(Duration::from_secs(60));
    drop(later);
    world.assert_at_rest();
}

/// Case SEL-10. Spec: ST-2
#[test]
fn a_cooldown_that_ends_moves_no_key_but_those_at_home_on_the_failed_backend() {
    let world = World::new(3, mode(MuxMode::StickyByKey));
    let keys: Vec<String> = (0..60).map(|n| format!("key {n}")).collect();
    let holder = |key: &str| (0..3).find(|at| world.peek(*at, key).is_some());
    for key in &keys {
        world.run(world.mux.set(key, "healthy")).expect("stored");
    }
    let at_home: Vec<Option<usize>> = keys.iter().map(|key| holder(key)).collect();
    let (down, _) = (2, world.stores[2].set_always(Fault::Fail(StorageError::http(503))));
    let first = at_home.iter().position(|home| *home == Some(down)).expect("some key of c");
    world.run(world.mux.has(&keys[first])).expect("another answers");
    assert_eq!(world.backend(down).status, BackendStatus::Down);
    // What each key reads during the outage, it must read when the cooldown is over, too.
    for key in &keys {
        world.run(world.mux.set(key, "outage")).expect("stored");
    }
    for (key, home) in keys.iter().zip(&at_home).filter(|(_, home)| **home != Some(down)) {
        // The longest cooldown is a minute: each reading finds c due for a probe.
        world.clock.advance(Duration::from_secs(61));
        let value = world.run(world.mux.get(key)).expect("its backend is well");
        assert_eq!(value, "outage", "{key} of {home:?} was looked for in the wrong place");
    }
    let asked = world.stores[down].calls();
    world.clock.advance(Duration::from_secs(61));
    world.run(world.mux.get(&keys[first])).expect("answered");
    assert_eq!(world.stores[down].calls(), asked + 1, "a key of its own probes it");
    world.assert_at_rest();
}

/// Spec: HE-6
#[test]
fn at_the_end_of_time_and_after_a_jump_back_every_mode_still_answers() {
    for each in [MuxMode::Failover, MuxMode::Mirror, MuxMode::Shield, MuxMode::RoundRobin] {
        let world = World::new(2, mode(each));
        world.put_all("k", "v");
        world.clock.jump(Instant::MAX);
        world.stores[0].push(Fault::Fail(StorageError::http(503)));
        for _ in 0..4 {
            assert_eq!(world.run(world.mux.get("k")).expect("someone answers"), "v", "{each}");
        }
        world.clock.jump(Instant::ZERO);
        world.stores[1].push(Fault::Fail(StorageError::http(503)));
        for _ in 0..4 {
            let _ = world.run(world.mux.get("k"));
        }
        world.clock.jump(Instant::MAX);
        for _ in 0..4 {
            assert_eq!(world.run(world.mux.get("k")).expect("someone answers"), "v", "{each}");
        }
        world.assert_at_rest();
    }
}

/// Spec: HE-2, HE-6
#[test]
fn an_endless_retry_after_saturates_and_failover_still_asks_as_a_last_resort() {
    let world = World::new(1, plain());
    world.put(0, "k", "v");
    let forever = StorageError::http(503).with_retry_after(Duration::MAX);
    world.stores[0].push(Fault::Fail(forever));
    world.run(world.mux.get("k")).expect_err("down");
    assert_eq!(world.backend(0).cooldown_until, Some(Instant::MAX));
    assert_eq!(world.run(world.mux.get("k")).expect("a last resort"), "v");
    assert_eq!(world.backend(0).status, BackendStatus::Up);
}
