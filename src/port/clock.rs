//! Time as a port.

use core::future::Future;
use core::time::Duration;

use crate::time::Instant;

/// A source of time and of timers.
///
/// Nothing in the crate reads time any other way, so a test that owns the clock owns time.
///
/// Implementors must see to it that
///
/// - [`now`](Self::now) never goes back; if it does all the same, differences read as zero;
/// - a sleep ends no earlier than its duration, counted from the call to [`sleep`](Self::sleep);
/// - a sleep of [`Duration::MAX`] means "practically never" and does not panic;
/// - dropping a sleep frees its timer.
pub trait Clock {
    /// The future of [`sleep`](Self::sleep). `Send` where the executor needs it to be.
    type Sleep: Future<Output = ()>;

    /// The present instant.
    fn now(&self) -> Instant;

    /// A future that completes once `duration` has passed.
    fn sleep(&self, duration: Duration) -> Self::Sleep;
}

impl<C: Clock + ?Sized> Clock for &C {
    type Sleep = C::Sleep;

    fn now(&self) -> Instant {
        (**self).now()
    }

    fn sleep(&self, duration: Duration) -> Self::Sleep {
        (**self).sleep(duration)
    }
}

impl<C: Clock + ?Sized> Clock for crate::sync::Arc<C> {
    type Sleep = C::Sleep;

    fn now(&self) -> Instant {
        (**self).now()
    }

    fn sleep(&self, duration: Duration) -> Self::Sleep {
        (**self).sleep(duration)
    }
}
