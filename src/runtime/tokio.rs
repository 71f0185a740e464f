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
pub use super::tokio_events::TokioBroadcast;
pub use super::tokio_health::{HealthCheckGuard, spawn_health_checks};
use crate::port::Clock;
use crate::time::Instant;

/// The time of tokio. Its epoch is the moment of its making; copies share it.
///
/// It follows `tokio::time::pause` and `advance`, so tests of a mux on tokio need no waiting.
/// Timers are those of tokio: whole milliseconds, rounded up, and anything too long to tell
/// (`Duration::MAX`) fires in decades.
///
/// [`sleep`](Clock::sleep) must be called within a runtime whose timer is enabled, as
/// `tokio::time::sleep` must; [`now`](Clock::now) works anywhere.
#[derive(Clone, Copy, Debug)]
pub struct TokioClock {
    epoch: time::Instant,
}

impl TokioClock {
    /// A clock whose epoch is now.
    #[must_use]
    pub fn new() -> Self {
        Self { epoch: time::Instant::now() }
    }
}

impl Default for TokioClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for TokioClock {
    type Sleep = time::Sleep;

    fn now(&self) -> Instant {
        Instant::from_epoch(time::Instant::now().saturating_duration_since(self.epoch))
    }

    fn sleep(&self, duration: Duration) -> time::Sleep {
        time::sleep(duration)
    }
}
