//! The options of a mux as a configuration file spells them.

use core::time::Duration;

use serde::de::{Deserialize, Deserializer, Error};

use super::MuxOptions;
use crate::error::MuxError;
use crate::mux_mode::MuxMode;
use crate::retry::RetryOptions;

/// The document: every field may be missing, none may be unknown, durations are milliseconds.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Document {
    #[serde(deserialize_with = "mode")]
    mode: MuxMode,
    #[serde(deserialize_with = "backend_timeout_ms")]
    backend_timeout_ms: u64,
    #[serde(deserialize_with = "retry")]
    retry: RetryOptions,
    #[serde(deserialize_with = "cooldown_base_ms")]
    cooldown_base_ms: u64,
    #[serde(deserialize_with = "cooldown_cap_ms")]
    cooldown_cap_ms: u64,
    #[serde(
        deserialize_with = "health_check_interval_ms",
        skip_serializing_if = "Option::is_none"
    )]
    health_check_interval_ms: Option<u64>,
    #[serde(deserialize_with = "throw_on_fanout_partial")]
    throw_on_fanout_partial: bool,
}

/// Serde names a field that is unknown, but not one whose value does not fit. These do.
macro_rules! named_fields {
    ($($field:ident: $type:ty;)*) => {$(
        fn $field<'de, D: Deserializer<'de>>(input: D) -> Result<$type, D::Error> {
            <$type>::deserialize(input)
                .map_err(|error| D::Error::custom(format_args!("`{}`: {error}", stringify!($field))))
        }
    )*};
}

named_fields! {
    mode: MuxMode;
    backend_timeout_ms: u64;
    retry: RetryOptions;
    cooldown_base_ms: u64;
    cooldown_cap_ms: u64;
    health_check_interval_ms: Option<u64>;
    throw_on_fanout_partial: bool;
}

impl Default for Document {
    fn default() -> Self {
        MuxOptions::default().into()
    }
}

impl From<MuxOptions> for Document {
    fn from(options: MuxOptions) -> Self {
        Self {
            mode: options.mode,
            backend_timeout_ms: millis(options.backend_timeout),
            retry: options.retry,
            cooldown_base_ms: millis(options.cooldown_base),
            cooldown_cap_ms: millis(options.cooldown_cap),
            health_check_interval_ms: options.health_check_interval.map(millis),
            throw_on_fanout_partial: options.throw_on_fanout_partial,
        }
    }
}

impl TryFrom<Document> for MuxOptions {
    type Error = MuxError;

    fn try_from(document: Document) -> Result<Self, MuxError> {
        let options = Self {
            mode: document.mode,
            backend_timeout: Duration::from_millis(document.backend_timeout_ms),
            retry: document.retry,
            cooldown_base: Duration::from_millis(document.cooldown_base_ms),
            cooldown_cap: Duration::from_millis(document.cooldown_cap_ms),
            health_check_interval: document.health_check_interval_ms.map(Duration::from_millis),
            throw_on_fanout_partial: document.throw_on_fanout_partial,
        };
        options.validate().map(|()| options)
    }
}

/// Whole milliseconds, rounded up so that a short wait does not become none, and at most as many
/// as can be told.
fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}
