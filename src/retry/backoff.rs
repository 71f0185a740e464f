//! How long to wait before each retry, before chance has its say.

use core::time::Duration;

#[cfg(feature = "serde")]
use super::config;
use super::error::InvalidOption;
use crate::time::nanos;

/// How the delay grows from retry to retry.
///
/// All arithmetic saturates and nothing panics, whatever the values: a delay that could not be
/// told in nanoseconds of 64 bits (584 years) means "practically never".
///
/// ```
/// use core::time::Duration;
/// use storage_mux::retry::Backoff;
///
/// let ms = Duration::from_millis;
/// let backoff = Backoff::exponential(ms(100), 2.0, ms(500));
/// assert_eq!([1, 2, 3, 4].map(|n| backoff.delay(n)), [ms(100), ms(200), ms(400), ms(500)]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(remote = "Self", tag = "strategy", rename_all = "kebab-case", deny_unknown_fields)
)]
#[non_exhaustive]
pub enum Backoff {
    /// The same delay each time.
    Constant {
        /// The delay.
        #[cfg_attr(
            feature = "serde",
            serde(
                rename = "delay_ms",
                serialize_with = "config::write_millis",
                deserialize_with = "config::delay_ms"
            )
        )]
        delay: Duration,
    },
    /// `initial + (attempt - 1) * increment`.
    Linear {
        /// The first delay.
        #[cfg_attr(
            feature = "serde",
            serde(
                rename = "initial_ms",
                serialize_with = "config::write_millis",
                deserialize_with = "config::initial_ms"
            )
        )]
        initial: Duration,
        /// What each further one adds.
        #[cfg_attr(
            feature = "serde",
            serde(
                rename = "increment_ms",
                serialize_with = "config::write_millis",
                deserialize_with = "config::increment_ms"
            )
        )]
        increment: Duration,
        /// The longest delay, where there is one.
        #[cfg_attr(
            feature = "serde",
            serde(
                rename = "max_ms",
                default,
                skip_serializing_if = "Option::is_none",
                serialize_with = "config::write_millis_if_any",
                deserialize_with = "config::max_ms_if_any"
            )
        )]
        max: Option<Duration>,
    },
    /// `initial * factor^(attempt - 1)`, at most `max`.
    Exponential {
        /// The first delay.
        #[cfg_attr(
            feature = "serde",
            serde(
                rename = "initial_ms",
                default = "defaults::initial",
                serialize_with = "config::write_millis",
                deserialize_with = "config::initial_ms"
            )
        )]
        initial: Duration,
        /// What each further one is multiplied by: finite and at least 1.
        #[cfg_attr(
            feature = "serde",
            serde(default = "defaults::factor", deserialize_with = "config::factor")
        )]
        factor: f64,
        /// The longest delay.
        #[cfg_attr(
            feature = "serde",
            serde(
                rename = "max_ms",
                default = "defaults::max",
                serialize_with = "config::write_millis",
                deserialize_with = "config::max_ms"
            )
        )]
        max: Duration,
    },
}

/// The default backoff: exponential from 100 ms by a factor of 2 to at most 30 s.
pub(super) mod defaults {
    use super::Duration;

    pub(in crate::retry) const fn initial() -> Duration {
        Duration::from_millis(100)
    }

    pub(in crate::retry) const fn factor() -> f64 {
        2.0
    }

    pub(in crate::retry) const fn max() -> Duration {
        Duration::from_secs(30)
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self::new()
    }
}

impl Backoff {
    /// The default: exponential from 100 ms by a factor of 2 to at most 30 s.
    #[must_use]
    pub const fn new() -> Self {
        Self::exponential(defaults::initial(), defaults::factor(), defaults::max())
    }

    /// The same delay each time.
    #[must_use]
    pub const fn constant(delay: Duration) -> Self {
        Self::Constant { delay }
    }

    /// A delay that grows by the same amount each time, without a maximum.
    #[must_use]
    pub const fn linear(initial: Duration, increment: Duration) -> Self {
        Self::Linear { initial, increment, max: None }
    }

    /// A delay that is multiplied each time, up to a maximum. The factor must be finite and at
    /// least 1, which is looked at where the options enter.
    #[must_use]
    pub const fn exponential(initial: Duration, factor: f64, max: Duration) -> Self {
        Self::Exponential { initial, factor, max }
    }

    /// The same with another maximum. A constant delay has none: it becomes that maximum if it
    /// was longer.
    #[must_use]
    pub fn with_max(self, limit: Duration) -> Self {
        match self {
            Self::Constant { delay } => Self::Constant { delay: delay.min(limit) },
            Self::Linear { initial, increment, .. } => {
                Self::Linear { initial, increment, max: Some(limit) }
            }
            Self::Exponential { initial, factor, .. } => {
                Self::Exponential { initial, factor, max: limit }
            }
        }
    }

    /// The longest delay, where one is stated.
    #[must_use]
    pub const fn max(&self) -> Option<Duration> {
        match *self {
            Self::Constant { .. } => None,
            Self::Linear { max, .. } => max,
            Self::Exponential { max, .. } => Some(max),
        }
    }

    /// The delay after attempt `attempt`, counted from one. Zero counts as one.
    #[must_use]
    pub fn delay(&self, attempt: u32) -> Duration {
        let steps = attempt.saturating_sub(1);
        match *self {
            Self::Constant { delay } => delay,
            Self::Linear { initial, increment, max } => initial
                .saturating_add(increment.saturating_mul(steps))
                .min(max.unwrap_or(Duration::MAX)),
            Self::Exponential { initial, factor, max } => {
                // Zero times infinity is not a number, and no wait is no wait.
                if initial.is_zero() {
                    return Duration::ZERO;
                }
                let grown = nanos(initial) as f64 * power(factor, steps);
                // Asked this way round, infinity and what is not a number reach the cap too.
                if grown < nanos(max) as f64 {
                    // In range by the comparison, and a cast from float saturates in any case.
                    Duration::from_nanos((grown + 0.5) as u64).min(max)
                } else {
                    max
                }
            }
        }
    }

    /// The name under which a configuration and the measurements know it.
    #[must_use]
    pub const fn strategy(&self) -> &'static str {
        match self {
            Self::Constant { .. } => "constant",
            Self::Linear { .. } => "linear",
            Self::Exponential { .. } => "exponential",
        }
    }

    pub(crate) fn validate(&self) -> Result<(), InvalidOption> {
        match self {
            Self::Exponential { factor, .. } if !(factor.is_finite() && *factor >= 1.0) => {
                Err(InvalidOption::new("backoff.factor", "must be finite and at least 1"))
            }
            _ => Ok(()),
        }
    }
}

/// Keeps a delay between two bounds. Where they contradict each other the maximum wins.
///
/// ```
/// use core::time::Duration;
/// use storage_mux::retry::clamp_delay;
///
/// let ms = Duration::from_millis;
/// assert_eq!(clamp_delay(ms(5), ms(10), ms(20)), ms(10));
/// assert_eq!(clamp_delay(ms(50), ms(10), ms(20)), ms(20));
/// assert_eq!(clamp_delay(ms(50), ms(30), ms(20)), ms(20));
/// ```
#[must_use]
pub fn clamp_delay(delay: Duration, min: Duration, max: Duration) -> Duration {
    delay.max(min).min(max)
}

/// Power by squaring: `core` has none for floats. Infinite where it is too large.
fn power(base: f64, mut exponent: u32) -> f64 {
    let (mut result, mut square) = (1.0, base);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result *= square;
        }
        square *= square;
        exponent >>= 1;
    }
    result
}
