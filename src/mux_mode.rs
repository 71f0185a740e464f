//! The modes by name. What each one does is in `mode/`.

use core::fmt;
use core::str::FromStr;

use crate::error::{MuxCode, MuxError};

/// How a mux spreads calls over its backends.
///
/// Parsed from and printed as the names of the contract: `failover`, and so on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum MuxMode {
    /// Backends in order: the first that can answer does.
    #[default]
    Failover,
    /// Each call goes to the next healthy backend around the circle.
    RoundRobin,
    /// Each call draws a healthy backend by weight.
    Weighted,
    /// All calls of one key go to one healthy backend.
    StickyByKey,
    /// Reads ask the first backend, the origin, and then its mirrors; writes go to all, and the
    /// origin decides.
    Shield,
    /// Reads race all healthy backends; writes go to all of them, and anyone's success is one.
    Mirror,
}

impl MuxMode {
    /// Every mode, in the order of the documentation.
    pub const ALL: [Self; 6] = [
        Self::Failover,
        Self::RoundRobin,
        Self::Weighted,
        Self::StickyByKey,
        Self::Shield,
        Self::Mirror,
    ];

    /// The name of the mode, as it stands in configuration files, spans and errors.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Failover => "failover",
            Self::RoundRobin => "round-robin",
            Self::Weighted => "weighted",
            Self::StickyByKey => "sticky-by-key",
            Self::Shield => "shield",
            Self::Mirror => "mirror",
        }
    }
}

impl fmt::Display for MuxMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for MuxMode {
    type Err = MuxError;

    /// # Errors
    ///
    /// `STORAGE_MUX.INVALID_MODE` for anything but the exact name of a mode.
    fn from_str(text: &str) -> Result<Self, MuxError> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == text).ok_or_else(|| {
            let shown: alloc::string::String = text.chars().take(40).collect();
            MuxError::new(MuxCode::InvalidMode).with_detail(alloc::format!("{shown:?} is no mode"))
        })
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for MuxMode {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for MuxMode {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <alloc::string::String as serde::Deserialize>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
