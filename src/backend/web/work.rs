//! Work that ends with its caller.

use core::future::Future;

use embassy_futures::select::{Either, select};

use crate::error::StorageError;
use crate::port::OpContext;

/// Does the work unless the caller gives it up: before it begins, or while it waits.
pub(super) async fn unless_aborted<T>(
    cx: &OpContext,
    work: impl Future<Output = Result<T, StorageError>>,
) -> Result<T, StorageError> {
    let signal = cx.signal();
    // The signal is asked first, so work for a caller who is gone is never polled.
    match select(signal.aborted(), work).await {
        Either::First(()) => Err(StorageError::aborted()),
        Either::Second(result) => result,
    }
}
