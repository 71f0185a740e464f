//! Retries in place: through the retry module, and only where they may help.

use storage_mux::retry::{Backoff, Jitter, RetryOptions};
use storage_mux::sim::{FakeClock, Fault, run};
use storage_mux::{
    Backend, Clock, MemoryStorage, MuxCode, OpContext, SeededRng, SharedStorage, StorageError,
    StorageMux,
};

use crate::support::{World, ms, plain};

fn busy() -> Fault {
    Fault::Fail(StorageError::http(503))
}

/// Spec: RC-1, RC-3
#[test]
fn a_backend_that_fails_twice_is_asked_a_third_time_and_the_second_one_never() {
    let world = World::new(2, plain().with_retry(RetryOptions::default()));
    world.put(0, "k", "from a");
    world.stores[0].push(busy());
    world.stores[0].push(busy());
    assert_eq!(world.run(world.mux.get("k")).expect("the third try"), "from a");
    assert_eq!(world.calls(), [3, 0]);
    let backend = world.backend(0);
    assert_eq!((backend.hits, backend.errors, backend.consecutive_failures), (1, 0, 0));
    assert!(world.topics().is_empty(), "one outcome per attempt, and it was a success");
    let attempts =
        world.recorder.spans().iter().filter(|span| span.name == "storage-mux.attempt").count();
    assert_eq!(attempts, 1);
}

/// Spec: RC-3
#[test]
fn the_third_failure_is_the_last_and_the_waits_stay_below_their_bounds() {
    let world = World::new(2, plain().with_retry(RetryOptions::default()));
    world.put(1, "k", "from b");
    world.stores[0].set_always(busy());
    assert_eq!(world.run(world.mux.get("k")).expect("b answers"), "from b");
    assert_eq!(world.calls(), [3, 1]);
    assert_eq!(world.backend(0).errors, 1);
    // Full jitter: at most 100 ms before the second try and 200 ms before the third.
    assert!(world.now_ms() <= 300, "{}", world.now_ms());
    assert!(world.clock.timers_made() == 2);
}

/// Spec: RC-3, BH-1
#[test]
fn a_timeout_is_not_retried_in_place() {
    let world = World::new(2, plain().with_retry(RetryOptions::default()));
    world.put(1, "k", "v");
    world.stores[0].set_always(Fault::Hang);
    world.run(world.mux.get("k")).expect("b answers");
    assert_eq!(world.calls(), [1, 1]);
    assert_eq!(world.now_ms(), 1_000);
}

/// Case RT-10. Spec: RC-1
#[test]
fn a_semantic_error_is_not_retried() {
    let world = World::new(1, plain().with_retry(RetryOptions::default()));
    assert_eq!(world.run(world.mux.get("missing")), Err(StorageError::key_not_found()));
    assert_eq!(world.calls(), [1]);
    assert_eq!(world.clock.timers_made(), 0);
}

/// Case RT-08. Spec: RC-1
#[test]
fn a_delete_whose_answer_was_lost_succeeds_on_the_second_try() {
    let world = World::new(1, plain().with_retry(RetryOptions::default()));
    world.put(0, "k", "v");
    world.stores[0].push(Fault::LoseAnswer(StorageError::http(500)));
    world.run(world.mux.delete("k")).expect("gone is gone");
    assert_eq!(world.calls(), [2]);
    assert_eq!(world.peek(0, "k"), None);
}

/// Case RT-12. Spec: BH-1, RC-3
#[test]
fn the_timeout_is_per_try_inside_the_retries() {
    let world = World::new(2, plain().with_retry(RetryOptions::default()));
    world.put_all("k", "v");
    world.stores[0].push(Fault::DelayThenFail(ms(900), StorageError::http(500)));
    world.stores[0].push(Fault::Delay(ms(900)));
    assert_eq!(world.run(world.mux.get("k")).expect("the second try"), "v");
    assert_eq!(world.calls(), [2, 0], "two tries of 900 ms each fit a timeout of 1 s per try");
    assert!(world.now_ms() >= 1_800);
}

/// Spec: RC-3, E-2
#[test]
fn an_outage_of_a_nested_mux_is_not_retried_in_place_but_moves_on() {
    let clock = FakeClock::new();
    let inner_store = storage_mux::sim::FaultStorage::new(MemoryStorage::new(), clock.clone());
    inner_store.set_always(busy());
    let inner = StorageMux::builder(clock.clone(), SeededRng::new(1))
        .backend(Backend::new("leaf", SharedStorage::new(inner_store.clone())))
        .options(plain())
        .build()
        .expect("inner");
    let outer = StorageMux::builder(clock.clone(), SeededRng::new(2))
        .backend(Backend::new("inner", SharedStorage::from(inner)))
        .backend(Backend::new("spare", SharedStorage::new(MemoryStorage::new())))
        .build()
        .expect("outer");
    assert_eq!(run(&clock, outer.has("k")).expect("runs"), Ok(false));
    assert_eq!(inner_store.calls(), 1);
    assert_eq!(clock.timers_made(), 0);
    let cause = outer.stats().backends[0].last_error.clone().expect("the inner outage");
    assert!(cause.is_mux(MuxCode::AllBackendsDown));
}

/// Case RT-02. Spec: RC-1, FO-3
#[test]
fn a_wait_that_would_outlast_the_deadline_is_not_begun() {
    for (backends, served_by) in [(1, None), (2, Some("from b"))] {
        let every_three_seconds = RetryOptions::new()
            .with_max_attempts(10)
            .with_backoff(Backoff::constant(ms(3_000)))
            .with_jitter(Jitter::None);
        let world = World::new(backends, plain().with_retry(every_three_seconds));
        world.stores[0].set_always(busy());
        if backends == 2 {
            world.put(1, "k", "from b");
        }
        let cx = OpContext::new().with_deadline(world.clock.now() + ms(5_000));
        let result = world.run(world.mux.with(&cx).get("k"));
        assert_eq!((world.now_ms(), world.calls()[0]), (3_000, 2));
        assert_eq!(result.as_deref().ok(), served_by.map(str::as_bytes));
        if let Err(error) = result {
            let cause = error.as_mux().and_then(|error| error.cause());
            assert_eq!(cause, Some(&StorageError::http(503)), "the real failure is told");
        }
    }
}

/// Case RT-02. Spec: RC-1
#[test]
fn a_wait_that_ends_before_the_deadline_is_waited_for() {
    let once_more =
        RetryOptions::new().with_backoff(Backoff::constant(ms(50))).with_jitter(Jitter::None);
    for (deadline, calls) in [(51, 2), (50, 1)] {
        let world = World::new(1, plain().with_retry(once_more.clone()));
        world.put(0, "k", "v");
        world.stores[0].push(busy());
        let cx = OpContext::new().with_deadline(world.clock.now() + ms(deadline));
        let result = world.run(world.mux.with(&cx).get("k"));
        assert_eq!((result.is_ok(), world.calls()[0]), (calls == 2, calls), "{deadline} ms");
    }
}
