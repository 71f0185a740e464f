//! What the standard library's input and output errors mean for a storage.

use std::io;

use super::{NetworkFault, StorageError};

/// A missing file is a missing key, a connection's fault is a network fault, an operation that
/// the system lacks is unsupported; the rest is kept as it is and counts as transient.
impl From<io::Error> for StorageError {
    fn from(error: io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::NotFound => Self::key_not_found(),
            io::ErrorKind::Unsupported => Self::unsupported(),
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::UnexpectedEof => Self::network(NetworkFault::Reset),
            io::ErrorKind::TimedOut => Self::network(NetworkFault::TimedOut),
            io::ErrorKind::ConnectionRefused => Self::network(NetworkFault::Refused),
            io::ErrorKind::NotConnected | io::ErrorKind::AddrNotAvailable => {
                Self::network(NetworkFault::Other)
            }
            _ => return Self::other(error),
        };
        kind.with_source(error)
    }
}
