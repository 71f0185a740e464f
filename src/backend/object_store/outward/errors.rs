//! What our errors mean to users of `object_store`. Ours stays in the source chain.

use alloc::boxed::Box;
use alloc::string::ToString;
use core::error::Error as Source;

use super::api::Error;
use super::api::path::Path;
use super::{MuxObjectStore, STORE};
use crate::error::{StorageError, StorageErrorKind};

/// The error of an operation on an object.
pub(super) fn foreign(error: StorageError, path: &str) -> Error {
    let kind = error.kind().clone();
    let (path, source) = (path.to_string(), error.into());
    match kind {
        StorageErrorKind::KeyNotFound | StorageErrorKind::Http { status: 404, .. } => {
            Error::NotFound { path, source }
        }
        StorageErrorKind::Unsupported => Error::NotSupported { source },
        StorageErrorKind::CredentialExpired | StorageErrorKind::Http { status: 401, .. } => {
            Error::Unauthenticated { path, source }
        }
        StorageErrorKind::Http { status: 403, .. } => Error::PermissionDenied { path, source },
        StorageErrorKind::Http { status: 304, .. } => Error::NotModified { path, source },
        StorageErrorKind::Http { status: 412, .. } => Error::Precondition { path, source },
        _ => Error::Generic { store: STORE, source },
    }
}

/// The error of a read or a removal: a name that cannot have a value has none.
pub(super) fn read_error(error: StorageError, path: &Path) -> Error {
    match error.kind() {
        StorageErrorKind::InvalidKey => {
            Error::NotFound { path: path.to_string(), source: error.into() }
        }
        _ => foreign(error, path.as_ref()),
    }
}

/// The error of a write that must not overwrite.
pub(super) fn create_error(error: StorageError, path: &Path) -> Error {
    if error.is_precondition_failed() {
        return Error::AlreadyExists { path: path.to_string(), source: error.into() };
    }
    foreign(error, path.as_ref())
}

/// An answer of this store itself.
pub(super) fn generic(source: impl Into<Box<dyn Source + Send + Sync>>) -> Error {
    Error::Generic { store: STORE, source: source.into() }
}

pub(super) fn not_supported(why: &'static str) -> Error {
    Error::NotSupported { source: why.into() }
}

impl MuxObjectStore {
    pub(super) fn not_implemented(&self, operation: &str) -> Error {
        Error::NotImplemented { operation: operation.to_string(), implementer: self.to_string() }
    }
}

/// Others kept writing while a value was read.
pub(super) fn changed(path: &str) -> Error {
    generic(alloc::format!("{path} changed while it was read; read it again"))
}
