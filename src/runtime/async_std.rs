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
use super::std_epoch::since_epoch;
use crate::port::Clock;
use crate::time::Instant;

/// The time of the operating system with the timers that async-std itself stands on. All clocks of a
/// process share one epoch, so a deadline means the same to every mux that it passes through.
#[derive(Clone, Copy, Debug)]
pub struct AsyncStdClock(());

impl AsyncStdClock {
    /// A clock.
    #[must_use]
    pub const fn new() -> Self {
        Self(())
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
        since_epoch(time::Instant::now())
    }

    // `async_std::task::sleep` would do the same, but its future has no name to put here.
    fn sleep(&self, duration: Duration) -> Sleep {
        Sleep::new(duration)
    }
}
