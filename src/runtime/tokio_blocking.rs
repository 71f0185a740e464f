//! What blocks, on the threads that tokio keeps for it, and what nobody waits for, as its task.

use ::tokio::runtime::Handle;

use crate::error::StorageError;

/// Runs something that may block: on another thread within a runtime, here without one.
///
/// Dropping the future leaves the work to end by itself.
pub(crate) async fn off_thread<T, F>(work: F) -> Result<T, StorageError>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T, StorageError> + Send + 'static,
{
    let Ok(runtime) = Handle::try_current() else { return work() };
    runtime.spawn_blocking(work).await.unwrap_or_else(|end| Err(StorageError::other(end)))
}

/// Ends a piece of work that nobody waits for: as a task within a runtime, not at all without one.
pub(crate) fn in_background(work: impl Future<Output = ()> + Send + 'static) {
    if let Ok(runtime) = Handle::try_current() {
        drop(runtime.spawn(work));
    }
}
