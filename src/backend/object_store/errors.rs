//! What the errors of a foreign store mean here. The original stays in the source chain.

use alloc::string::ToString;
use core::error::Error;
use std::io;

use ::object_store::Error as Foreign;

use crate::error::{NetworkFault, StorageError, StorageErrorKind};

/// How the stores of `object_store` that speak HTTP begin the text of an answer they did not
/// expect. The type behind it is not public, so the text is all there is; should it change, these
/// errors count as unknown and so as transient. A store that answers `Retry-After` keeps it to
/// itself.
const STATUS_TEXT: &str = "Server returned non-2xx status code: ";

/// How AWS says that the credential is good but over.
const EXPIRED_TEXT: &str = "<Code>ExpiredToken</Code>";

/// How S3, Google Cloud Storage and Azure say that it is not the key that is missing.
const NO_BUCKET_TEXTS: [&str; 2] = ["<Code>NoSuchBucket</Code>", "<Code>ContainerNotFound</Code>"];

/// The error of a read.
///
/// A directory in the place of the key, or a file in the place of a directory on the way to it,
/// means that the key holds no value.
pub(super) fn read_error(error: Foreign) -> StorageError {
    if blocked_by_another_name(&error) {
        return StorageError::key_not_found().with_source(error);
    }
    storage_error(error)
}

/// The error of a write.
///
/// Where a directory stands in the place of the key, or a file in the way to it, no write can
/// succeed while that other key is there. What a write does not find is never the key.
pub(super) fn write_error(error: Foreign) -> StorageError {
    if blocked_by_another_name(&error) {
        return StorageError::invalid_key("another key has a part of this one as its name")
            .with_source(error);
    }
    store_error(error)
}

/// The error of what has no key to miss: where something is not found, it is the store.
pub(super) fn store_error(error: Foreign) -> StorageError {
    if matches!(error, Foreign::NotFound { .. }) {
        return StorageError::other(error);
    }
    let error = storage_error(error);
    match error.kind() {
        StorageErrorKind::Http { status: 404, .. } => StorageError::other(error),
        _ => error,
    }
}

/// The error of anything else.
pub(super) fn storage_error(error: Foreign) -> StorageError {
    let kind = match &error {
        Foreign::NotFound { source, .. } if tells_of_no_bucket(&**source) => {
            StorageError::new(StorageErrorKind::Other)
        }
        Foreign::NotFound { .. } => StorageError::key_not_found(),
        Foreign::NotSupported { .. } | Foreign::NotImplemented { .. } => {
            StorageError::unsupported()
        }
        Foreign::AlreadyExists { .. } | Foreign::Precondition { .. } => {
            StorageError::precondition_failed()
        }
        Foreign::NotModified { .. } => StorageError::http(304),
        Foreign::PermissionDenied { .. } => StorageError::http(403),
        Foreign::Unauthenticated { .. } => StorageError::http(401),
        Foreign::InvalidPath { .. } => {
            StorageError::invalid_key("the store holds or got a name that is no path")
        }
        _ => match chain(&error).find_map(known) {
            Some(kind) => kind,
            None => StorageError::new(StorageErrorKind::Other),
        },
    };
    kind.with_source(error)
}

/// The error and what led to it, outermost first.
fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    core::iter::successors(Some(error), |error: &&'a (dyn Error + 'static)| (*error).source())
}

/// What one link of the chain tells, if anything.
fn known(error: &(dyn Error + 'static)) -> Option<StorageError> {
    if let Some(error) = error.downcast_ref::<io::Error>() {
        return match error.kind() {
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::UnexpectedEof => Some(StorageError::network(NetworkFault::Reset)),
            io::ErrorKind::TimedOut => Some(StorageError::network(NetworkFault::TimedOut)),
            io::ErrorKind::ConnectionRefused => Some(StorageError::network(NetworkFault::Refused)),
            io::ErrorKind::NotConnected
            | io::ErrorKind::AddrNotAvailable
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
            | io::ErrorKind::NetworkDown => Some(StorageError::network(NetworkFault::Other)),
            io::ErrorKind::PermissionDenied => Some(StorageError::http(403)),
            io::ErrorKind::InvalidFilename => {
                Some(StorageError::invalid_key("the file system refuses the name"))
            }
            // A missing file here is a missing directory or a vanished scratch file, never a
            // missing key: the store has its own error for that. A full disk, a read-only one and
            // all else may pass.
            _ => None,
        };
    }
    let text = error.to_string();
    let status = text.strip_prefix(STATUS_TEXT)?.get(..3)?.parse().ok()?;
    Some(match text.contains(EXPIRED_TEXT) {
        true => StorageError::credential_expired(),
        false => StorageError::http(status),
    })
}

fn blocked_by_another_name(error: &Foreign) -> bool {
    chain(error).filter_map(|error| error.downcast_ref::<io::Error>()).any(|error| {
        matches!(error.kind(), io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory)
    })
}

fn tells_of_no_bucket(error: &(dyn Error + Send + Sync + 'static)) -> bool {
    let text = error.to_string();
    NO_BUCKET_TEXTS.iter().any(|code| text.contains(code))
}
