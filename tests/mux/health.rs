//! Health: one failure takes a backend down, one probe brings it back.

use futures_util::future::join_all;
use storage_mux::sim::Fault;
use storage_mux::{BackendStatus, Clock, Event, Instant, MuxCode, StorageError};

use crate::support::{World, ms, plain};

fn busy() -> Fault {
    Fault::Fail(StorageError::http(503))
}

/// Spec: HE-1, HE-2, EV-1
#[test]
fn the_first_transient_failure_takes_a_backend_down_and_says_so_once() {
    let world = World::new(2, plain());
    world.clock.advance(ms(7));
    world.stores[0].push(busy());
    world.run(world.mux.has("k")).expect("b answers");
    let backend = world.backend(0);
    assert_eq!(backend.status, BackendStatus::Down);
    assert_eq!(backend.consecutive_failures, 1);
    assert_eq!(backend.cooldown_until, Some(Instant::from_epoch(ms(1_007))));
    assert_eq!(backend.last_transition, Some(Instant::from_epoch(ms(7))));
    assert_eq!(backend.last_error, Some(StorageError::http(503)));
    let down = world.events_of("storage-mux.backend.down");
    let [Event::BackendDown { name, cause, code }] = &down[..] else { panic!("{down:?}") };
    assert_eq!((name.as_str(), *code), ("a", "STORAGE.HTTP_STATUS"));
    assert_eq!(*cause, StorageError::http(503));
}

/// Spec: HE-2, HE-3
#[test]
fn each_failure_while_down_doubles_the_cooldown_up_to_its_cap() {
    let world = World::new(1, plain().with_cooldown(ms(1_000), ms(5_000)));
    world.stores[0].set_always(busy());
    let mut cooldowns = Vec::new();
    for _ in 0..5 {
        let _ = world.run(world.mux.has("k"));
        let until = world.backend(0).cooldown_until.expect("down");
        cooldowns.push((until - world.clock.now()).as_millis());
    }
    assert_eq!(cooldowns, [1_000, 2_000, 4_000, 5_000, 5_000]);
    assert_eq!(world.topics(), ["storage-mux.backend.down"]);
}

/// Spec: HE-2
#[test]
fn a_backend_that_asks_to_be_left_alone_is_left_alone_that_long_and_not_asked_again_in_place() {
    let world = World::new(2, plain().with_retry(Default::default()));
    let busy = StorageError::http(429).with_retry_after(ms(9_000));
    world.stores[0].push(Fault::Fail(busy));
    world.run(world.mux.has("k")).expect("b answers");
    assert_eq!(world.calls(), [1, 1]);
    assert_eq!(world.now_ms(), 0);
    assert_eq!(world.backend(0).cooldown_until, Some(Instant::from_epoch(ms(9_000))));
}

/// Spec: HE-4
#[test]
fn past_the_cooldown_one_call_probes_while_the_rest_still_skip() {
    let world = World::new(2, plain());
    world.put_all("k", "v");
    world.take_down(0);
    let before = world.calls();
    world.clock.advance(ms(999));
    world.run(world.mux.get("k")).expect("b answers");
    assert_eq!(world.calls()[0], before[0], "still in cooldown");
    world.clock.advance(ms(1));
    world.stores[0].push(Fault::Delay(ms(100)));
    let results = world.run(join_all((0..20).map(|_| world.mux.get("k"))));
    assert!(results.iter().all(Result::is_ok));
    assert_eq!(world.calls()[0], before[0] + 1, "one probe at a time");
    assert_eq!(world.backend(0).status, BackendStatus::Up);
    let recovered = world.events_of("storage-mux.backend.recovered");
    let [Event::BackendRecovered { name, down_for }] = &recovered[..] else {
        panic!("{recovered:?}")
    };
    assert_eq!((name.as_str(), *down_for), ("a", ms(1_100)));
    assert_eq!(world.backend(0).consecutive_failures, 0);
}

/// Case CB-01. Spec: HE-4
#[test]
fn a_lone_backend_that_is_being_probed_is_spared_the_other_callers() {
    let world = World::new(1, plain());
    world.put(0, "k", "v");
    world.take_down(0);
    world.clock.advance(ms(1_000));
    world.stores[0].push(Fault::Delay(ms(100)));
    let results = world.run(join_all((0..20).map(|_| world.mux.get("k"))));
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    let refused = results.iter().filter_map(|result| result.as_ref().err());
    assert!(refused.clone().all(|error| error.is_mux(MuxCode::AllBackendsDown)));
    assert_eq!(refused.count(), 19);
    assert_eq!(world.calls(), [2]);
}

/// Case CB-04. Spec: HE-3, HE-4
#[test]
fn a_probe_that_hangs_ends_with_its_timeout_and_the_next_comes_after_a_longer_rest() {
    let world = World::new(2, plain());
    world.put_all("k", "v");
    world.take_down(0);
    world.clock.advance(ms(1_000));
    world.stores[0].push(Fault::Hang);
    world.run(world.mux.get("k")).expect("b serves");
    assert_eq!(world.now_ms(), 2_000);
    assert_eq!(world.backend(0).cooldown_until, Some(Instant::from_epoch(ms(4_000))));
    world.clock.advance(ms(2_000));
    world.run(world.mux.get("k")).expect("a answers the next probe");
    assert_eq!(world.backend(0).status, BackendStatus::Up);
}

/// Case CB-13. Spec: HE-5
#[test]
fn a_semantic_answer_proves_a_backend_alive() {
    let world = World::new(2, plain());
    for _ in 0..100 {
        assert_eq!(world.run(world.mux.get("missing")), Err(StorageError::key_not_found()));
    }
    assert_eq!(world.backend(0).status, BackendStatus::Up);
    world.take_down(0);
    world.clock.advance(ms(1_000));
    assert_eq!(world.run(world.mux.get("missing")), Err(StorageError::key_not_found()));
    assert_eq!(world.backend(0).status, BackendStatus::Up);
    assert_eq!(world.backend(0).misses, 101);
}

/// Case HC-02, HC-04. Spec: HE-4
#[test]
fn only_a_success_makes_the_next_cooldown_short_again() {
    let world = World::new(2, plain());
    world.take_down(0);
    world.clock.advance(ms(5_000));
    world.stores[0].push(busy());
    world.run(world.mux.has("k")).expect("b answers");
    let until = world.backend(0).cooldown_until.expect("down");
    assert_eq!(until - world.clock.now(), ms(2_000), "time alone forgives nothing");
    world.clock.advance(ms(2_000));
    world.run(world.mux.has("k")).expect("a is back");
    world.stores[0].push(busy());
    world.run(world.mux.has("k")).expect("b answers");
    let until = world.backend(0).cooldown_until.expect("down");
    assert_eq!(until - world.clock.now(), ms(1_000));
}

/// Case CB-05. Spec: HE-4
#[test]
fn a_slow_success_from_before_the_outage_does_not_end_it() {
    let world = World::new(2, plain());
    world.put_all("k", "v");
    world.stores[0].push(Fault::Delay(ms(500)));
    world.stores[0].push(busy());
    let slow = world.mux.get("k");
    let failing = world.mux.get("k");
    let (slow, failing) = world.run(futures_util::future::join(slow, failing));
    assert!(slow.is_ok() && failing.is_ok());
    assert_eq!(world.backend(0).status, BackendStatus::Down);
    assert!(world.events_of("storage-mux.backend.recovered").is_empty());
}

/// Spec: HE-2
#[test]
fn calls_that_hang_together_count_as_one_outage_and_each_as_an_error() {
    let world = World::new(2, plain());
    world.put_all("k", "v");
    world.stores[0].set_always(Fault::Hang);
    let results = world.run(join_all((0..50).map(|_| world.mux.get("k"))));
    assert!(results.iter().all(Result::is_ok));
    let backend = world.backend(0);
    assert_eq!((backend.errors, backend.timeouts, backend.consecutive_failures), (50, 50, 1));
    assert_eq!(backend.cooldown_until, Some(Instant::from_epoch(ms(2_000))));
    assert_eq!(world.events_of("storage-mux.backend.down").len(), 1);
}

/// Spec: HE-6
#[test]
fn a_clock_that_jumps_far_and_back_panics_nowhere_and_loses_no_backend() {
    let world = World::new(2, plain());
    world.put_all("k", "v");
    world.clock.advance(ms(10_000));
    world.stores[0].push(busy());
    world.run(world.mux.get("k")).expect("b answers");
    world.clock.jump(Instant::ZERO);
    world.run(world.mux.get("k")).expect("b answers");
    world.clock.jump(Instant::from_nanos(u64::MAX - 1));
    world.run(world.mux.get("k")).expect("a is probed");
    assert_eq!(world.backend(0).status, BackendStatus::Up);
}
