//! What travels with an operation.

use core::fmt;

use super::SpanHandle;
use crate::sync::{AbortController, AbortSignal, Lock};
use crate::time::Instant;

/// What travels with an operation: an abort signal, a deadline, a parent span. All optional.
///
/// A mux derives one for each try of a backend. Its signal aborts when the caller aborts, when the
/// try times out and when the call is dropped, so work that a backend has moved elsewhere can end
/// too. Deriving allocates nothing until a backend asks for the signal.
///
/// ```
/// use storage_mux::{AbortController, OpContext};
///
/// let controller = AbortController::new();
/// let cx = OpContext::new().with_signal(controller.signal());
/// controller.abort();
/// assert!(cx.is_aborted());
/// ```
#[derive(Default)]
pub struct OpContext {
    signal: AbortSignal,
    deadline: Option<Instant>,
    parent: Option<SpanHandle>,
    /// How many muxes the operation has come through.
    level: u8,
    scope: Scope,
}

/// The end of one try, made known to whoever asked for it.
#[derive(Default)]
enum Scope {
    /// Made by the caller: ends with the caller's own signal and nothing else.
    #[default]
    Caller,
    /// Made for a try. The pair is filled in by the first who asks for the signal.
    Try(Lock<Option<(AbortController, AbortSignal)>>),
}

impl OpContext {
    /// A context with nothing in it.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            signal: AbortSignal::never(),
            deadline: None,
            parent: None,
            level: 0,
            scope: Scope::Caller,
        }
    }

    /// The same with a signal that gives the operation up.
    #[must_use]
    pub fn with_signal(mut self, signal: AbortSignal) -> Self {
        self.signal = signal;
        self
    }

    /// The same with an instant, of the clock of the mux, after which the caller no longer waits.
    /// A mux treats its passing as the caller's abort. It goes on to every mux on the way, so muxes
    /// that are nested must share one clock, or clocks of one epoch.
    #[must_use]
    pub const fn with_deadline(mut self, deadline: Instant) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// The same with a span that the operation's spans hang under.
    #[must_use]
    pub fn with_parent(mut self, parent: SpanHandle) -> Self {
        self.parent = Some(parent);
        self
    }

    /// The signal to watch, or to pass on to work that outlives the operation's future.
    #[inline]
    pub fn signal(&self) -> AbortSignal {
        match &self.scope {
            Scope::Caller => self.signal.clone(),
            Scope::Try(made) => made.with(|made| {
                let (_, signal) = made.get_or_insert_with(|| {
                    let controller = AbortController::new();
                    let signal = AbortSignal::any([self.signal.clone(), controller.signal()]);
                    (controller, signal)
                });
                signal.clone()
            }),
        }
    }

    /// Whether the caller has given the operation up. Takes no lock.
    ///
    /// A try that is over needs no look here: its context is gone with it.
    #[inline]
    #[must_use]
    pub fn is_aborted(&self) -> bool {
        self.signal.is_aborted()
    }

    /// The instant after which the caller no longer waits.
    #[must_use]
    pub const fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// The span that the operation's spans hang under.
    #[must_use]
    pub const fn parent(&self) -> Option<&SpanHandle> {
        self.parent.as_ref()
    }

    /// How many muxes the operation has come through before it reaches the one that asks.
    pub(crate) const fn level(&self) -> u8 {
        self.level
    }

    /// A context for one try under this one, with its own end.
    #[inline]
    pub(crate) fn child(&self, parent: Option<SpanHandle>) -> Self {
        Self {
            signal: self.signal(),
            deadline: self.deadline,
            parent,
            level: self.level.saturating_add(1),
            scope: Scope::Try(Lock::new(None)),
        }
    }
}

impl Drop for OpContext {
    /// The try is over, whichever way: whoever still holds its signal learns of it.
    #[inline]
    fn drop(&mut self) {
        if let Scope::Try(made) = &mut self.scope
            && let Some((controller, _)) = made.get_mut()
        {
            controller.abort();
        }
    }
}

impl fmt::Debug for OpContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpContext")
            .field("signal", &self.signal)
            .field("deadline", &self.deadline)
            .field("parent", &self.parent.is_some())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spec: AB-2
    #[test]
    fn the_signal_of_a_try_follows_the_caller_and_the_end_of_the_try() {
        let controller = AbortController::new();
        let caller = OpContext::new().with_signal(controller.signal());

        let first = caller.child(None);
        let kept = first.signal();
        assert!(!kept.is_aborted());
        drop(first);
        assert!(kept.is_aborted(), "the end of the try must reach who kept its signal");
        assert!(!caller.is_aborted(), "the end of a try is not the end of the call");

        let second = caller.child(None);
        let kept = second.signal();
        controller.abort();
        assert!(kept.is_aborted() && second.is_aborted());
    }

    /// Spec: AB-1
    #[test]
    fn a_try_that_nobody_watched_leaves_nothing_with_the_caller() {
        let controller = AbortController::new();
        let caller = OpContext::new().with_signal(controller.signal());
        // Miri takes its time, and a hundred of them would leave as much.
        let tries = if cfg!(miri) { 100 } else { 10_000 };
        for _ in 0..tries {
            drop(caller.child(None));
        }
        assert_eq!(controller.waiters(), 0);
    }
}
