//! smol: its timers as a [`Clock`], and a seed for the default generator.
//!
//! ```
//! use core::time::Duration;
//! use storage_mux::Clock;
//! use storage_mux::runtime::smol::SmolClock;
//!
//! smol::block_on(async {
//!     let clock = SmolClock::new();
//!     let before = clock.now();
//!     clock.sleep(Duration::from_millis(2)).await;
//!     assert!(clock.now() - before >= Duration::from_millis(2));
//! });
//! ```

use core::time::Duration;
use std::time;

pub use super::async_io_sleep::Sleep;
pub use super::smol_health::{HealthCheckGuard, spawn_health_checks};
pub use super::std_entropy::entropy_seed;
use super::std_epoch::since_epoch;
use crate::port::Clock;
use crate::time::Instant;

/// The time of the operating system with the timers of async-io, which drives smol. All clocks of a
/// process share one epoch, so a deadline means the same to every mux that it passes through.
///
/// Works on any executor: async-io runs its reactor on a thread of its own where nobody else does.
#[derive(Clone, Copy, Debug)]
pub struct SmolClock(());

impl SmolClock {
    /// A clock.
    #[must_use]
    pub const fn new() -> Self {
        Self(())
    }
}

impl Default for SmolClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SmolClock {
    type Sleep = Sleep;

    fn now(&self) -> Instant {
        since_epoch(time::Instant::now())
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        Sleep::new(duration)
    }
}
