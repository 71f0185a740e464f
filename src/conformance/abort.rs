//! Calls that were given up before they began.

use alloc::format;

use super::chunks::{close, next, send};
use super::report::{Deviation, Verdict};
use super::rule::rules;
use super::subject::{Subject, call_step};
use crate::error::{ErrorClass, StorageError, classify};
use crate::port::{LocalStorage, OpContext, Operation};
use crate::sync::AbortController;

rules! {
    "abort", "a call whose signal has aborted fails as aborted, or does all of its work",
        [Set Get Delete], aborted;
}

async fn aborted<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let (key, missing) = (s.fresh("k").await, s.fresh("missing").await);
    let controller = AbortController::new();
    controller.abort();
    let cx = OpContext::new().with_signal(controller.signal());
    for operation in Operation::ALL {
        // A conditional write is asked of a key for which it holds, all others of one with a value.
        let key = if operation == Operation::SetIf { &missing } else { &key };
        if !s.can(operation) {
            continue;
        }
        if operation != Operation::SetIf {
            s.set(key, b"old").await?;
        }
        let result = match operation {
            Operation::GetStream => read(s, key, &cx).await,
            Operation::SetStream => write(s, key, &cx).await,
            _ => s.call(operation, key, &cx).await,
        };
        let done = match result {
            Ok(()) => true,
            Err(error) if classify(&error) == ErrorClass::Abort => false,
            Err(error) => {
                let step = format!("{}, aborted before", call_step(operation, key));
                let found = format!("{} ({error})", error.code());
                return Err(Deviation::new(step, "success or an abort", found));
            }
        };
        match (operation, done) {
            (Operation::Set | Operation::SetIf, true) => s.holds(key, b"call").await?,
            (Operation::SetPartial, true) => s.holds(key, b"call").await?,
            (Operation::SetStream, true) => s.holds(key, b"chunk").await?,
            (Operation::Delete, true) => s.holds_nothing(key).await?,
            // An abort may lose to the write it was meant for; but never by half.
            (Operation::Set | Operation::SetPartial, false) => {
                whole(s, key, &[Some(b"old"), Some(b"call")]).await?;
            }
            (Operation::SetStream, false) => {
                whole(s, key, &[Some(b"old"), Some(b"chunk")]).await?;
            }
            (Operation::Delete, false) => whole(s, key, &[Some(b"old"), None]).await?,
            (Operation::SetIf, false) => whole(s, key, &[None, Some(b"call")]).await?,
            _ => s.holds(key, b"old").await?,
        }
    }
    Ok(())
}

async fn read<S: LocalStorage>(
    s: &Subject<'_, S>,
    key: &str,
    cx: &OpContext,
) -> Result<(), StorageError> {
    let mut reader = s.storage.get_stream(key, cx).await?;
    while let Some(chunk) = next(&mut reader).await {
        chunk?;
    }
    Ok(())
}

async fn write<S: LocalStorage>(
    s: &Subject<'_, S>,
    key: &str,
    cx: &OpContext,
) -> Result<(), StorageError> {
    let mut writer = s.storage.set_stream(key, cx).await?;
    send(&mut writer, b"chunk").await?;
    close(&mut writer).await
}

/// The key must hold one of these.
async fn whole<S: LocalStorage>(
    s: &Subject<'_, S>,
    key: &str,
    allowed: &[Option<&'static [u8]>],
) -> Verdict {
    let mut verdict = Ok(());
    for value in allowed {
        verdict = match value {
            Some(value) => s.holds(key, value).await,
            None => s.holds_nothing(key).await,
        };
        if verdict.is_ok() {
            break;
        }
    }
    verdict
}
