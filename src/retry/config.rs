//! How options are read from a configuration file and written to one.
//!
//! Serde names a field that is unknown or missing, but not one whose value does not fit. These
//! readers do.

use core::time::Duration;

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::Serializer;

fn read<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    field: &'static str,
    input: D,
) -> Result<T, D::Error> {
    T::deserialize(input).map_err(|error| D::Error::custom(format_args!("{field}: {error}")))
}

macro_rules! fields {
    ($($field:ident: $type:ty;)*) => {$(
        pub(super) fn $field<'de, D: Deserializer<'de>>(input: D) -> Result<$type, D::Error> {
            read::<Reading<$type>, D>(stringify!($field), input).map(|reading| reading.0)
        }
    )*};
}

fields! {
    max_attempts: u32;
    backoff: super::Backoff;
    jitter: super::Jitter;
    delay_ms: Duration;
    initial_ms: Duration;
    increment_ms: Duration;
    factor: f64;
    max_ms: Duration;
    timeout_ms: Duration;
    failure_threshold: u32;
    success_threshold: u32;
    half_open_max: u32;
}

/// The maximum of a linear backoff, which may be absent.
pub(super) fn max_ms_if_any<'de, D: Deserializer<'de>>(
    input: D,
) -> Result<Option<Duration>, D::Error> {
    let millis: Option<u64> = read("max_ms", input)?;
    Ok(millis.map(Duration::from_millis))
}

/// A value as a configuration spells it: itself, or a duration as whole milliseconds.
struct Reading<T>(T);

macro_rules! as_themselves {
    ($($type:ty),*) => {$(
        impl<'de> Deserialize<'de> for Reading<$type> {
            fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
                <$type>::deserialize(input).map(Self)
            }
        }
    )*};
}

as_themselves!(u32, f64, super::Backoff, super::Jitter);

impl<'de> Deserialize<'de> for Reading<Duration> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        u64::deserialize(input).map(|millis| Self(Duration::from_millis(millis)))
    }
}

/// Whole milliseconds, rounded up so that a short wait does not become none, and at most `u64::MAX`.
fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

pub(super) fn write_millis<S: Serializer>(value: &Duration, output: S) -> Result<S::Ok, S::Error> {
    output.serialize_u64(millis(*value))
}

pub(super) fn write_millis_if_any<S: Serializer>(
    value: &Option<Duration>,
    output: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => output.serialize_some(&millis(*value)),
        None => output.serialize_none(),
    }
}

/// Makes a type readable whose derived reader looks at its fields one by one: what was read is
/// validated as a whole before it is handed out.
macro_rules! validated {
    ($($type:ty),*) => {$(
        impl serde::Serialize for $type {
            fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
                <$type>::serialize(self, output)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
                let options = <$type>::deserialize(input)?;
                options.validate().map_err(D::Error::custom)?;
                Ok(options)
            }
        }
    )*};
}

validated!(super::RetryOptions, super::Backoff, super::CircuitBreakerOptions);
