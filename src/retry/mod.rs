//! Trying again, giving up in time, and leaving the sick alone. Usable without a mux.
//!
//! - [`retry`]: calls a function until it succeeds, with a [`Backoff`] and a [`Jitter`] in between.
//! - [`with_timeout`]: gives a call so much time and no more.
//! - [`CircuitBreaker`]: makes no calls for a while where the last ones failed.
//! - [`RetryError`]: the one family of errors of all three.
//!
//! They nest as futures do. Time comes from a [`Clock`](crate::Clock) and chance from an
//! [`Rng`](crate::Rng) that the caller hands in; there is no global state. Each attempt under its
//! own limit, and none once the caller has given up:
//!
//! ```
//! # use storage_mux::sim::{FakeClock, run};
//! use core::time::Duration;
//! use storage_mux::SeededRng;
//! use storage_mux::retry::{Backoff, Jitter, RetryError, RetryOptions, retry, with_timeout};
//!
//! # let (clock, rng) = (FakeClock::new(), SeededRng::new(1));
//! # let hanging_call = || core::future::pending::<Result<(), &str>>();
//! # run(&clock, async {
//! let options = RetryOptions::new()
//!     .with_backoff(Backoff::constant(Duration::from_secs(1)))
//!     .with_jitter(Jitter::None);
//! let limit = Duration::from_secs(2);
//! let result = retry(&options, &clock, &rng)
//!     .run(|attempt| with_timeout(&clock, limit, attempt, hanging_call()))
//!     .await
//!     .map_err(RetryError::flatten);
//! assert_eq!(result, Err(RetryError::Timeout { attempt: 3, limit }));
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod backoff;
mod breaker;
#[cfg(feature = "serde")]
mod config;
mod error;
mod jitter;
mod options;
mod run;
mod timeout;

pub use backoff::{Backoff, clamp_delay};
pub use breaker::{
    CircuitBreaker, CircuitBreakerOptions, CircuitState, Permit, StateChange, Verdict,
};
pub use error::{CircuitOpen, InvalidOption, RetryError};
pub use jitter::Jitter;
pub use options::{Delays, RetryOptions};
pub use run::{Attempt, Retried, Retry, retry};
pub(crate) use run::{Next, Series, Tries};
pub use timeout::with_timeout;
pub(crate) use timeout::{Bounded, bounded};
