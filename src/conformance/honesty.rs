//! A storage does what it declares, and says so of the rest.

use super::report::Verdict;
use super::rule::rules;
use super::subject::{Subject, call_step, fails};
use crate::error::StorageErrorKind;
use crate::port::{LocalStorage, Operation};

rules! {
    "unsupported", "an operation that the capabilities lack fails with UNSUPPORTED",
        [], unsupported;
}

async fn unsupported<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let key = s.fresh("k").await;
    for operation in Operation::ALL {
        if !s.can(operation) {
            let result = s.call(operation, &key, &s.cx).await;
            fails(result, &StorageErrorKind::Unsupported, || call_step(operation, &key))?;
        }
    }
    Ok(())
}
