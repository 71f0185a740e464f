//! Bindings to runtimes: for each, its clock and its seed of chance. No decision is made here.
//!
//! One module a runtime, each behind the feature of its name. The rest of the crate knows none of
//! them.

#[cfg(feature = "tokio")]
mod std_entropy;
#[cfg(feature = "tokio")]
pub mod tokio;
#[cfg(feature = "tokio")]
mod tokio_health;
