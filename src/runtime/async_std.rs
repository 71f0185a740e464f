//! async-std: its timers as a [`Clock`], and a seed for the default generator.
//!
//! async-std is discontinued (RUSTSEC-2025-0052). This binding is for programs that still run on
//! it; new ones take [smol](https://docs.rs/smol), its living twin, and the feature `smol`.
//!
//! ```
//! use core::time::Duration;
//! use storage_mux::Clock;
//! use storage_mux::runtime::async_std::AsyncStdClock;
//!
//! async_std::task::block_on(async {
//!     let clock = AsyncStdClock::new();
//!     let before = clock.now();
//!     clock.sleep(Duration::from_millis(2)).await;
//!     assert!(clock.now() - before >= Duration::from_millis(2));
//! });
//! ```

use core::time::Duration;
use std::time;

pub use super::async_io_sleep::Sleep;
pub use super::async_std_health::{HealthCheckGuard, spawn_health_checks};
pub use super::std_entropy::entropy_seed;
use crate::port::Clock;
use crate::time::Instant;

/// The time of the operating system with the timers that async-std itself stands on. Its epoch is
/// the moment of its making; copies share it.
#[derive(Clone, Copy, Debug)]
pub struct AsyncStdClock {
    epoch: time::Instant,
}

impl AsyncStdClock {
    /// A clock whose epoch is now.
    #[must_use]
    pub fn new() -> Self {
        Self { epoch: time::Instant::now() }
    }
}

impl Default for AsyncStdClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for AsyncStdClock {
    type Sleep = Sleep;

    fn now(&self) -> Instant {
        Instant::from_epoch(self.epoch.elapsed())
    }

    // `async_std::task::sleep` would do the same, but its future has no name to put here.
    fn sleep(&self, duration: Duration) -> Sleep {
        Sleep::new(duration)
    }
}
