//! What the target can share between tasks: its atomics, its `Arc`, its lock.
//!
//! The only module that knows whether the target has compare-and-swap, an operating system or
//! `std`. Everything above names `crate::sync` and compiles everywhere.

mod abort;
#[cfg(not(loom))]
mod lock;
#[cfg(loom)]
mod model;
mod seeded_rng;
mod snapshot;
mod stripe;
#[cfg(all(target_os = "none", not(feature = "std")))]
mod wide;

pub use abort::{AbortController, AbortSignal, Aborted};
#[cfg(not(loom))]
pub(crate) use lock::Lock;
#[cfg(loom)]
pub(crate) use model::{AtomicBool, AtomicU32, AtomicU64, Lock};
pub use seeded_rng::{RandCoreRng, SeededRng};
pub(crate) use snapshot::{Loaded, Snapshot};
pub(crate) use stripe::{Apart, STRIPES, Stripe, Striped};

#[cfg(target_has_atomic = "ptr")]
pub(crate) use alloc::sync::{Arc, Weak};
#[cfg(not(target_has_atomic = "ptr"))]
pub(crate) use portable_atomic_util::{Arc, Weak};

#[cfg(not(any(loom, all(target_os = "none", not(feature = "std")))))]
pub(crate) use portable_atomic::AtomicU64;
pub(crate) use portable_atomic::Ordering;
#[cfg(not(loom))]
pub(crate) use portable_atomic::{AtomicBool, AtomicU32};
#[cfg(all(target_os = "none", not(feature = "std")))]
pub(crate) use wide::AtomicU64;
