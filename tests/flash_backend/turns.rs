//! Operations take turns, and one that gives up passes its turn on.

use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use futures_util::{SinkExt, future};
use storage_mux::backend::FlashStorage;
use storage_mux::sim::{FakeClock, run};
use storage_mux::{AbortController, LocalStorage, OpContext, StorageError};

use crate::chip::{Nor, SIZE};

fn slow() -> FlashStorage<Nor> {
    let nor = Nor::new();
    nor.0.borrow_mut().slow = true;
    nor.0.borrow_mut().slow_reads = true;
    FlashStorage::new(nor, 0..SIZE as u32, 60).unwrap()
}

#[test]
fn operations_at_once_take_turns_and_all_happen() {
    let (storage, cx, clock) = (slow(), OpContext::new(), FakeClock::new());
    let keys: Vec<String> = (0..8).map(|each| format!("k{each}")).collect();
    let all = keys.iter().map(|key| storage.set(key, key.clone().into(), &cx));
    let parts = (0..4).map(|at| storage.set_partial("whole", at, vec![at as u8].into(), &cx));
    // The executor polls whoever was woken: a waiter that nobody wakes would stall it.
    let both = future::join(future::join_all(all), future::join_all(parts));
    let (sets, parts) = run(&clock, both).unwrap();
    assert!(sets.iter().all(Result::is_ok) && parts.iter().all(Result::is_ok));
    for key in &keys {
        assert_eq!(run(&clock, storage.get(key, &cx)).unwrap().unwrap(), key.as_bytes());
    }
    assert_eq!(run(&clock, storage.get("whole", &cx)).unwrap().unwrap(), &[0, 1, 2, 3][..]);
}

#[test]
fn who_asks_again_at_once_waits_behind_who_waited_already() {
    let (storage, cx) = (slow(), OpContext::new());
    let mut waker = Context::from_waker(Waker::noop());
    let done = Cell::new(0);
    let mut busy = pin!(async {
        loop {
            storage.set("busy", "b".into(), &cx).await.unwrap();
            done.set(done.get() + 1);
        }
    });
    let mut patient = pin!(storage.set("patient", "p".into(), &cx));
    assert!(busy.as_mut().poll(&mut waker).is_pending());
    while patient.as_mut().poll(&mut waker).is_pending() {
        assert!(busy.as_mut().poll(&mut waker).is_pending());
        assert!(done.get() <= 1, "the turn after the first belongs to who waited");
    }
}

/// Spec: AB-5
#[test]
fn who_is_dropped_at_work_or_while_waiting_lets_the_next_one_go_on() {
    let (storage, cx, clock) = (slow(), OpContext::new(), FakeClock::new());
    let mut waker = Context::from_waker(Waker::noop());
    let mut third = Box::pin(storage.set("c", "3".into(), &cx));
    {
        let mut first = Box::pin(storage.set("a", "1".into(), &cx));
        let mut second = Box::pin(storage.set("b", "2".into(), &cx));
        assert!(first.as_mut().poll(&mut waker).is_pending());
        assert!(second.as_mut().poll(&mut waker).is_pending());
        assert!(third.as_mut().poll(&mut waker).is_pending());
        // The turn goes to the second, which is dropped with it and unaware of it.
        drop(first);
        drop(second);
    }
    run(&clock, third).unwrap().unwrap();
    assert_eq!(run(&clock, storage.has("b", &cx)).unwrap(), Ok(false));
    assert_eq!(run(&clock, storage.get("c", &cx)).unwrap().unwrap(), "3");
}

/// Spec: AB-3
#[test]
fn who_gave_up_while_it_waited_does_nothing() {
    let (storage, cx) = (slow(), OpContext::new());
    let controller = AbortController::new();
    let given_up = OpContext::new().with_signal(controller.signal());
    let mut waker = Context::from_waker(Waker::noop());
    let mut first = pin!(storage.set("a", "1".into(), &cx));
    let mut second = pin!(storage.set("b", "2".into(), &given_up));
    assert!(first.as_mut().poll(&mut waker).is_pending());
    assert!(second.as_mut().poll(&mut waker).is_pending());
    controller.abort();
    while first.as_mut().poll(&mut waker).is_pending() {}
    assert_eq!(second.as_mut().poll(&mut waker), Poll::Ready(Err(StorageError::aborted())));
}

/// Spec: P-7
#[test]
fn a_write_stream_dropped_while_it_closes_stands_or_not_and_the_next_operation_goes_on() {
    let (storage, cx, clock) = (slow(), OpContext::new(), FakeClock::new());
    for polls in 0..40 {
        run(&clock, storage.set("k", "old".into(), &cx)).unwrap().unwrap();
        let mut writer = run(&clock, storage.set_stream("k", &cx)).unwrap().unwrap();
        run(&clock, writer.feed("new".into())).unwrap().unwrap();
        let mut close = writer.close();
        let mut waker = Context::from_waker(Waker::noop());
        (0..polls).any(|_| pin!(&mut close).poll(&mut waker).is_ready());
        drop(writer);
        let value = run(&clock, storage.get("k", &cx)).unwrap().unwrap();
        assert!(value == "old" || value == "new", "{value:?}");
    }
}
