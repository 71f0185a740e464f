//! Several storages that act as one.
//!
//! A service that must not lose or wait for data ends up with an S3 region and its fallback, a flash
//! chip and its network twin, a store mirrored at two providers. [`StorageMux`] makes such a set look
//! like one storage: it chooses a backend for each call, moves on when one fails, leaves the sick one
//! alone until it is back, and tells what it did. It needs no runtime and no operating system.
//!
//! ```
//! use storage_mux::sim::{FakeClock, run};
//! use storage_mux::{Backend, MemoryStorage, SeededRng, StorageMux};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let clock = FakeClock::new(); // on a server: runtime::tokio::TokioClock
//! let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
//!     .backend(Backend::new("primary", MemoryStorage::new()))
//!     .backend(Backend::new("fallback", MemoryStorage::new()))
//!     .build()?;
//!
//! run(&clock, mux.set("greeting", "hello"))??;
//! assert_eq!(run(&clock, mux.get("greeting"))??, "hello");
//! # Ok(())
//! # }
//! ```
//!
//! # What to read first
//!
//! - [`StorageMux`] and [`MuxOptions`] to use one; [`MuxMode`] for how calls are spread.
//! - [`Storage`] or [`LocalStorage`] to write a backend, and [`conformance`] to check it.
//! - [`StorageError`] and [`classify`] for what makes a call move on and what does not.
//! - [`retry`] for retries, timeouts and a circuit breaker without a mux.
//! - `sim` to test your own failure handling on a clock that you move, and `guide::testing` for how.
//!
//! # Layers
//!
//! Each knows only those above it in this list.
//!
//! | layer | modules | what is there |
//! |---|---|---|
//! | words | `time` `rng` `key` `name` `mux_mode` `error` `sync` | plain values, and what the target can share |
//! | ports | `port` | what the outside world plugs in: clock, storage, watchers |
//! | parts | `mode` `health` `stats` [`retry`] | decisions: synchronous, with `now` as an argument |
//! | roster | `roster` | who belongs to a mux, as snapshots |
//! | drivers | `drive` | futures that carry decisions out; no runtime, no spawn |
//! | mux | `mux` | options, builder, operations, reports |
//! | bindings | `runtime` `backend` `telemetry` | a clock per runtime, foreign storages, who watches; no decisions |
//!
//! Beside the layers: [`MemoryStorage`], [`conformance`] and `sim`.
//!
//! # Features
//!
//! All of them only add. Without any the crate is `no_std` with `alloc`, and builds for targets
//! without an operating system and even without compare-and-swap.
//!
//! | feature | adds |
//! |---|---|
//! | `std` | lock-free snapshots, conversions from `std::io::Error` |
//! | `tokio` | `runtime::tokio`: clock, entropy and an event channel for the tokio runtime |
//! | `smol` | `runtime::smol`: clock, entropy and health checks as a task, for smol |
//! | `async-std` | `runtime::async_std`: the same for async-std, which is discontinued (RUSTSEC-2025-0052) |
//! | `embassy` | `runtime::embassy`: a clock for embassy, without std |
//! | `wasm` | `runtime::wasm`: clock, entropy and health checks in a browser or Node; on `wasm32-unknown-unknown` alone |
//! | `object-store` | `backend::ObjectStoreBackend`: any `object_store::ObjectStore` as a backend; `backend::MuxObjectStore`: a mux as one |
//! | `object-store-013` | `backend::object_store_013::MuxObjectStore`: a mux as an `ObjectStore` of version 0.13 |
//! | `web` | `backend::IndexedDbStorage` and `backend::FetchStorage`: a browser's database, and HTTP; on `wasm32-unknown-unknown` alone |
//! | `flash` | `backend::FlashStorage`: a NOR flash chip as a backend, without std; needs Rust 1.89 |
//! | `opendal` | `backend::OpendalBackend`: any OpenDAL `Operator` as a backend; needs Rust 1.91 |
//! | `config` | `config::MuxConfig`: a whole mux from a TOML document with URLs; needs Rust 1.91 |
//! | `tracing` | `telemetry`: spans and events for the `tracing` ecosystem; needs compare-and-swap |
//! | `opentelemetry` | `telemetry`: spans and metrics for any OpenTelemetry provider |
//! | `serde` | options from a configuration file, statistics and events to one |
//! | `defmt` | `defmt::Format` for errors, events and statistics |
//! | `sim` | fake clock, scripted storage, recorders and a deterministic executor, for tests |
//!
//! On bare metal (`target_os = "none"`) locks and wide atomics are critical sections: the firmware
//! links an implementation of the `critical-section` crate, as every embassy program does.
#![no_std]
#![forbid(unsafe_code)]
// Here and not in Cargo.toml: tests and examples may.
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[cfg(any(feature = "flash", feature = "object-store", feature = "opendal", feature = "web"))]
pub mod backend;
#[cfg(feature = "config")]
pub mod config;
pub mod conformance;
mod drive;
mod error;
pub mod guide;
mod health;
mod key;
mod memory;
mod mode;
mod mux;
mod mux_mode;
mod name;
mod port;
pub mod retry;
mod rng;
mod roster;
#[cfg(any(
    feature = "tokio",
    feature = "smol",
    feature = "async-std",
    feature = "embassy",
    feature = "wasm",
    feature = "object-store",
    feature = "opendal"
))]
pub mod runtime;
#[cfg(feature = "sim")]
pub mod sim;
mod stats;
mod sync;
#[cfg(any(feature = "tracing", feature = "opentelemetry"))]
pub mod telemetry;
mod time;

pub use drive::{MuxReader, MuxWriter};
pub use error::{
    AggregateError, ErrorClass, MuxCode, MuxError, NetworkFault, StorageError, StorageErrorKind,
    classify,
};
pub use key::validate_key;
pub use memory::{MemoryReader, MemoryStorage, MemoryWriter};
pub use mux::{
    BackendStats, BackendStatus, MuxBuilder, MuxOptions, MuxStats, StorageMux, WeakStorageMux, With,
};
pub use mux_mode::MuxMode;
pub use name::BackendName;
pub use port::{
    Attribute, AttributeValue, Capabilities, Clock, Condition, Entry, Event, EventSink,
    LocalHandle, LocalStorage, Metadata, Meter, OpContext, Operation, Page, PageRequest,
    SharedStorage, Span, SpanHandle, Storage, Tracer, Version, Written,
};
pub use rng::Rng;
pub use roster::{Backend, HealthCheck, MAX_DEPTH};
pub use sync::{AbortController, AbortSignal, Aborted, RandCoreRng, SeededRng};
pub use time::Instant;

/// The programs of the README, compiled and run as tests.
#[cfg(all(doctest, feature = "tokio", feature = "object-store"))]
#[doc = include_str!("../README.md")]
mod readme {}
