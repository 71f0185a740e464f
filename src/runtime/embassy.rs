//! embassy: the time driver of the firmware as a [`Clock`].
//!
//! There is no entropy to be had in general: seed [`SeededRng`](crate::SeededRng) from the random
//! number generator of the chip, or from whatever differs between two boots.
//!
//! Nor can a library spawn on an embassy executor, whose tasks are statics of the program. Run the
//! health checks in a task of your own, or join them with what else it does:
//!
//! ```
//! use storage_mux::runtime::embassy::EmbassyClock;
//! use storage_mux::{MemoryStorage, SeededRng, StorageMux};
//!
//! type Mux = StorageMux<MemoryStorage, EmbassyClock, SeededRng>;
//!
//! // #[embassy_executor::task]
//! async fn health_checks(mux: Mux) {
//!     let checks = mux.health_checks();
//!     // The schedule ends with the last handle, so this task must not be the one that keeps it.
//!     drop(mux);
//!     checks.await;
//! }
//! # let _ = health_checks;
//! ```

use core::time::Duration;

use ::embassy_time::{Instant as Moment, TICK_HZ, Timer};

use crate::port::Clock;
use crate::time::Instant;

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// The time of embassy. Its epoch is that of the time driver, as a rule the boot.
///
/// Timers are whole ticks, rounded up; one that is too long to tell (`Duration::MAX`) never fires.
/// The queue of the driver keeps one wake-up a task and forgets it when it is due, so a timer that
/// is dropped early costs one idle poll at most.
///
/// With the queue that is part of embassy's executor, timers must be awaited in a task of that
/// executor; the features `generic-queue-*` of embassy-time lift that.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct EmbassyClock;

impl Clock for EmbassyClock {
    type Sleep = Timer;

    fn now(&self) -> Instant {
        let ticks = Moment::now().as_ticks();
        // Not `as_nanos`: at 32 768 Hz its product overflows after nine years.
        let nanos = (ticks % TICK_HZ).saturating_mul(NANOS_PER_SECOND) / TICK_HZ;
        Instant::from_epoch(Duration::from_secs(ticks / TICK_HZ) + Duration::from_nanos(nanos))
    }

    fn sleep(&self, duration: Duration) -> Timer {
        let nanos = u64::from(duration.subsec_nanos()).saturating_mul(TICK_HZ);
        let ticks = duration
            .as_secs()
            .saturating_mul(TICK_HZ)
            .saturating_add(nanos.div_ceil(NANOS_PER_SECOND));
        Timer::at(Moment::from_ticks(Moment::now().as_ticks().saturating_add(ticks)))
    }
}
