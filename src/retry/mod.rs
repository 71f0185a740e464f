//! Trying again, giving up in time, and leaving the sick alone. Usable without a mux.
//!
//! - [`retry`]: calls a function until it succeeds, with a [`Backoff`] and a [`Jitter`] in between.
//!
//! Time comes from a [`Clock`](crate::Clock) and chance from an [`Rng`](crate::Rng) that the
//! caller hands in. There is no global state.

mod backoff;
mod error;
mod jitter;
mod options;
mod run;
mod timeout;

pub use backoff::{Backoff, clamp_delay};
pub use error::{InvalidOption, RetryError};
pub use jitter::Jitter;
pub use options::{Delays, RetryOptions};
pub(crate) use run::Tries;
pub use run::{Attempt, Retried, Retry, retry};
pub(crate) use timeout::{Bounded, bounded};
