//! Runs one future on a fake clock.

use alloc::sync::Arc;
use alloc::task::Wake;
use core::future::Future;
use core::pin::pin;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll, Waker};

use super::FakeClock;

/// Polls after which a future that never ends counts as stalled.
const MAX_POLLS: u64 = 10_000_000;

/// The future can make no more progress: nothing woke it and no timer is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the future is stalled after {polls} polls; something it waits for will never happen")]
pub struct Stalled {
    /// How often it had been polled.
    pub polls: u64,
}

#[derive(Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Drives `future` to its end. Whenever it waits and nothing has woken it, the clock moves on to
/// the next timer. The number of steps is bounded, so a hang is a failure and not a hang.
///
/// # Errors
///
/// [`Stalled`] where nothing could ever wake the future again.
pub fn run<F: Future>(clock: &FakeClock, future: F) -> Result<F::Output, Stalled> {
    let mut future = pin!(future);
    let flag = Arc::new(Flag::default());
    let waker = Waker::from(flag.clone());
    let mut cx = Context::from_waker(&waker);
    for polls in 1..=MAX_POLLS {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return Ok(output);
        }
        while !flag.0.swap(false, Ordering::SeqCst) {
            if !clock.advance_to_next() {
                return Err(Stalled { polls });
            }
        }
    }
    Err(Stalled { polls: MAX_POLLS })
}
