//! A point in time that does not know where it came from.
//!
//! Decisions take `now` as an argument of this type; only a [`Clock`](crate::Clock) makes one.

use core::fmt;
use core::ops::{Add, Sub};
use core::time::Duration;

/// A monotonic point in time: nanoseconds since the epoch of the clock that gave it.
///
/// Eight bytes on every target. All arithmetic saturates: a duration that would overflow means
/// "practically never", and a clock that jumps back yields a zero difference, not a panic.
/// Instants of different clocks must not be mixed.
///
/// ```
/// use core::time::Duration;
/// use storage_mux::Instant;
///
/// let start = Instant::from_nanos(5);
/// assert_eq!(start + Duration::MAX, Instant::MAX);
/// assert_eq!(start.saturating_duration_since(Instant::from_nanos(9)), Duration::ZERO);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct Instant(u64);

impl Instant {
    /// The epoch of the clock.
    pub const ZERO: Self = Self(0);
    /// The last instant that can be told, some 584 years after the epoch: "never".
    pub const MAX: Self = Self(u64::MAX);

    /// The instant that lies `nanos` nanoseconds after the epoch.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// The instant that lies `elapsed` after the epoch, or [`Instant::MAX`] if it is too far.
    #[must_use]
    pub fn from_epoch(elapsed: Duration) -> Self {
        Self::ZERO + elapsed
    }

    /// Nanoseconds since the epoch.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The time from `earlier` to `self`, zero if `earlier` is the later one.
    #[must_use]
    pub const fn saturating_duration_since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// The same for what is only counted.
    pub(crate) const fn lapse_since(self, earlier: Self) -> Lapse {
        Lapse(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, rhs: Duration) -> Self {
        Self(self.0.saturating_add(nanos(rhs)))
    }
}

impl Sub<Instant> for Instant {
    type Output = Duration;

    fn sub(self, rhs: Instant) -> Duration {
        self.saturating_duration_since(rhs)
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", Duration::from_nanos(self.0))
    }
}

/// A length of time in nanoseconds. A [`Duration`] keeps seconds and the rest apart: to count one it
/// would be put together by a division and taken apart again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lapse(u64);

impl Lapse {
    /// In nanoseconds, `u64::MAX` where it is longer than can be told.
    pub(crate) const fn as_nanos(self) -> u64 {
        self.0
    }

    pub(crate) const fn as_duration(self) -> Duration {
        Duration::from_nanos(self.0)
    }
}

impl From<Duration> for Lapse {
    fn from(duration: Duration) -> Self {
        Self(nanos(duration))
    }
}

/// The nanoseconds of a duration, `u64::MAX` for one that is longer than can be told.
pub(crate) fn nanos(duration: Duration) -> u64 {
    let whole = duration.as_secs().checked_mul(1_000_000_000);
    let all = whole.and_then(|whole| whole.checked_add(u64::from(duration.subsec_nanos())));
    all.unwrap_or(u64::MAX)
}

/// A duration in milliseconds with its fraction, the unit of the telemetry attributes.
pub(crate) fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}
