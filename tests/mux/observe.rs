//! Statistics, events and spans: what a mux tells, to the letter.

use storage_mux::sim::{FakeClock, Fault, FaultStorage, Recorder, run};
use storage_mux::{
    Backend, BackendStatus, MemoryStorage, MuxMode, OpContext, SeededRng, SharedStorage,
    StorageError, StorageMux,
};

use crate::support::{World, ms, plain};

/// Spec: SA-1
#[test]
fn one_success_and_one_failure_read_as_one_hit_and_one_error() {
    let world = World::new(1, plain());
    world.put(0, "k", "v");
    world.stores[0].push(Fault::Delay(ms(3)));
    world.stores[0].push(Fault::DelayThenFail(ms(5), StorageError::http(500)));
    world.run(world.mux.get("k")).expect("found");
    world.run(world.mux.get("k")).expect_err("failed");
    let stats = world.mux.stats();
    assert_eq!((stats.mode, stats.total_calls, stats.total_failovers), (MuxMode::Failover, 2, 0));
    assert_eq!(stats.total_fanout_partials, 0);
    let backend = &stats.backends[0];
    assert_eq!(backend.name.as_str(), "a");
    assert_eq!((backend.hits, backend.misses, backend.errors, backend.timeouts), (1, 0, 1, 0));
    assert_eq!(backend.last_latency, Some(ms(5)));
    assert_eq!((backend.p50_latency, backend.p99_latency), (Some(ms(3)), Some(ms(5))));
}

/// Case SM-03, HC-10. Spec: SA-1, SA-2
#[test]
fn a_new_backend_is_up_and_has_no_figures_at_all() {
    let world = World::new(1, plain());
    world.clock.advance(ms(3_600_000));
    let backend = world.backend(0);
    assert_eq!(backend.status, BackendStatus::Up);
    assert_eq!(
        (backend.last_latency, backend.p50_latency, backend.p99_latency),
        (None, None, None)
    );
    assert_eq!(backend.last_transition, None);
    world.run(world.mux.has("k")).expect("idle is not sick");
}

/// Spec: OT-1
#[test]
fn one_failover_is_one_parent_and_two_attempts_with_their_outcomes() {
    let world = World::new(2, plain());
    world.put(1, "k", "v");
    world.stores[0].push(Fault::DelayThenFail(ms(5), StorageError::http(503)));
    world.run(world.mux.get("k")).expect("b answers");
    let spans = world.recorder.spans();
    assert_eq!(spans.len(), 3);
    assert_eq!((spans[0].name, spans[0].parent), ("storage-mux.get", None));
    assert_eq!(spans[0].attribute("mux.mode"), Some("failover"));
    assert_eq!(spans[0].attribute("mux.key"), Some("k"));
    let expected = [("a", "0", "transient", "5"), ("b", "1", "ok", "0")];
    for (span, (name, index, outcome, latency)) in spans[1..].iter().zip(expected) {
        assert_eq!((span.name, span.parent), ("storage-mux.attempt", Some(0)));
        assert_eq!(span.attribute("mux.backend.name"), Some(name));
        assert_eq!(span.attribute("mux.attempt.index"), Some(index));
        assert_eq!(span.attribute("mux.mode"), Some("failover"));
        assert_eq!(span.attribute("mux.outcome"), Some(outcome));
        assert_eq!(span.attribute("mux.latency.ms"), Some(latency));
    }
    world.assert_at_rest();
}

/// Spec: OT-1
#[test]
fn each_outcome_has_its_word() {
    let world = World::new(1, plain());
    world.run(world.mux.get("missing")).expect_err("semantic");
    world.stores[0].push(Fault::Hang);
    world.run(world.mux.get("k")).expect_err("timeout");
    let cx = OpContext::new().with_deadline(storage_mux::Instant::from_epoch(ms(1_500)));
    world.stores[0].push(Fault::Hang);
    world.run(world.mux.with(&cx).get("k")).expect_err("abort");
    let spans = world.recorder.spans();
    let outcomes: Vec<_> = spans.iter().filter_map(|span| span.attribute("mux.outcome")).collect();
    assert_eq!(outcomes, ["semantic", "timeout", "abort"]);
    world.assert_at_rest();
}

/// Spec: OT-1
#[test]
fn an_operation_without_a_key_has_no_key_attribute() {
    let world = World::new(1, plain());
    world.run(world.mux.list("", &Default::default())).expect("empty");
    let spans = world.recorder.spans();
    assert_eq!(spans[0].name, "storage-mux.list");
    assert_eq!(spans[0].attribute("mux.key"), None);
}

/// Spec: IN-1, OT-1
#[test]
fn the_spans_of_a_nested_mux_hang_under_the_attempt_that_asked_it() {
    let clock = FakeClock::new();
    let recorder = Recorder::new();
    let leaf = FaultStorage::new(MemoryStorage::new(), clock.clone());
    let inner = StorageMux::builder(clock.clone(), SeededRng::new(1))
        .backend(Backend::new("leaf", SharedStorage::new(leaf)))
        .tracer(recorder.clone())
        .build()
        .expect("inner");
    let outer = StorageMux::builder(clock.clone(), SeededRng::new(2))
        .backend(Backend::new("inner", SharedStorage::from(inner)))
        .tracer(recorder.clone())
        .build()
        .expect("outer");
    run(&clock, outer.has("k")).expect("runs").expect("answers");
    let spans = recorder.spans();
    let shape: Vec<_> = spans.iter().map(|span| (span.name, span.parent)).collect();
    let (call, attempt) = ("storage-mux.has", "storage-mux.attempt");
    assert_eq!(shape, [(call, None), (attempt, Some(0)), (call, Some(1)), (attempt, Some(2))]);
    assert_eq!(spans[1].attribute("mux.backend.name"), Some("inner"));
    assert_eq!(spans[3].attribute("mux.backend.name"), Some("leaf"));
}

/// Spec: OT-1
#[test]
fn the_caller_may_hang_the_call_under_a_span_of_its_own() {
    use storage_mux::Tracer;
    let world = World::new(1, plain());
    let root = world.recorder.start("request", None, &[]).expect("the recorder opens every span");
    let cx = OpContext::new().with_parent(root.clone());
    world.run(world.mux.with(&cx).has("k")).expect("answers");
    root.end(&[]);
    let spans = world.recorder.spans();
    assert_eq!((spans[1].name, spans[1].parent), ("storage-mux.has", Some(0)));
    world.assert_at_rest();
}

/// Spec: RT-10
#[test]
fn the_tries_in_place_are_counted_through_the_meter() {
    let world = World::new(1, plain().with_retry(Default::default()));
    world.stores[0].push(Fault::Fail(StorageError::http(500)));
    world.run(world.mux.has("k")).expect("the second try");
    let names: Vec<_> = world.recorder.measurements().iter().map(|each| each.name).collect();
    assert!(names.contains(&"retry.attempt.total"), "{names:?}");
    assert!(names.contains(&"retry.attempt.delay_ms"), "{names:?}");
}
