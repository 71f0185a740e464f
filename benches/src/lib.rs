//! storage-mux side by side with its peers: one process, one payload, one store.
//!
//! - [`harness`]: rounds in which every case has its turn, medians, and ratios within a round.
//! - [`subject`]: the stores and muxes that are measured.
//! - [`parts`]: the library's private parts, compiled in from its sources.
//! - `get`, `fan_out`, `small`, `flat`, `threads`: what is measured, each with its rows of the table.
//! - `floor`: what no call of a mux can do without.
//! - [`counted`]: what is counted in instructions.
//! - `hang`: what a hung primary costs, and `chart`: the picture of it.
//! - `s3`: what is measured over a real server.
//!
//! `ci/bench.sh` runs `compare`; `ci/instructions.sh` counts what `instructions` executes;
//! `ci/bench_s3.sh` runs `s3`.

#[cfg(feature = "peers")]
pub mod chart;
pub mod counted;
#[cfg(feature = "peers")]
pub mod fan_out;
#[cfg(feature = "peers")]
pub mod flat;
#[cfg(feature = "peers")]
mod floor;
#[cfg(feature = "peers")]
pub mod get;
#[cfg(feature = "peers")]
pub mod hang;
pub mod harness;
pub mod parts;
#[cfg(feature = "s3")]
pub mod s3;
#[cfg(feature = "peers")]
pub mod small;
pub mod subject;
#[cfg(feature = "peers")]
pub mod threads;

// What the private parts are made of, by the names that they use.
#[allow(dead_code, unreachable_pub)]
#[path = "../../src/rng.rs"]
mod rng;
#[allow(dead_code, unreachable_pub)]
#[path = "../../src/sync/stripe.rs"]
mod stripe;
#[allow(dead_code, unreachable_pub)]
#[path = "../../src/time.rs"]
mod time;
mod sync {
    pub(crate) use super::stripe::{STRIPES, Stripe, Striped};
    pub(crate) use portable_atomic::{AtomicU32, AtomicU64, Ordering};
    pub(crate) use std::sync::Arc;
}
