//! Transient, semantic or abort: the one judgement that decides whether a call moves on.

use super::{MuxCode, StorageError, StorageErrorKind};

/// What an error means for the call and for the backend that gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ErrorClass {
    /// The backend is in trouble; another one, or the same one later, may serve the call.
    Transient,
    /// The backend answered, and the answer is no. Another backend would not help.
    Semantic,
    /// The caller gave up. Nobody's fault.
    Abort,
}

/// Sorts an error. Pure and total: every error has exactly one class.
///
/// An error that is not understood is transient, as is everything a timeout, the network or an
/// overloaded service can cause (HTTP 408, 429 and 5xx). Every other HTTP status is an answer.
#[must_use]
pub fn classify(error: &StorageError) -> ErrorClass {
    match error.kind() {
        StorageErrorKind::Aborted => ErrorClass::Abort,
        StorageErrorKind::KeyNotFound
        | StorageErrorKind::InvalidKey
        | StorageErrorKind::Unsupported
        | StorageErrorKind::CredentialExpired => ErrorClass::Semantic,
        StorageErrorKind::Http { status: 408 | 429 | 500..=599, .. } => ErrorClass::Transient,
        StorageErrorKind::Http { .. } => ErrorClass::Semantic,
        StorageErrorKind::Network(_) | StorageErrorKind::Other => ErrorClass::Transient,
        StorageErrorKind::Mux(error) => match error.code() {
            MuxCode::AllBackendsDown
            | MuxCode::BackendTimeout
            | MuxCode::BackendDraining
            | MuxCode::HealthcheckFailed => ErrorClass::Transient,
            MuxCode::BackendAborted => ErrorClass::Abort,
            MuxCode::NoBackendsConfigured
            | MuxCode::InvalidMode
            | MuxCode::InvalidWeight
            | MuxCode::WriteFanoutPartial
            | MuxCode::BackendNotFound
            | MuxCode::BackendNameConflict
            | MuxCode::WeightedRequiresWeights
            | MuxCode::MirrorOriginRequired
            | MuxCode::RecursionDepthExceeded
            | MuxCode::CapacityExceeded
            | MuxCode::InvalidOption => ErrorClass::Semantic,
        },
    }
}
