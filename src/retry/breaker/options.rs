//! When a breaker opens, for how long, and what closes it.

use core::time::Duration;

use crate::retry::error::InvalidOption;

/// When a breaker opens, for how long, and what closes it.
///
/// Default: opens after 5 failures in a row for 30 s, then lets 1 call through at a time and closes
/// after 1 success.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(remote = "Self", default, deny_unknown_fields)
)]
pub struct CircuitBreakerOptions {
    #[cfg_attr(feature = "serde", serde(deserialize_with = "config::failure_threshold"))]
    failure_threshold: u32,
    #[cfg_attr(feature = "serde", serde(deserialize_with = "config::success_threshold"))]
    success_threshold: u32,
    #[cfg_attr(
        feature = "serde",
        serde(
            rename = "timeout_ms",
            serialize_with = "config::write_millis",
            deserialize_with = "config::timeout_ms"
        )
    )]
    timeout: Duration,
    #[cfg_attr(feature = "serde", serde(deserialize_with = "config::half_open_max"))]
    half_open_max: u32,
}

#[cfg(feature = "serde")]
use crate::retry::config;

impl Default for CircuitBreakerOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl CircuitBreakerOptions {
    /// The default options.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            failure_threshold: 5,
            success_threshold: 1,
            timeout: Duration::from_secs(30),
            half_open_max: 1,
        }
    }

    /// How many failures in a row open the breaker. At least 1.
    #[must_use]
    pub const fn with_failure_threshold(mut self, failures: u32) -> Self {
        self.failure_threshold = failures;
        self
    }

    /// How many successes in a row close it again. At least 1.
    #[must_use]
    pub const fn with_success_threshold(mut self, successes: u32) -> Self {
        self.success_threshold = successes;
        self
    }

    /// How long it stays open. Any duration; one too long to be told means "for good".
    #[must_use]
    pub const fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How many trial calls it lets through at a time when half-open. At least 1.
    #[must_use]
    pub const fn with_half_open_max(mut self, calls: u32) -> Self {
        self.half_open_max = calls;
        self
    }

    /// How many failures in a row open the breaker.
    #[must_use]
    pub const fn failure_threshold(&self) -> u32 {
        self.failure_threshold
    }

    /// How many successes in a row close it again.
    #[must_use]
    pub const fn success_threshold(&self) -> u32 {
        self.success_threshold
    }

    /// How long it stays open.
    #[must_use]
    pub const fn timeout(&self) -> Duration {
        self.timeout
    }

    /// How many trial calls it lets through at a time when half-open.
    #[must_use]
    pub const fn half_open_max(&self) -> u32 {
        self.half_open_max
    }

    /// Looks whether the options can be used. Done wherever they enter.
    ///
    /// # Errors
    ///
    /// The first of `failure_threshold`, `success_threshold` and `half_open_max` that is zero.
    pub fn validate(&self) -> Result<(), InvalidOption> {
        for (field, count) in [
            ("failure_threshold", self.failure_threshold),
            ("success_threshold", self.success_threshold),
            ("half_open_max", self.half_open_max),
        ] {
            if count == 0 {
                return Err(InvalidOption::new(field, "must be at least 1"));
            }
        }
        Ok(())
    }
}
