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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::MuxError;
    use crate::mux_mode::MuxMode;
    use crate::name::BackendName;

    /// The class of each code, by the table of the contract. An extension is a configuration code.
    fn expected(code: &str) -> ErrorClass {
        match code {
            "STORAGE_MUX.ALL_BACKENDS_DOWN"
            | "STORAGE_MUX.BACKEND_TIMEOUT"
            | "STORAGE_MUX.BACKEND_DRAINING"
            // Not in the table: the cause of a backend's being down, as a time-out is.
            | "STORAGE_MUX.HEALTHCHECK_FAILED" => ErrorClass::Transient,
            "STORAGE_MUX.BACKEND_ABORTED" => ErrorClass::Abort,
            _ => ErrorClass::Semantic,
        }
    }

    fn codes() -> impl Iterator<Item = MuxCode> {
        MuxCode::CONTRACT.into_iter().chain(MuxCode::EXTENSIONS)
    }

    /// Spec: E-2
    #[test]
    fn every_code_of_a_nested_mux_has_the_class_of_the_table() {
        for code in codes() {
            let error = StorageError::from(MuxError::new(code));
            assert_eq!(classify(&error), expected(code.as_str()), "{code}");
        }
    }

    /// Spec: E-2
    #[test]
    fn what_led_to_a_nested_error_and_where_does_not_change_its_class() {
        let causes = [
            StorageError::aborted(),
            StorageError::key_not_found(),
            StorageError::http(503),
            MuxError::new(MuxCode::BackendAborted).into(),
            MuxError::new(MuxCode::InvalidMode).into(),
            MuxError::new(MuxCode::AllBackendsDown).into(),
        ];
        let name = BackendName::from("a");
        for code in codes() {
            for cause in &causes {
                let bare = MuxError::new(code).with_backend(&name).with_mode(MuxMode::Mirror);
                let one = bare.clone().with_source(cause.clone());
                let all = bare.with_aggregate([(name.clone(), cause.clone())].into());
                for error in [one, all] {
                    let text = alloc::format!("{error}");
                    let error = StorageError::from(error).with_detail("of no account");
                    assert_eq!(classify(&error), expected(code.as_str()), "{code}: {text}");
                }
            }
        }
    }
}
