//! What the input and output errors below a foreign store mean.

use core::error::Error;
use std::io;

use crate::error::{NetworkFault, StorageError};

/// The error and what led to it, outermost first.
pub(super) fn chain<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    core::iter::successors(Some(error), |error: &&'a (dyn Error + 'static)| (*error).source())
}

/// What an error of the system tells, if anything.
pub(super) fn io_fault(error: &io::Error) -> Option<StorageError> {
    match error.kind() {
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
    }
}

/// Whether a directory stands in the place of the key, or a file in the place of a directory on
/// the way to it.
pub(super) fn blocked_by_another_name(error: &(dyn Error + 'static)) -> bool {
    chain(error).filter_map(|error| error.downcast_ref::<io::Error>()).any(|error| {
        matches!(error.kind(), io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory)
    })
}
