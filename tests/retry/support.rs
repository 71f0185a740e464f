//! What the tests of this folder share.

use core::future::{Future, poll_fn};
use core::task::Poll;
use core::time::Duration;

use storage_mux::retry::{Backoff, Jitter, RetryOptions};
use storage_mux::sim::{self, FakeClock};
use storage_mux::{Clock, Rng};

pub(crate) fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

pub(crate) fn secs(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// So many attempts with the same wait in between.
pub(crate) fn constant(attempts: u32, delay: Duration) -> RetryOptions {
    RetryOptions::new()
        .with_max_attempts(attempts)
        .with_backoff(Backoff::constant(delay))
        .with_jitter(Jitter::None)
}

/// Drives a future to its end, which it must have.
pub(crate) fn run<F: Future>(clock: &FakeClock, future: F) -> F::Output {
    sim::run(clock, future).expect("nothing is left to wait for")
}

/// Time since the beginning, in milliseconds.
pub(crate) fn elapsed_ms(clock: &FakeClock) -> u64 {
    clock.now().as_nanos() / 1_000_000
}

/// Pending once, woken at once: lets the other futures of a join have a turn.
pub(crate) async fn yield_now() {
    let mut yielded = false;
    poll_fn(|cx| {
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Draws that a test lays down, the last one for ever.
pub(crate) struct Fixed(pub(crate) u64);

impl Rng for Fixed {
    fn next_u64(&self) -> u64 {
        self.0
    }
}

/// Fails the test that draws.
pub(crate) struct NoDraw;

impl Rng for NoDraw {
    fn next_u64(&self) -> u64 {
        panic!("nothing is left to chance here")
    }
}
