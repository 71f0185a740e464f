//! Aborts and dropped calls: nobody's fault, and nothing stays behind.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

use futures_util::future::{join, poll_fn};
use storage_mux::sim::Fault;
use storage_mux::{AbortController, Clock, MuxCode, OpContext, StorageError};

use crate::support::{World, ms, plain};

/// Spec: AB-3
#[test]
fn a_call_that_is_aborted_before_it_starts_touches_no_backend() {
    let world = World::new(2, plain());
    let controller = AbortController::new();
    controller.abort();
    let cx = OpContext::new().with_signal(controller.signal());
    let error = world.run(world.mux.with(&cx).get("k")).expect_err("aborted");
    assert!(error.is_mux(MuxCode::BackendAborted));
    assert_eq!(world.calls(), [0, 0]);
    assert_eq!(world.mux.stats().total_calls, 0);
    world.assert_at_rest();
}

/// Spec: AB-4
#[test]
fn an_abort_in_flight_ends_the_call_at_once_and_leaves_no_mark_and_no_fall_through() {
    let world = World::new(2, plain());
    world.stores[0].keep_signals();
    world.stores[0].push(Fault::Hang);
    let controller = AbortController::new();
    let cx = OpContext::new().with_signal(controller.signal());
    let mux = world.mux.with(&cx);
    let abort_later = async {
        world.clock.sleep(ms(5)).await;
        controller.abort();
        assert!(world.stores[0].signals()[0].is_aborted(), "the backend's signal follows at once");
    };
    let (result, ()) = world.run(join(mux.get("k"), abort_later));
    let error = result.expect_err("aborted");
    assert_eq!(world.now_ms(), 5);
    let aborted = error.as_mux().expect("a mux error");
    assert_eq!(aborted.code(), MuxCode::BackendAborted);
    assert_eq!(aborted.backend().map(|name| name.as_str()), Some("a"));
    assert_eq!(world.calls(), [1, 0]);
    assert_eq!(world.backend(0).consecutive_failures, 0);
    assert!(world.topics().is_empty());
    assert_eq!(world.backend(0).cancelled, 1);
    assert_eq!(controller.waiters(), 0);
    world.assert_at_rest();
}

/// Case RT-03. Spec: AB-4
#[test]
fn an_abort_wakes_a_retry_that_sleeps() {
    let world = World::new(1, plain().with_retry(Default::default()));
    world.stores[0].set_always(Fault::Fail(StorageError::http(500)));
    let controller = AbortController::new();
    let cx = OpContext::new().with_signal(controller.signal());
    let mux = world.mux.with(&cx);
    let (result, ()) = world.run(join(mux.get("k"), async {
        // The first try fails at once, so the call sleeps when this runs.
        controller.abort();
    }));
    assert!(result.expect_err("aborted").is_mux(MuxCode::BackendAborted));
    assert_eq!(world.now_ms(), 0);
    assert_eq!(world.calls(), [1]);
    world.assert_at_rest();
}

/// Case CB-09. Spec: AB-5, HE-2
#[test]
fn callers_who_hang_up_do_not_take_a_backend_down() {
    let world = World::new(1, plain());
    world.put(0, "k", "v");
    world.stores[0].set_always(Fault::Delay(ms(50)));
    for _ in 0..10 {
        let mut call = pin!(world.mux.get("k"));
        let mut task = Context::from_waker(Waker::noop());
        assert!(call.as_mut().poll(&mut task).is_pending());
        assert_eq!(world.backend(0).in_flight, 1);
    }
    world.assert_at_rest();
    let backend = world.backend(0);
    assert_eq!((backend.cancelled, backend.errors, backend.consecutive_failures), (10, 0, 0));
    assert_eq!(world.run(world.mux.get("k")).expect("healthy"), "v");
}

/// Spec: AB-5, HE-4
#[test]
fn a_probe_whose_call_is_dropped_frees_the_slot() {
    let world = World::new(2, plain());
    world.put_all("k", "v");
    world.take_down(0);
    world.clock.advance(ms(1_000));
    world.stores[0].push(Fault::Hang);
    {
        let mut call = pin!(world.mux.get("k"));
        let mut task = Context::from_waker(Waker::noop());
        assert!(call.as_mut().poll(&mut task).is_pending());
        let before = world.calls();
        world.run(world.mux.get("k")).expect("b serves while a is probed");
        assert_eq!(world.calls(), [before[0], before[1] + 1]);
    }
    let before = world.calls();
    world.run(world.mux.get("k")).expect("a is probed again and answers");
    assert_eq!(world.calls(), [before[0] + 1, before[1]]);
    world.assert_at_rest();
}

/// Drops the future of `operation` after `polls` polls, stepping the clock between them.
/// True where it had completed by then.
fn drop_after(world: &World, polls: usize, operation: impl Future) -> bool {
    let mut operation = pin!(operation);
    let mut left = polls;
    world.run(poll_fn(|task| {
        if left == 0 {
            return std::task::Poll::Ready(false);
        }
        left -= 1;
        if operation.as_mut().poll(task).is_ready() {
            return std::task::Poll::Ready(true);
        }
        task.waker().wake_by_ref();
        let _ = world.clock.advance_to_next();
        std::task::Poll::Pending
    }))
}

/// Spec: AB-5, OT-1
#[test]
fn a_call_may_be_dropped_after_any_number_of_polls_of_any_operation() {
    use storage_mux::{Condition, PageRequest};
    type Operation = fn(&World, usize) -> bool;
    let operations: [(&str, Operation); 11] = [
        ("get", |w, k| drop_after(w, k, w.mux.get("k"))),
        ("set", |w, k| drop_after(w, k, w.mux.set("k", "v"))),
        ("set_partial", |w, k| drop_after(w, k, w.mux.set_partial("k", 0, "v"))),
        ("has", |w, k| drop_after(w, k, w.mux.has("k"))),
        ("delete", |w, k| drop_after(w, k, w.mux.delete("k"))),
        ("list", |w, k| drop_after(w, k, w.mux.list("", &PageRequest::default()))),
        ("stat", |w, k| drop_after(w, k, w.mux.stat("k"))),
        ("get_stream", |w, k| drop_after(w, k, w.mux.get_stream("k"))),
        ("set_stream", |w, k| drop_after(w, k, w.mux.set_stream("k"))),
        ("get_range", |w, k| drop_after(w, k, w.mux.get_range("k", 0..1))),
        ("set_if", |w, k| drop_after(w, k, w.mux.set_if("k", "v", Condition::Absent))),
    ];
    for (name, operation) in operations {
        for polls in 0.. {
            let world = World::new(3, plain().with_retry(Default::default()));
            world.put_all("k", "v");
            world.stores[0].push(Fault::DelayThenFail(ms(10), StorageError::http(500)));
            world.stores[0].push(Fault::Delay(ms(2_000)));
            world.stores[1].set_always(Fault::DelayThenFail(ms(10), StorageError::http(500)));
            world.stores[2].push(Fault::Delay(ms(10)));
            let completed = operation(&world, polls);
            for (at, backend) in world.mux.stats().backends.iter().enumerate() {
                assert_eq!(backend.in_flight, 0, "{name} after {polls} polls, backend {at}");
            }
            assert_eq!(world.clock.waiting(), 0, "{name} after {polls} polls leaves a timer");
            assert!(
                world.recorder.spans().iter().all(|span| span.ends == 1),
                "{name} after {polls} polls leaves a span open"
            );
            if completed {
                assert!(polls > 4, "{name} must have been dropped on its way: {polls}");
                break;
            }
        }
    }
}
