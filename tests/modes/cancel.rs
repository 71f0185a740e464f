//! Every operation of every mode, dropped at every point where it waits.
//!
//! The future runs over streams to their end, so the points include an opened reader and an opened
//! sink between any two of their steps. Whatever the point: no call is counted as in flight, no
//! probe slot is taken, no timer, no listener and no open span is left, whoever kept the signal of a
//! try reads it as aborted, and no store holds half a value.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use futures_util::future::poll_fn;
use storage_mux::sim::{Fault, StreamFault};
use storage_mux::{AbortController, BackendStatus, MuxMode, OpContext, Operation, StorageError};

use crate::perform::{FRESH, KEY, NEW, OLD, after, busy, perform_with, seeded};
use crate::support::{World, mode, ms};

/// A way in which the stores of a world behave.
type Script = fn(&World);

fn late(status: u16) -> Fault {
    Fault::DelayThenFail(ms(10), StorageError::http(status))
}

fn delay_all(world: &World) {
    world.stores.iter().for_each(|store| store.set_always(Fault::Delay(ms(10))));
}

fn break_streams(world: &World, after_chunks: usize, fault: &Fault) {
    for store in &world.stores {
        // More than one for each store: tries in place and probes open streams too.
        (0..4).for_each(|_| store.push_stream(StreamFault::new(after_chunks, fault.clone())));
    }
}

const SCRIPTS: [(&str, Script); 7] = [
    ("all answer late", delay_all),
    ("one after the other fails", |world| {
        world.stores[0].set_always(late(500));
        world.stores[1].set_always(late(503));
        world.stores[2].set_always(Fault::Delay(ms(400)));
    }),
    ("all fail", |world| world.stores.iter().for_each(|store| store.set_always(late(500)))),
    ("two hang", |world| {
        world.stores[0].set_always(Fault::Hang);
        world.stores[1].set_always(Fault::Hang);
        world.stores[2].set_always(Fault::Delay(ms(2_000)));
    }),
    ("two are probed", |world| {
        for store in &world.stores[..2] {
            store.set_always(busy());
        }
        for _ in 0..20 {
            let _ = world.run(world.mux.list("", &Default::default()));
            let _ = world.run(world.mux.delete("take-down"));
        }
        world.clock.advance(ms(60_000));
        delay_all(world);
    }),
    ("streams dawdle", |world| {
        delay_all(world);
        break_streams(world, 1, &Fault::Delay(ms(50)));
    }),
    ("streams break", |world| {
        delay_all(world);
        world.stores[0].push_stream(StreamFault::new(0, late(500)));
        break_streams(world, 1, &late(500));
    }),
];

/// Polls the future up to `polls` times, stepping the clock between, then drops it. True where it
/// had completed by then.
fn drop_after(world: &World, polls: usize, operation: impl Future) -> bool {
    let mut operation = pin!(operation);
    let mut left = polls;
    world.run(poll_fn(|task| {
        if left == 0 {
            return Poll::Ready(false);
        }
        left -= 1;
        if operation.as_mut().poll(task).is_ready() {
            return Poll::Ready(true);
        }
        task.waker().wake_by_ref();
        let _ = world.clock.advance_to_next();
        Poll::Pending
    }))
}

/// Whether every store holds the old value or what the operation makes of it, and nothing else.
fn assert_whole(world: &World, operation: Operation, what: &str) {
    for at in 0..world.stores.len() {
        let value = world.peek(at, KEY);
        let whole = value.as_deref() == Some(OLD) || value.as_deref() == after(operation);
        assert!(whole, "{what}: store {at} holds {value:?}");
        let fresh = world.peek(at, FRESH);
        assert!(matches!(fresh.as_deref(), None | Some(NEW)), "{what}: {fresh:?}");
    }
}

/// Whether each backend can be probed: it is the only one that answers, and it must be asked. Twice,
/// since the first round takes those down that were up, and a slot matters while they are down.
fn assert_probe_slots_free(world: &World, what: &str) {
    let all = 0..world.stores.len();
    for at in all.clone().chain(all) {
        world.stores.iter().for_each(|store| store.set_always(busy()));
        world.stores[at].set_always(Fault::None);
        world.put(at, KEY, OLD);
        world.clock.advance(ms(120_000));
        let answer = world.run(world.mux.has(KEY));
        assert!(answer.is_ok(), "{what}: the probe slot of {at} is taken: {answer:?}");
        assert_eq!(world.backend(at).status, BackendStatus::Up, "{what}");
    }
}

/// Whether each backend can be drained without a wait.
fn assert_drained(world: &World, what: &str) {
    for name in ["a", "b", "c"] {
        let mut drain = pin!(world.mux.drain(name));
        let mut task = Context::from_waker(Waker::noop());
        assert!(drain.as_mut().poll(&mut task).is_ready(), "{what}: the drain of {name} waits");
    }
}

/// Drops the operation after every number of polls. Gives how many it takes to complete.
fn drop_everywhere(of: MuxMode, operation: Operation, script: Script, name: &str) -> usize {
    for polls in 0..10_000 {
        let world = seeded(World::new(3, mode(of).with_retry(Default::default())));
        script(&world);
        world.stores.iter().for_each(|store| store.keep_signals());
        let controller = AbortController::new();
        let cx = OpContext::new().with_signal(controller.signal());
        let completed = drop_after(&world, polls, perform_with(&world.mux, &cx, operation));
        let what = format!("{of} {operation}, {name}, after {polls} polls");
        for backend in world.mux.stats().backends {
            assert_eq!(backend.in_flight, 0, "{what}: {} has calls in flight", backend.name);
        }
        assert_eq!(world.clock.waiting(), 0, "{what}: a timer is left");
        assert_eq!(controller.waiters(), 0, "{what}: a listener is left");
        let spans = world.recorder.spans();
        assert!(spans.iter().all(|span| span.ends == 1), "{what}: a span is open");
        let mut signals = world.stores.iter().flat_map(|store| store.signals());
        assert!(signals.all(|signal| signal.is_aborted()), "{what}: a signal is left");
        assert_whole(&world, operation, &what);
        assert_probe_slots_free(&world, &what);
        assert_drained(&world, &what);
        if completed {
            return polls;
        }
    }
    panic!("{of} {operation}, {name}, never completes");
}

fn drop_all(of: MuxMode) {
    for operation in Operation::ALL {
        let mut points = 0;
        for (name, script) in SCRIPTS {
            points += drop_everywhere(of, operation, script, name) - 1;
        }
        // The one call that never waits, since it is refused.
        let refused = of == MuxMode::Mirror && operation == Operation::SetIf;
        assert!(refused || points > 10, "{of} {operation} waits at {points} points only");
    }
}

/// Spec: AB-5, OT-1, SM-4
#[test]
fn a_failover_call_may_be_dropped_anywhere() {
    drop_all(MuxMode::Failover);
}

/// Spec: AB-5, OT-1, SM-4
#[test]
fn a_round_robin_call_may_be_dropped_anywhere() {
    drop_all(MuxMode::RoundRobin);
}

/// Spec: AB-5, OT-1, SM-4
#[test]
fn a_weighted_call_may_be_dropped_anywhere() {
    drop_all(MuxMode::Weighted);
}

/// Spec: AB-5, OT-1, SM-4
#[test]
fn a_sticky_call_may_be_dropped_anywhere() {
    drop_all(MuxMode::StickyByKey);
}

/// Spec: AB-5, OT-1, SM-4
#[test]
fn a_shield_call_may_be_dropped_anywhere() {
    drop_all(MuxMode::Shield);
}

/// Spec: AB-5, OT-1, SM-4
#[test]
fn a_mirror_call_may_be_dropped_anywhere() {
    drop_all(MuxMode::Mirror);
}
