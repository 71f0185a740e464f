//! Fakes for deterministic tests of code that uses a mux. The page
//! [Test your code on a mux](crate::guide::testing) shows them at work.
//!
//! - [`FakeClock`]: time that stands still until it is told to move.
//! - [`run`]: drives one future to its end, moving the clock whenever nothing else can happen.
//! - [`Executor`]: the same for several tasks, in an order that a seed decides.
//! - [`FaultStorage`]: a storage that fails, hangs and dawdles on schedule.
//! - [`Dice`] and [`Latency`]: chance that is the same in every run.
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
mod dice;
#[cfg(target_has_atomic = "ptr")]
mod executor;
mod fault;
mod fault_storage;
mod fault_stream;
mod recorder;
#[cfg(target_has_atomic = "ptr")]
mod run;
#[cfg(target_has_atomic = "ptr")]
mod task;

pub use clock::{FakeClock, FakeSleep};
pub use dice::{Dice, Latency};
#[cfg(target_has_atomic = "ptr")]
pub use executor::Executor;
pub use fault::{Fault, StreamFault};
pub use fault_storage::FaultStorage;
pub use fault_stream::{FaultReader, FaultWriter};
pub use recorder::{RecordedAttributes, RecordedMeasurement, RecordedSpan, Recorder};
#[cfg(target_has_atomic = "ptr")]
pub use run::{Stalled, run};
#[cfg(target_has_atomic = "ptr")]
pub use task::Task;
