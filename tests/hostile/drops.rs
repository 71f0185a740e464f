//! Every operation, dropped after every possible number of polls, in every mode.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

use futures_util::{FutureExt, SinkExt, StreamExt};
use storage_mux::retry::{Backoff, Jitter, RetryOptions};
use storage_mux::sim::{Fault, StreamFault};
use storage_mux::{MuxMode, OpContext, PageRequest, StorageError};

use crate::support::{World, mode, ms};

const MOST_POLLS: usize = 60;

/// Polls at most `polls` times, moving the clock on in between; then drops. True if it has ended.
fn poll_and_drop(world: &World, future: impl Future, polls: usize) -> bool {
    let mut future = pin!(future);
    let mut task = Context::from_waker(Waker::noop());
    for _ in 0..polls {
        if future.as_mut().poll(&mut task).is_ready() {
            return true;
        }
        let _ = world.clock.advance_to_next();
    }
    false
}

/// Three slow backends: the first fails once or twice on the way, and each of its streams stalls.
fn world(each: MuxMode) -> World {
    let retry = RetryOptions::new()
        .with_max_attempts(2)
        .with_backoff(Backoff::constant(ms(7)))
        .with_jitter(Jitter::None);
    let world = World::new(3, mode(each).with_retry(retry));
    world.put_all("k", "a value");
    for store in &world.stores {
        store.push(Fault::DelayThenFail(ms(3), StorageError::http(503)));
        store.push_stream(StreamFault::new(0, Fault::Delay(ms(2))));
        store.push_stream(StreamFault::new(1, Fault::Hang));
        store.set_always(Fault::Delay(ms(4)));
    }
    world
}

async fn operation(world: &World, which: usize) {
    let (mux, page) = (&world.mux, PageRequest::default());
    match which {
        0 => drop(mux.get("k").await),
        1 => drop(mux.set("k", "v").await),
        2 => drop(mux.set_partial("k", 1, "v").await),
        3 => drop(mux.has("nothing").await),
        4 => drop(mux.delete("k").await),
        5 => drop(mux.list("", &page).await),
        6 => drop(mux.get_range("k", 0..2).await),
        7 => {
            if let Ok(mut stream) = mux.get_stream("k").await {
                while stream.next().await.is_some() {}
            }
        }
        8 => {
            if let Ok(mut sink) = mux.set_stream("k").await {
                let _ = sink.send("one".into()).await;
                let _ = sink.send("two".into()).await;
                let _ = sink.close().await;
            }
        }
        _ => {
            let cx = OpContext::new().with_deadline(storage_mux::Instant::from_nanos(9_000_000));
            drop(mux.with(&cx).get("k").await);
        }
    }
}

fn assert_released(world: &World, what: &str) {
    world.assert_at_rest();
    for backend in world.mux.stats().backends {
        let name = backend.name.as_str();
        let drained = world.mux.drain(name).now_or_never();
        drained.unwrap_or_else(|| panic!("{what}: a drain of {name} waits")).expect("drained");
    }
}

fn drop_everywhere(each: MuxMode) {
    for which in 0..10 {
        for polls in 0..=MOST_POLLS {
            let world = world(each);
            let ended = poll_and_drop(&world, operation(&world, which), polls);
            // Once more when the cooldowns are over, so that probes are dropped, too.
            world.clock.advance(ms(61_000));
            poll_and_drop(&world, operation(&world, which), polls);
            assert_released(&world, &format!("{each}, operation {which}, {polls} polls"));
            if ended {
                break;
            }
            assert!(polls < MOST_POLLS, "operation {which} did not end");
        }
    }
}

/// Case DR-01, CB-03, OT-01. Spec: AB-5, SM-4, HE-4
#[test]
fn nothing_is_held_after_a_drop_at_any_await_under_failover_and_shield() {
    drop_everywhere(MuxMode::Failover);
    drop_everywhere(MuxMode::Shield);
}

/// Case DR-01, CB-03, FO-06, OT-01. Spec: AB-5, SM-4, HE-4
#[test]
fn nothing_is_held_after_a_drop_at_any_await_under_mirror() {
    drop_everywhere(MuxMode::Mirror);
}

/// Case DR-01, CB-03, OT-01. Spec: AB-5, SM-4, HE-4
#[test]
fn nothing_is_held_after_a_drop_at_any_await_under_round_robin_and_sticky() {
    drop_everywhere(MuxMode::RoundRobin);
    drop_everywhere(MuxMode::StickyByKey);
}

/// Spec: DR-2, AB-5
#[test]
fn a_drain_dropped_at_any_await_can_be_taken_up_again() {
    for polls in 0..4 {
        let world = World::new(2, mode(MuxMode::Failover));
        world.put_all("k", "v");
        let stream = world.run(world.mux.get_stream("k")).expect("open");
        let ended = poll_and_drop(&world, world.mux.remove_backend("a"), polls);
        assert!(!ended, "a stream is open");
        assert_eq!(world.mux.drain("a").now_or_never(), None);
        drop(stream);
        world.run(world.mux.remove_backend("a")).expect("removed");
        assert_eq!(world.events_of("storage-mux.drain.started").len(), 1);
        assert_eq!(world.events_of("storage-mux.backend.removed").len(), 1);
        world.assert_at_rest();
    }
}
