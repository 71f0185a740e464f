//! What can be set on a mux, and within which bounds.

use core::time::Duration;

#[cfg(feature = "serde")]
use super::config::Document;
use crate::drive::Settings;
use crate::error::{MuxCode, MuxError};
use crate::health::Cooldown;
use crate::mux_mode::MuxMode;
use crate::retry::RetryOptions;

/// The options of a mux. Each has a default.
///
/// | option | default | bounds |
/// |---|---|---|
/// | mode | failover | one of [`MuxMode`] |
/// | backend timeout | 30 s | above zero; [`Duration::MAX`] for none |
/// | retry | 3 tries, exponential from 100 ms, factor 2, at most 30 s, full jitter | see [`RetryOptions`] |
/// | cooldown base | 1 s | above zero, at most the cap |
/// | cooldown cap | 60 s | at least the base |
/// | health-check interval | off | above zero |
/// | throw on fan-out partial | off | |
///
/// With the feature `serde` they are read from a configuration file. There durations are whole
/// milliseconds, in fields that end in `_ms`: `backend_timeout_ms`, `cooldown_base_ms`,
/// `cooldown_cap_ms`, `health_check_interval_ms`. A field that is missing has its default; one that
/// is unknown, or whose value is out of range, is an error that names it.
///
/// ```toml
/// mode = "mirror"
/// backend_timeout_ms = 2500
/// cooldown_base_ms = 500
/// cooldown_cap_ms = 8000
/// health_check_interval_ms = 15000
/// throw_on_fanout_partial = true
///
/// [retry]
/// max_attempts = 5
/// jitter = "equal"
///
/// [retry.backoff]
/// strategy = "exponential" # or "constant" with delay_ms, "linear" with initial_ms, increment_ms
/// initial_ms = 50
/// factor = 3.0
/// max_ms = 4000
/// ```
///
/// ```
/// use core::time::Duration;
/// use storage_mux::MuxOptions;
///
/// let options = MuxOptions::new().with_backend_timeout(Duration::from_secs(2));
/// assert_eq!(options.backend_timeout(), Duration::from_secs(2));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Document", into = "Document"))]
pub struct MuxOptions {
    pub(super) mode: MuxMode,
    pub(super) backend_timeout: Duration,
    pub(super) retry: RetryOptions,
    pub(super) cooldown_base: Duration,
    pub(super) cooldown_cap: Duration,
    #[cfg_attr(
        feature = "serde",
        serde(rename = "health_check_interval_ms", with = "maybe_millis")
    )]
    pub(super) health_check_interval: Option<Duration>,
    pub(super) throw_on_fanout_partial: bool,
}

impl Default for MuxOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl MuxOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self {
            mode: MuxMode::Failover,
            backend_timeout: Duration::from_secs(30),
            retry: RetryOptions::default(),
            cooldown_base: Duration::from_secs(1),
            cooldown_cap: Duration::from_secs(60),
            health_check_interval: None,
            throw_on_fanout_partial: false,
        }
    }

    /// Sets how calls are spread over the backends.
    #[must_use]
    pub const fn with_mode(mut self, mode: MuxMode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets how long one try of a backend may take, and how long a stream may rest between chunks.
    #[must_use]
    pub const fn with_backend_timeout(mut self, timeout: Duration) -> Self {
        self.backend_timeout = timeout;
        self
    }

    /// Sets how one backend is asked again before the call moves on. Only after a failure that may
    /// pass: a timeout is not retried in place, since the next would cost as much.
    #[must_use]
    pub fn with_retry(mut self, retry: RetryOptions) -> Self {
        self.retry = retry;
        self
    }

    /// Sets how long a failed backend rests: at first, and at most. Let the latter be longer than
    /// the others may take to time out; else, where two hang, each call finds one rested and pays
    /// for it.
    #[must_use]
    pub const fn with_cooldown(mut self, base: Duration, cap: Duration) -> Self {
        self.cooldown_base = base;
        self.cooldown_cap = cap;
        self
    }

    /// Sets how long to wait between two health checks of a backend. Off by default.
    #[must_use]
    pub const fn with_health_check_interval(mut self, interval: Duration) -> Self {
        self.health_check_interval = Some(interval);
        self
    }

    /// Sets whether a write that reached some backends and not others is an error,
    /// `WRITE_FANOUT_PARTIAL`, besides being an event. The write stands either way.
    #[must_use]
    pub const fn with_throw_on_fanout_partial(mut self, throw: bool) -> Self {
        self.throw_on_fanout_partial = throw;
        self
    }

    /// How calls are spread over the backends.
    #[must_use]
    pub const fn mode(&self) -> MuxMode {
        self.mode
    }

    /// How long one try of a backend may take.
    #[must_use]
    pub const fn backend_timeout(&self) -> Duration {
        self.backend_timeout
    }

    /// How one backend is asked again before the call moves on.
    #[must_use]
    pub const fn retry(&self) -> &RetryOptions {
        &self.retry
    }

    /// How long a failed backend rests: at first, and at most.
    #[must_use]
    pub const fn cooldown(&self) -> (Duration, Duration) {
        (self.cooldown_base, self.cooldown_cap)
    }

    /// How long to wait between two health checks of a backend. `None` where they are off.
    #[must_use]
    pub const fn health_check_interval(&self) -> Option<Duration> {
        self.health_check_interval
    }

    /// Whether a write that reached some backends and not others is an error.
    #[must_use]
    pub const fn throw_on_fanout_partial(&self) -> bool {
        self.throw_on_fanout_partial
    }

    /// Checks every option.
    ///
    /// # Errors
    ///
    /// `STORAGE_MUX.INVALID_OPTION`, naming the first option that is out of range.
    pub fn validate(&self) -> Result<(), MuxError> {
        let refuse = |what: &str| Err(MuxError::new(MuxCode::InvalidOption).with_detail(what));
        if self.backend_timeout.is_zero() {
            return refuse("`backend_timeout` must be above zero");
        }
        if self.cooldown_base.is_zero() {
            return refuse("`cooldown_base` must be above zero");
        }
        if self.cooldown_cap < self.cooldown_base {
            return refuse("`cooldown_cap` must be at least `cooldown_base`");
        }
        if self.health_check_interval.is_some_and(|interval| interval.is_zero()) {
            return refuse("`health_check_interval` must be above zero");
        }
        self.retry.validate().map_err(|error| {
            MuxError::new(MuxCode::InvalidOption).with_detail(alloc::format!("`retry`: {error}"))
        })
    }

    pub(super) fn settings(self) -> Result<Settings, MuxError> {
        self.validate()?;
        Ok(Settings {
            mode: self.mode,
            backend_timeout: self.backend_timeout,
            retry: self.retry,
            health_check_interval: self.health_check_interval,
            throw_on_fanout_partial: self.throw_on_fanout_partial,
            cooldown: Cooldown { base: self.cooldown_base, cap: self.cooldown_cap },
        })
    }
}
