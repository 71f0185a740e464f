//! How a mux finds out whether a backend is well without a call to go by.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;
use core::future::Future;
use core::pin::Pin;

use crate::error::StorageError;
use crate::port::{LocalStorage, OpContext};
use crate::sync::{AbortSignal, Arc};

type CheckFuture = Pin<Box<dyn Future<Output = Result<(), StorageError>> + Send>>;

/// A check of a backend. It passes where the backend answers, also with a semantic error: that
/// proves it alive. It fails on a transient error and on a timeout.
#[derive(Clone)]
pub struct HealthCheck(Kind);

#[derive(Clone)]
enum Kind {
    Has(String),
    Custom(Arc<dyn Fn(AbortSignal) -> CheckFuture + Send + Sync>),
}

impl HealthCheck {
    /// Asks the backend whether it has `key`. The answer does not matter, only that it comes.
    pub fn has(key: impl Into<String>) -> Self {
        Self(Kind::Has(key.into()))
    }

    /// Runs a function of your own. Its signal aborts when the check times out or the mux closes.
    ///
    /// ```
    /// use storage_mux::{HealthCheck, NetworkFault, StorageError};
    ///
    /// let reachable = true;
    /// let check = HealthCheck::custom(move |_signal| async move {
    ///     if reachable { Ok(()) } else { Err(StorageError::network(NetworkFault::Refused)) }
    /// });
    /// ```
    pub fn custom<F>(check: impl Fn(AbortSignal) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), StorageError>> + Send + 'static,
    {
        let boxed: Box<dyn Fn(AbortSignal) -> CheckFuture + Send + Sync> =
            Box::new(move |signal| Box::pin(check(signal)));
        Self(Kind::Custom(Arc::from(boxed)))
    }

    pub(crate) async fn run<S: LocalStorage>(
        &self,
        storage: &S,
        cx: &OpContext,
    ) -> Result<(), StorageError> {
        match &self.0 {
            Kind::Has(key) => storage.has(key, cx).await.map(|_| ()),
            Kind::Custom(check) => check(cx.signal()).await,
        }
    }
}

impl fmt::Debug for HealthCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Has(key) => f.debug_tuple("HealthCheck::has").field(key).finish(),
            Kind::Custom(_) => f.write_str("HealthCheck::custom"),
        }
    }
}
