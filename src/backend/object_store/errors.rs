//! What the errors of a foreign store mean here. The original stays in the source chain.

use alloc::string::ToString;
use core::error::Error;
use std::io;

use ::object_store::Error as Foreign;

use crate::backend::faults::{blocked_by_another_name, chain, io_fault};
use crate::error::{StorageError, StorageErrorKind};

/// How the stores of `object_store` that speak HTTP begin the text of an answer they did not
/// expect. The type behind it is not public, so the text is all there is; should it change, these
/// errors count as unknown and so as transient. The `Retry-After` of the answer is gone by then.
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
    let kind = match (&error, ours(&error)) {
        (Foreign::NotFound { source, .. }, _) if tells_of_no_bucket(&**source) => {
            StorageError::new(StorageErrorKind::Other)
        }
        (Foreign::NotFound { .. }, _) => StorageError::key_not_found(),
        (_, Some(ours)) => ours,
        (_, None) => theirs(&error),
    };
    kind.with_source(error)
}

/// What an error of ours among the sources tells. A storage of ours below the store, or an HTTP
/// client that knows of us, knows best.
fn ours(error: &Foreign) -> Option<StorageError> {
    let mut ours = chain(error).filter_map(|error| error.downcast_ref::<StorageError>());
    ours.next().map(|error| StorageError::new(error.kind().clone()))
}

fn theirs(error: &Foreign) -> StorageError {
    match error {
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
        _ => match chain(error).find_map(known) {
            Some(kind) => kind,
            None => StorageError::new(StorageErrorKind::Other),
        },
    }
}

/// What one link of the chain tells, if anything.
fn known(error: &(dyn Error + 'static)) -> Option<StorageError> {
    if let Some(error) = error.downcast_ref::<io::Error>() {
        return io_fault(error);
    }
    let text = error.to_string();
    let status = text.strip_prefix(STATUS_TEXT)?.get(..3)?.parse().ok()?;
    Some(match text.contains(EXPIRED_TEXT) {
        true => StorageError::credential_expired(),
        false => StorageError::http(status),
    })
}

fn tells_of_no_bucket(error: &(dyn Error + Send + Sync + 'static)) -> bool {
    let text = error.to_string();
    NO_BUCKET_TEXTS.iter().any(|code| text.contains(code))
}
