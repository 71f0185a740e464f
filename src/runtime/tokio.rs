//! The tokio runtime: its timers as a [`Clock`], and a seed for the default generator.
//!
//! ```
//! use core::time::Duration;
//! use storage_mux::Clock;
//! use storage_mux::runtime::tokio::TokioClock;
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() {
//! let clock = TokioClock::new();
//! let before = clock.now();
//! clock.sleep(Duration::from_secs(2)).await;
//! assert!(clock.now() - before >= Duration::from_secs(2));
//! # }
//! ```

use core::time::Duration;

use ::tokio::time;

pub use super::std_entropy::entropy_seed;
use super::std_epoch::since_epoch;
pub use super::tokio_events::TokioBroadcast;
pub use super::tokio_health::{HealthCheckGuard, spawn_health_checks};
use crate::port::Clock;
use crate::time::Instant;

/// The time of tokio. All clocks of a process share one epoch, so a deadline means the same to
/// every mux that it passes through.
///
/// It follows `tokio::time::pause` and `advance`, so tests of a mux on tokio need no waiting.
/// Timers are those of tokio: whole milliseconds, rounded up, and anything too long to tell
/// (`Duration::MAX`) fires in decades.
///
/// [`sleep`](Clock::sleep) must be called within a runtime whose timer is enabled, as
/// `tokio::time::sleep` must; [`now`](Clock::now) works anywhere.
#[derive(Clone, Copy, Debug)]
pub struct TokioClock(());

impl TokioClock {
    /// A clock.
    #[must_use]
    pub const fn new() -> Self {
        Self(())
    }
}

impl Default for TokioClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for TokioClock {
    type Sleep = time::Sleep;

    #[inline]
    fn now(&self) -> Instant {
        since_epoch(time::Instant::now().into_std())
    }

    fn sleep(&self, duration: Duration) -> time::Sleep {
        time::sleep(duration)
    }
}
