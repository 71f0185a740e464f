//! What can go wrong, and whose turn it is to act.
//!
//! - [`StorageError`]: what an operation returns, from a backend or from a mux.
//! - [`MuxError`]: what a mux has to say itself; [`MuxCode`] is its registry of codes.
//! - [`classify`]: transient, semantic or abort. The one rule that every mode follows.

mod classify;
mod codes;
#[cfg(feature = "std")]
mod io;
mod mux;
mod storage;

pub use classify::{ErrorClass, classify};
pub use codes::MuxCode;
pub use mux::{AggregateError, MuxError};
pub use storage::{NetworkFault, StorageError, StorageErrorKind};
