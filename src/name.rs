//! The name of a backend inside a mux.

use core::borrow::Borrow;
use core::fmt;
use core::ops::Deref;

use crate::sync::Arc;

/// The name of a backend: shared text, cheap to clone into events, errors and statistics.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BackendName(Arc<str>);

impl BackendName {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for BackendName {
    fn from(name: &str) -> Self {
        Self(Arc::from(name))
    }
}

impl Deref for BackendName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for BackendName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for BackendName {
    fn eq(&self, other: &str) -> bool {
        &*self.0 == other
    }
}

impl PartialEq<&str> for BackendName {
    fn eq(&self, other: &&str) -> bool {
        &*self.0 == *other
    }
}

impl fmt::Debug for BackendName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl fmt::Display for BackendName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for BackendName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for BackendName {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <alloc::string::String as serde::Deserialize>::deserialize(deserializer)?;
        Ok(Self::from(text.as_str()))
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for BackendName {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "{=str}", &self.0);
    }
}
