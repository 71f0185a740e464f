//! Where no runtime is known, what blocks does so on the calling thread.

use crate::error::StorageError;

/// Runs something that may block.
pub(crate) async fn off_thread<T, F>(work: F) -> Result<T, StorageError>
where
    F: FnOnce() -> Result<T, StorageError>,
{
    work()
}
