//! Who belongs to a mux: a snapshot that calls take, and the one place that replaces it.
//!
//! - [`Backend`]: what joins a mux. [`Member`]: the same with health, counters and calls in flight.
//! - [`Roster`]: an immutable snapshot of all members. A call keeps the one it started with.
//! - [`Rosters`]: the current snapshot, replaced by changes of membership and of health.

mod change;
mod drain;
mod health_check;
mod member;
#[cfg(all(test, loom))]
mod models;
mod snapshot;

pub use change::MAX_DEPTH;
pub(crate) use change::Rosters;
pub(crate) use drain::Draining;
pub use health_check::HealthCheck;
pub use member::Backend;
pub(crate) use member::Member;
pub(crate) use snapshot::Roster;
