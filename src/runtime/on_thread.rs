//! Where no runtime is known, what blocks does so on the calling thread, and what nobody waits for
//! is not done.

use crate::error::StorageError;

/// Runs something that may block.
pub(crate) async fn off_thread<T, F>(work: F) -> Result<T, StorageError>
where
    F: FnOnce() -> Result<T, StorageError>,
{
    work()
}

/// Drops a piece of work that nobody waits for.
pub(crate) fn in_background(work: impl Future<Output = ()> + Send + 'static) {
    drop(work);
}
