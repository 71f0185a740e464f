//! A mux as an `ObjectStore` of version 0.13 of `object_store`, for crates that have not moved on
//! to 0.14 yet.
//!
//! The same as [`backend::MuxObjectStore`](crate::backend::MuxObjectStore), compiled for the other
//! version. Backends are stores of version 0.14 either way: only what takes the mux is older.

mod api;
#[expect(clippy::duplicate_mod, reason = "once for each version of the trait, by design")]
#[path = "../object_store/outward/mod.rs"]
mod outward;

pub use self::outward::MuxObjectStore;
