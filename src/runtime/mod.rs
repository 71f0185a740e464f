//! Bindings to runtimes: for each, its clock and its seed of chance. No decision is made here.
//!
//! One module a runtime, each behind the feature of its name. The rest of the crate knows none of
//! them.

#[cfg(any(feature = "smol", feature = "async-std"))]
mod async_io_sleep;
#[cfg(feature = "async-std")]
pub mod async_std;
#[cfg(feature = "async-std")]
mod async_std_health;
#[cfg(feature = "embassy")]
pub mod embassy;
#[cfg(all(any(feature = "object-store", feature = "opendal"), not(feature = "tokio")))]
mod on_thread;
#[cfg(feature = "smol")]
pub mod smol;
#[cfg(feature = "smol")]
mod smol_health;
#[cfg(any(feature = "tokio", feature = "smol", feature = "async-std"))]
mod std_entropy;
#[cfg(any(feature = "tokio", feature = "smol", feature = "async-std"))]
mod std_epoch;
#[cfg(feature = "tokio")]
pub mod tokio;
#[cfg(all(any(feature = "object-store", feature = "opendal"), feature = "tokio"))]
mod tokio_blocking;
#[cfg(feature = "tokio")]
mod tokio_events;
#[cfg(feature = "tokio")]
mod tokio_health;
#[cfg(feature = "wasm")]
pub mod wasm;

#[cfg(all(any(feature = "object-store", feature = "opendal"), not(feature = "tokio")))]
pub(crate) use self::on_thread::{in_background, off_thread};
#[cfg(all(any(feature = "object-store", feature = "opendal"), feature = "tokio"))]
pub(crate) use self::tokio_blocking::{in_background, off_thread};
