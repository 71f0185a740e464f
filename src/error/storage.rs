//! What an operation of a storage returns when it does not succeed.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use core::error::Error;
use core::fmt;
use core::time::Duration;

use super::{MuxCode, MuxError};
use crate::sync::Arc;

/// The error of a storage operation: a kind that callers can act on, and what led to it.
///
/// Equality looks at the kind alone: where an error came from does not change what it means.
///
/// ```
/// use core::time::Duration;
/// use storage_mux::{ErrorClass, StorageError, classify};
///
/// let busy = StorageError::http(503).with_retry_after(Duration::from_secs(2));
/// assert_eq!(classify(&busy), ErrorClass::Transient);
/// assert_eq!(StorageError::key_not_found().code(), "STORAGE.KEY_NOT_FOUND");
/// ```
#[derive(Clone)]
pub struct StorageError {
    kind: StorageErrorKind,
    detail: Option<Cow<'static, str>>,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

/// What kind of error it is.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum StorageErrorKind {
    /// The key holds no value.
    KeyNotFound,
    /// The key is empty, holds a NUL, or is too long for the backend.
    InvalidKey,
    /// The backend does not have this operation.
    Unsupported,
    /// The credential must be renewed; no backend can be asked with it.
    CredentialExpired,
    /// The answer of an HTTP service. 412 also stands for a condition of `set_if` that did not
    /// hold, and 416 for a range that starts past the end, whatever the backend.
    Http {
        /// The status code.
        status: u16,
        /// How long the service asked to be left alone.
        retry_after: Option<Duration>,
    },
    /// The network failed below the protocol.
    Network(NetworkFault),
    /// The caller gave up.
    Aborted,
    /// An error of a mux that is itself a backend.
    Mux(MuxError),
    /// Anything else.
    Other,
}

/// How the network failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum NetworkFault {
    /// The peer dropped an open connection.
    Reset,
    /// The peer did not answer.
    TimedOut,
    /// The peer does not listen.
    Refused,
    /// Anything else below the protocol: name look-up, routing, TLS.
    Other,
}

impl StorageError {
    /// An error of the given kind with nothing more to say.
    #[must_use]
    pub const fn new(kind: StorageErrorKind) -> Self {
        Self { kind, detail: None, source: None }
    }

    /// `STORAGE.KEY_NOT_FOUND`. Allocates nothing.
    #[must_use]
    pub const fn key_not_found() -> Self {
        Self::new(StorageErrorKind::KeyNotFound)
    }

    /// `STORAGE.INVALID_KEY`, with what is wrong with the key.
    #[must_use]
    pub fn invalid_key(what: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StorageErrorKind::InvalidKey).with_detail(what)
    }

    /// `STORAGE.UNSUPPORTED`. Allocates nothing.
    #[must_use]
    pub const fn unsupported() -> Self {
        Self::new(StorageErrorKind::Unsupported)
    }

    /// `STORAGE_CDN.CREDENTIAL_EXPIRED`.
    #[must_use]
    pub const fn credential_expired() -> Self {
        Self::new(StorageErrorKind::CredentialExpired)
    }

    /// The answer of an HTTP service, as its status.
    #[must_use]
    pub const fn http(status: u16) -> Self {
        Self::new(StorageErrorKind::Http { status, retry_after: None })
    }

    /// The condition of a `set_if` did not hold: HTTP 412, whatever the backend.
    #[must_use]
    pub const fn precondition_failed() -> Self {
        Self::http(412)
    }

    /// A range starts at or past the end of the value: HTTP 416, whatever the backend.
    #[must_use]
    pub const fn range_not_satisfiable() -> Self {
        Self::http(416)
    }

    /// A fault below the protocol.
    #[must_use]
    pub const fn network(fault: NetworkFault) -> Self {
        Self::new(StorageErrorKind::Network(fault))
    }

    /// The caller gave up.
    #[must_use]
    pub const fn aborted() -> Self {
        Self::new(StorageErrorKind::Aborted)
    }

    /// Any other error. It counts as transient: what is not understood may pass.
    pub fn other(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::new(StorageErrorKind::Other).with_source(source)
    }

    /// Sets how long the service asked to be left alone. Only an HTTP error carries it; on any
    /// other kind this changes nothing.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        if let StorageErrorKind::Http { retry_after, .. } = &mut self.kind {
            *retry_after = Some(wait);
        }
        self
    }

    /// Adds a few words on what happened. They are shown on the same line.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<Cow<'static, str>>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Adds the error that led to this one.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(Arc::from(source.into()));
        self
    }

    /// The kind.
    #[must_use]
    pub const fn kind(&self) -> &StorageErrorKind {
        &self.kind
    }

    /// The code: for an error of a nested mux, the code of that mux.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match &self.kind {
            StorageErrorKind::KeyNotFound => "STORAGE.KEY_NOT_FOUND",
            StorageErrorKind::InvalidKey => "STORAGE.INVALID_KEY",
            StorageErrorKind::Unsupported => "STORAGE.UNSUPPORTED",
            StorageErrorKind::CredentialExpired => "STORAGE_CDN.CREDENTIAL_EXPIRED",
            StorageErrorKind::Http { .. } => "STORAGE.HTTP_STATUS",
            StorageErrorKind::Network(NetworkFault::Reset) => "STORAGE.NETWORK_RESET",
            StorageErrorKind::Network(NetworkFault::TimedOut) => "STORAGE.NETWORK_TIMED_OUT",
            StorageErrorKind::Network(NetworkFault::Refused) => "STORAGE.NETWORK_REFUSED",
            StorageErrorKind::Network(NetworkFault::Other) => "STORAGE.NETWORK_FAILED",
            StorageErrorKind::Aborted => "STORAGE.ABORTED",
            StorageErrorKind::Mux(error) => error.code().as_str(),
            StorageErrorKind::Other => "STORAGE.OTHER",
        }
    }

    /// The mux error inside, where this is one.
    #[must_use]
    pub fn as_mux(&self) -> Option<&MuxError> {
        match &self.kind {
            StorageErrorKind::Mux(error) => Some(error),
            _ => None,
        }
    }

    /// Whether this is a mux error of the given code.
    #[must_use]
    pub fn is_mux(&self, code: MuxCode) -> bool {
        self.as_mux().is_some_and(|error| error.code() == code)
    }

    /// Whether the key was missing.
    #[must_use]
    pub fn is_key_not_found(&self) -> bool {
        matches!(self.kind, StorageErrorKind::KeyNotFound)
    }

    /// Whether the condition of a `set_if` did not hold.
    #[must_use]
    pub fn is_precondition_failed(&self) -> bool {
        matches!(self.kind, StorageErrorKind::Http { status: 412, .. })
    }

    /// How long the backend asked to be left alone, where it said so.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self.kind {
            StorageErrorKind::Http { retry_after, .. } => retry_after,
            _ => None,
        }
    }

    fn parts(&self) -> (&'static str, &'static str) {
        match &self.kind {
            StorageErrorKind::KeyNotFound => {
                ("key not found", "write it first, or look for another")
            }
            StorageErrorKind::InvalidKey => {
                ("invalid key", "use a key that is not empty, not too long and without a NUL")
            }
            StorageErrorKind::Unsupported => {
                ("the backend lacks the operation", "ask its capabilities first")
            }
            StorageErrorKind::CredentialExpired => {
                ("credential expired", "renew it and call again")
            }
            StorageErrorKind::Http { status: 412, .. } => {
                ("the condition did not hold", "read the current version and decide again")
            }
            StorageErrorKind::Http { status: 416, .. } => {
                ("the range starts past the end", "ask for the size first")
            }
            StorageErrorKind::Http { .. } => ("the service answered", "see its documentation"),
            StorageErrorKind::Network(NetworkFault::Reset) => ("connection reset", "call again"),
            StorageErrorKind::Network(NetworkFault::TimedOut) => {
                ("network time-out", "see that the peer is reachable")
            }
            StorageErrorKind::Network(NetworkFault::Refused) => {
                ("connection refused", "see that the peer is running")
            }
            StorageErrorKind::Network(NetworkFault::Other) => {
                ("network failure", "see the source for what failed")
            }
            StorageErrorKind::Aborted => {
                ("aborted by the caller", "call again if it is still wanted")
            }
            StorageErrorKind::Mux(_) => ("", ""),
            StorageErrorKind::Other => ("the backend failed", "see the source for what failed"),
        }
    }
}

impl PartialEq for StorageError {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

impl From<MuxError> for StorageError {
    fn from(error: MuxError) -> Self {
        Self::new(StorageErrorKind::Mux(error))
    }
}

impl Error for StorageError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.kind {
            // A mux error speaks for itself: this one is only its envelope.
            StorageErrorKind::Mux(error) => error.source(),
            _ => self.source.as_deref().map(|source| source as &(dyn Error + 'static)),
        }
    }
}

impl fmt::Display for StorageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let StorageErrorKind::Mux(error) = &self.kind {
            return fmt::Display::fmt(error, f);
        }
        let (what, advice) = self.parts();
        f.write_str(what)?;
        if let StorageErrorKind::Http { status, retry_after } = &self.kind {
            write!(f, " (http {status}")?;
            if let Some(wait) = retry_after {
                write!(f, ", retry after {wait:?}")?;
            }
            f.write_str(")")?;
        }
        if let Some(detail) = &self.detail {
            // What a foreign system said may hold a line break; the message stays on one line.
            let breaks = |each: char| each.is_control() || matches!(each, '\u{2028}' | '\u{2029}');
            for (index, part) in detail.split(breaks).enumerate() {
                f.write_str(if index == 0 { ": " } else { " " })?;
                f.write_str(part)?;
            }
        }
        write!(f, "; {advice}")
    }
}

impl fmt::Debug for StorageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("StorageError");
        shown.field("kind", &self.kind);
        if let Some(detail) = &self.detail {
            shown.field("detail", detail);
        }
        if let Some(source) = &self.source {
            shown.field("source", source);
        }
        shown.finish()
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for StorageError {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "{=str}: {}", self.code(), defmt::Display2Format(self));
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for StorageError {
    /// The code and the text: what a log or a dashboard needs.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;

        let mut fields = serializer.serialize_struct("StorageError", 2)?;
        fields.serialize_field("code", self.code())?;
        fields.serialize_field("message", &alloc::format!("{self}"))?;
        fields.end()
    }
}
