//! An async call under a breaker. Every way out of it goes through the permit.

use core::future::Future;

use super::{CircuitBreaker, Verdict};
use crate::port::Clock;
use crate::retry::error::RetryError;
use crate::retry::timeout::{Bounded, NEVER, bounded};
use crate::sync::AbortSignal;

impl<C: Clock> CircuitBreaker<C> {
    /// Calls `operation` if the breaker lets it through. An error counts as a failure.
    ///
    /// Nothing happens before the first poll. Dropping the future drops the operation, gives its
    /// place back at once and counts neither way.
    ///
    /// # Errors
    ///
    /// [`RetryError::CircuitOpen`], and the operation was not called; or [`RetryError::Failed`]
    /// with its error.
    pub async fn call<T, E, Fut>(&self, operation: impl FnOnce() -> Fut) -> Result<T, RetryError<E>>
    where
        Fut: Future<Output = Result<T, E>>,
    {
        self.call_with(&NEVER, operation, Verdict::of).await
    }

    /// The same with a signal that gives the call up, and a judge of its outcome.
    ///
    /// An abort drops the operation at once; so does it count neither way if the operation itself
    /// returns an error once the signal has aborted. A call that is given up before it begins asks
    /// for no admission.
    ///
    /// The judge tells failures from answers: a key that is not found comes from a storage that
    /// is well ([`Verdict::Success`]), and a key that was never sent says nothing of it
    /// ([`Verdict::Ignored`]).
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call), and [`RetryError::Aborted`].
    pub async fn call_with<T, E, Fut>(
        &self,
        signal: &AbortSignal,
        operation: impl FnOnce() -> Fut,
        judge: impl FnOnce(&Result<T, E>) -> Verdict,
    ) -> Result<T, RetryError<E>>
    where
        Fut: Future<Output = Result<T, E>>,
    {
        if signal.is_aborted() {
            return Err(RetryError::Aborted);
        }
        let permit = self.admit()?;
        let measured = self.meter.as_deref().map(|meter| (meter, self.clock.now()));
        let Bounded::Done(result) = bounded(&self.clock, None, signal, operation()).await else {
            return Err(RetryError::Aborted);
        };
        let given_up = result.is_err() && signal.is_aborted();
        permit.settle(if given_up { Verdict::Ignored } else { judge(&result) });
        if let Some((meter, start)) = measured {
            self.record_duration(meter, self.clock.now() - start);
        }
        result.map_err(RetryError::Failed)
    }
}
