//! Fakes for deterministic tests of code that uses a mux.
//!
//! - [`FakeClock`]: time that stands still until it is told to move.
//! - [`run`]: drives one future to its end, moving the clock whenever nothing else can happen.
//! - [`FaultStorage`]: a storage that fails, hangs and dawdles on schedule.
//! - [`Recorder`]: keeps the events, spans and measurements that it is given.
//!
//! ```
//! use core::time::Duration;
//! use storage_mux::Clock;
//! use storage_mux::sim::{FakeClock, run};
//!
//! let clock = FakeClock::new();
//! let slept = run(&clock, clock.sleep(Duration::from_secs(3600)));
//! assert!(slept.is_ok());
//! assert_eq!(clock.now().as_nanos(), 3_600_000_000_000);
//! ```

mod clock;
#[cfg(target_has_atomic = "ptr")]
mod executor;
mod fault_storage;
mod fault_stream;
mod recorder;

pub use clock::{FakeClock, FakeSleep};
#[cfg(target_has_atomic = "ptr")]
pub use executor::{Stalled, run};
pub use fault_storage::{Fault, FaultStorage, StreamFault};
pub use fault_stream::{FaultReader, FaultWriter};
pub use recorder::{RecordedAttributes, RecordedMeasurement, RecordedSpan, Recorder};
