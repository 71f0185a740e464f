//! Who is woken, by a stream that wakes nobody.

use alloc::boxed::Box;
use alloc::task::Wake;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};

use bytes::Bytes;
use futures_util::Sink;

use super::{Queue, StorageError};
use crate::sync::{Arc, AtomicBool, AtomicU32, Ordering};

/// A stream that has room when it is told so, and then wakes only who polled it last.
struct Gate(Arc<AtomicBool>);

impl Sink<Bytes> for Gate {
    type Error = StorageError;

    fn poll_ready(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        if self.0.load(Ordering::SeqCst) { Poll::Ready(Ok(())) } else { Poll::Pending }
    }

    fn start_send(self: Pin<&mut Self>, _: Bytes) -> Result<(), StorageError> {
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        Poll::Ready(Ok(()))
    }
}

#[derive(Default)]
struct Woken(AtomicU32);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Spec: SM-2
#[test]
fn whoever_gives_the_stream_the_chunks_of_others_wakes_them() {
    let open = Arc::new(AtomicBool::new(false));
    let queue = Arc::new(Queue::new(Box::pin(Gate(open.clone()))));
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(woken.clone());
    let mut first = (queue.turn(), queue.push([Bytes::from_static(b"a")].into_iter()));
    let mut second = (queue.turn(), queue.push([Bytes::from_static(b"b")].into_iter()));
    let mut cx = Context::from_waker(&waker);
    assert!(first.0.poll(&first.1, &mut cx).is_pending());
    assert_eq!(woken.0.load(Ordering::SeqCst), 0, "nothing has moved");

    open.store(true, Ordering::SeqCst);
    let mut other = Context::from_waker(Waker::noop());
    assert_eq!(second.0.poll(&second.1, &mut other), Poll::Ready(Ok(())));
    assert_eq!(woken.0.load(Ordering::SeqCst), 1, "its chunk is taken, so it may go on");
    assert_eq!(first.0.poll(&first.1, &mut cx), Poll::Ready(Ok(())));
}

/// A stream that panics.
struct Rude;

impl Sink<Bytes> for Rude {
    type Error = StorageError;

    fn poll_ready(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        panic!("as it likes")
    }

    fn start_send(self: Pin<&mut Self>, _: Bytes) -> Result<(), StorageError> {
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        Poll::Ready(Ok(()))
    }
}

/// Spec: SM-5
#[test]
fn a_stream_that_panics_leaves_nobody_waiting() {
    let queue = Arc::new(Queue::new(Box::pin(Rude)));
    let (mut first, mut second) = (queue.turn(), queue.turn());
    let goal = queue.push([Bytes::from_static(b"a")].into_iter());
    let poll =
        std::panic::AssertUnwindSafe(|| first.poll(&goal, &mut Context::from_waker(Waker::noop())));
    assert!(std::panic::catch_unwind(poll).is_err());
    let told = second.poll(&goal, &mut Context::from_waker(Waker::noop()));
    assert!(matches!(told, Poll::Ready(Err(_))), "{told:?}");
}
