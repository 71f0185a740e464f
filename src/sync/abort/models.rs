//! Every order in which an abort and those who wait for it can meet, on the real signal and the
//! real listener list. A waiter that nobody wakes is a deadlock, which fails the model.

use loom::future::block_on;
use loom::thread;

use super::*;

/// Spec: AB-1
#[test]
fn a_waiter_that_comes_while_another_thread_aborts_is_woken() {
    loom::model(|| {
        let controller = AbortController::new();
        let signal = controller.signal();
        let waiter = thread::spawn(move || block_on(signal.aborted()));
        controller.abort();
        waiter.join().unwrap();
        assert_eq!(controller.waiters(), 0);
    });
}

/// Spec: AB-1
#[test]
fn two_waiters_are_both_woken_by_one_abort() {
    loom::model(|| {
        let controller = AbortController::new();
        let waiters = [controller.signal(), controller.signal()]
            .map(|signal| thread::spawn(move || block_on(signal.aborted())));
        controller.abort();
        waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
    });
}

/// Spec: AB-1
#[test]
fn a_composed_signal_is_woken_by_whichever_parent_aborts_and_leaves_both() {
    loom::model(|| {
        let (a, b) = (AbortController::new(), AbortController::new());
        let any = AbortSignal::any([a.signal(), b.signal()]);
        let waiter = thread::spawn(move || block_on(any.aborted()));
        let other = b.clone();
        let aborts = thread::spawn(move || other.abort());
        waiter.join().unwrap();
        aborts.join().unwrap();
        assert_eq!((a.waiters(), b.waiters()), (0, 0));
    });
}

/// Spec: AB-1
#[test]
fn whoever_hears_of_an_abort_sees_what_was_written_before_it() {
    loom::model(|| {
        let controller = AbortController::new();
        let (signal, told) = (controller.signal(), Arc::new(AtomicU32::new(0)));
        let written = told.clone();
        let aborts = thread::spawn(move || {
            written.store(7, Ordering::Relaxed);
            controller.abort();
        });
        if signal.is_aborted() {
            assert_eq!(told.load(Ordering::Relaxed), 7);
        }
        aborts.join().unwrap();
        assert!(signal.is_aborted());
    });
}
