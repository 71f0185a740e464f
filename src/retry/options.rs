//! How often and how patiently to try.

use core::time::Duration;

use super::backoff::Backoff;
#[cfg(feature = "serde")]
use super::config;
use super::error::InvalidOption;
use super::jitter::Jitter;
use crate::rng::Rng;

/// How often to try, and how long to wait in between.
///
/// Default: 3 attempts, exponential from 100 ms by a factor of 2 to at most 30 s, full jitter.
///
/// ```
/// use core::time::Duration;
/// use storage_mux::retry::{Backoff, Jitter, RetryOptions};
///
/// let options = RetryOptions::new()
///     .with_max_attempts(5)
///     .with_backoff(Backoff::constant(Duration::from_secs(1)))
///     .with_jitter(Jitter::Equal);
/// assert!(options.validate().is_ok());
/// assert_eq!(RetryOptions::none().max_attempts(), 1);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(remote = "Self", default, deny_unknown_fields)
)]
pub struct RetryOptions {
    #[cfg_attr(feature = "serde", serde(deserialize_with = "config::max_attempts"))]
    max_attempts: u32,
    #[cfg_attr(feature = "serde", serde(deserialize_with = "config::backoff"))]
    backoff: Backoff,
    #[cfg_attr(feature = "serde", serde(deserialize_with = "config::jitter"))]
    jitter: Jitter,
}

impl Default for RetryOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl RetryOptions {
    /// The default options.
    #[must_use]
    pub const fn new() -> Self {
        Self { max_attempts: 3, backoff: Backoff::new(), jitter: Jitter::Full }
    }

    /// One attempt: no retry at all.
    #[must_use]
    pub const fn none() -> Self {
        Self::new().with_max_attempts(1)
    }

    /// How often the function is called at most, the first time included. At least 1.
    #[must_use]
    pub const fn with_max_attempts(mut self, attempts: u32) -> Self {
        self.max_attempts = attempts;
        self
    }

    /// How the delay grows.
    #[must_use]
    pub const fn with_backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = backoff;
        self
    }

    /// How much of the delay is left to chance.
    #[must_use]
    pub const fn with_jitter(mut self, jitter: Jitter) -> Self {
        self.jitter = jitter;
        self
    }

    /// How often the function is called at most.
    #[must_use]
    pub const fn max_attempts(&self) -> u32 {
        self.max_attempts
    }

    /// How the delay grows.
    #[must_use]
    pub const fn backoff(&self) -> &Backoff {
        &self.backoff
    }

    /// How much of the delay is left to chance.
    #[must_use]
    pub const fn jitter(&self) -> Jitter {
        self.jitter
    }

    /// The delays of one run, from the first on.
    #[must_use]
    pub const fn delays(&self) -> Delays<'_> {
        Delays { options: self, retries: 0, previous: None }
    }

    /// Looks whether the options can be used. Done wherever they enter.
    ///
    /// # Errors
    ///
    /// The first field that is out of range: `max_attempts` of zero; a `backoff.factor` that is
    /// not finite or below 1; a `jitter` that walks although the backoff states no maximum.
    pub fn validate(&self) -> Result<(), InvalidOption> {
        if self.max_attempts == 0 {
            return Err(InvalidOption::new("max_attempts", "must be at least 1"));
        }
        self.backoff.validate()?;
        if self.jitter == Jitter::Decorrelated && self.backoff.max().is_none() {
            return Err(InvalidOption::new(
                "jitter",
                "must not be decorrelated where the backoff states no maximum to walk up to",
            ));
        }
        Ok(())
    }
}

/// The delays of one run, one after the other.
///
/// ```
/// use storage_mux::SeededRng;
/// use storage_mux::retry::RetryOptions;
///
/// let options = RetryOptions::default();
/// let mut delays = options.delays();
/// let first = delays.next(&SeededRng::new(1));
/// assert!(first <= core::time::Duration::from_millis(100));
/// ```
#[derive(Clone, Debug)]
pub struct Delays<'a> {
    options: &'a RetryOptions,
    retries: u32,
    previous: Option<Duration>,
}

impl Delays<'_> {
    /// The next delay.
    pub fn next<R: Rng + ?Sized>(&mut self, rng: &R) -> Duration {
        self.retries = self.retries.saturating_add(1);
        let RetryOptions { backoff, jitter, .. } = self.options;
        // The walk keeps to where it began; the others follow the backoff.
        let step = if *jitter == Jitter::Decorrelated { 1 } else { self.retries };
        let delay = backoff.delay(step);
        let max = backoff.max().unwrap_or(delay);
        let delay = jitter.apply(delay, self.previous.unwrap_or(delay), max, rng);
        self.previous = Some(delay);
        delay
    }
}
