//! What the errors of OpenDAL mean here. The original stays in the source chain.

use alloc::string::{String, ToString};
use core::time::Duration;
use std::io;

use ::opendal::{Error as Foreign, ErrorKind};

use crate::backend::faults::{blocked_by_another_name, chain, io_fault};
use crate::error::{ErrorClass, StorageError, StorageErrorKind, classify};

/// How the services that speak HTTP put the head of an answer into the text of an error. There is
/// no other way to it; should the text change, these errors count as unknown and so as transient.
const STATUS_TEXT: &str = "response: Parts { status: ";

/// How the same text shows the header that says how long to wait.
const RETRY_AFTER_TEXT: &str = "\"retry-after\": \"";

/// How AWS says that the credential is good but over.
const EXPIRED_TEXTS: [&str; 2] = ["ExpiredToken", "TokenRefreshRequired"];

/// How object stores say that it is not the key that is missing.
const NO_BUCKET_TEXTS: [&str; 2] = ["NoSuchBucket", "ContainerNotFound"];

/// The error of a read.
///
/// A directory in the place of the key, or a file in the place of a directory on the way to it,
/// means that the key holds no value.
pub(super) fn read_error(error: Foreign) -> StorageError {
    if is_blocked(&error) {
        return StorageError::key_not_found().with_source(error);
    }
    storage_error(error)
}

/// The error of a write without a condition.
///
/// Where a directory stands in the place of the key, or a file in the way to it, no write can
/// succeed while that other key is there. What a write does not find is never the key.
pub(super) fn write_error(error: Foreign) -> StorageError {
    if is_blocked(&error) || error.kind() == ErrorKind::AlreadyExists {
        return StorageError::invalid_key("another key has a part of this one as its name")
            .with_source(error);
    }
    store_error(error)
}

/// The error of what has no key to miss: where something is not found, it is the store.
pub(super) fn store_error(error: Foreign) -> StorageError {
    match error.kind() {
        ErrorKind::NotFound => StorageError::other(error),
        _ => storage_error(error),
    }
}

/// The error of anything else.
pub(super) fn storage_error(error: Foreign) -> StorageError {
    let kind = meaning(&error);
    // What the service calls temporary is worth another try, whatever it is.
    let passes = classify(&kind) == ErrorClass::Transient;
    let kind = match error.is_temporary() && !passes {
        true => StorageError::new(StorageErrorKind::Other),
        false => kind,
    };
    kind.with_source(error)
}

fn meaning(error: &Foreign) -> StorageError {
    let unknown = || StorageError::new(StorageErrorKind::Other);
    match error.kind() {
        ErrorKind::NotFound if says(error, &NO_BUCKET_TEXTS) => unknown(),
        ErrorKind::NotFound => StorageError::key_not_found(),
        ErrorKind::Unsupported => StorageError::unsupported(),
        ErrorKind::PermissionDenied if says(error, &EXPIRED_TEXTS) => {
            StorageError::credential_expired()
        }
        ErrorKind::PermissionDenied => StorageError::http(403),
        ErrorKind::RateLimited => patient(StorageError::http(429), &error.to_string()),
        ErrorKind::ConditionNotMatch | ErrorKind::AlreadyExists => {
            StorageError::precondition_failed()
        }
        ErrorKind::RangeNotSatisfied => StorageError::range_not_satisfiable(),
        ErrorKind::Conflict => StorageError::http(409),
        ErrorKind::IsADirectory | ErrorKind::NotADirectory | ErrorKind::IsSameFile => {
            StorageError::invalid_key("the service keeps something else under this name")
        }
        // A wrong setting, as any fault of one backend, is a reason to ask the next.
        ErrorKind::ConfigInvalid => unknown(),
        _ => unexpected(error).unwrap_or_else(unknown),
    }
}

/// What lies below an error that OpenDAL itself has no word for.
fn unexpected(error: &Foreign) -> Option<StorageError> {
    let fault = chain(error).find_map(|each| io_fault(each.downcast_ref::<io::Error>()?));
    if fault.is_some() {
        return fault;
    }
    let text = error.to_string();
    if EXPIRED_TEXTS.iter().any(|code| text.contains(code)) {
        return Some(StorageError::credential_expired());
    }
    let (_, status) = text.split_once(STATUS_TEXT)?;
    let status = status.get(..3)?.parse().ok()?;
    match status {
        // A key that is missing has a kind of its own, so it is something else.
        200..400 | 404 => None,
        status => Some(patient(StorageError::http(status), &text)),
    }
}

/// The error with the time to wait, where the text of the answer has one in seconds.
fn patient(error: StorageError, text: &str) -> StorageError {
    let seconds = text.split_once(RETRY_AFTER_TEXT).and_then(|(_, rest)| rest.split_once('"'));
    match seconds.and_then(|(seconds, _)| seconds.parse().ok()) {
        Some(seconds) => error.with_retry_after(Duration::from_secs(seconds)),
        None => error,
    }
}

fn is_blocked(error: &Foreign) -> bool {
    matches!(error.kind(), ErrorKind::IsADirectory | ErrorKind::NotADirectory)
        || blocked_by_another_name(error)
}

fn says(error: &Foreign, words: &[&str]) -> bool {
    let text: String = error.to_string();
    words.iter().any(|word| text.contains(word))
}
