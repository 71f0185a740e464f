//! Runs one future on a fake clock.

use core::future::Future;

use super::{Executor, FakeClock};

/// Polls after which a future that never ends counts as stalled.
pub(super) const MAX_POLLS: u64 = 10_000_000;

/// No more progress: nothing is woken and no timer is left, or there were too many polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stalled after {polls} polls; something that is waited for will never happen")]
pub struct Stalled {
    /// How many polls there had been.
    pub polls: u64,
}

/// Drives `future` to its end. Whenever it waits and nothing has woken it, the clock moves on to
/// the next timer. The number of steps is bounded, so a hang is a failure and not a hang.
///
/// An [`Executor`] does the same for several futures side by side. One thread moves a clock: of two
/// that do, one can find no timer left where the other has just fired it, and call that a stall.
///
/// # Errors
///
/// [`Stalled`] where nothing could ever wake the future again.
pub fn run<F: Future>(clock: &FakeClock, future: F) -> Result<F::Output, Stalled> {
    Executor::new(clock).run(future)
}
