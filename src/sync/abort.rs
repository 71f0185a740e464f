//! Abort signals: one side asks for the end of a call, many sides hear it.
//!
//! A signal pulls: it looks at the flags of the controllers it was made of. Nothing registers with
//! a parent until somebody waits, and a waiter that is dropped is gone, so a parent may outlive any
//! number of children without growing.

use alloc::vec::Vec;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use event_listener::{Event, EventListener};

use super::{Arc, AtomicBool, AtomicU32, Ordering};

/// The side that aborts. Clones act on the same signal; dropping one aborts nothing.
///
/// ```
/// use storage_mux::AbortController;
///
/// let controller = AbortController::new();
/// let signal = controller.signal();
/// assert!(!signal.is_aborted());
/// controller.abort();
/// assert!(signal.is_aborted());
/// ```
#[derive(Clone, Default)]
pub struct AbortController {
    source: Arc<Source>,
}

#[derive(Default)]
struct Source {
    aborted: AtomicBool,
    wake: Event,
    /// Counted by ourselves: the listener list tells its length only under std.
    waiters: AtomicU32,
}

impl AbortController {
    /// A controller that has not aborted.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Aborts, once and for good. Everyone who waits is woken at once.
    pub fn abort(&self) {
        if !self.source.aborted.swap(true, Ordering::AcqRel) {
            self.source.wake.notify(usize::MAX);
        }
    }

    /// Whether [`abort`](Self::abort) was called on this controller or on a clone.
    #[must_use]
    pub fn is_aborted(&self) -> bool {
        self.source.aborted.load(Ordering::Acquire)
    }

    /// A signal that follows this controller.
    #[must_use]
    pub fn signal(&self) -> AbortSignal {
        AbortSignal(Repr::One(self.source.clone()))
    }

    /// How many tasks wait for this controller right now; zero when all are gone.
    #[must_use]
    pub fn waiters(&self) -> u32 {
        self.source.waiters.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for AbortController {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortController").field("aborted", &self.is_aborted()).finish()
    }
}

/// The side that listens: cheap to clone, and composed with [`AbortSignal::any`].
#[derive(Clone, Default)]
pub struct AbortSignal(Repr);

#[derive(Clone, Default)]
enum Repr {
    #[default]
    Never,
    One(Arc<Source>),
    Any(Arc<Vec<Arc<Source>>>),
}

impl AbortSignal {
    /// A signal that never aborts. Costs nothing.
    #[must_use]
    pub const fn never() -> Self {
        Self(Repr::Never)
    }

    /// A signal that aborts as soon as one of `signals` does.
    ///
    /// Composition is flat, however deep it is nested, and keeps no tie in the parents: dropping
    /// the result is all the clean-up there is.
    pub fn any(signals: impl IntoIterator<Item = AbortSignal>) -> Self {
        let mut sources: Vec<Arc<Source>> = Vec::new();
        for signal in signals {
            for source in signal.sources() {
                if !sources.iter().any(|known| Arc::ptr_eq(known, source)) {
                    sources.push(source.clone());
                }
            }
        }
        match sources.len() {
            0 => Self::never(),
            1 => Self(sources.pop().map_or(Repr::Never, Repr::One)),
            _ => Self(Repr::Any(Arc::new(sources))),
        }
    }

    /// Whether the signal has aborted. Two loads at most for a signal of one controller.
    #[inline]
    #[must_use]
    pub fn is_aborted(&self) -> bool {
        self.can_abort()
            && self.sources().iter().any(|source| source.aborted.load(Ordering::Acquire))
    }

    /// Whether the signal could ever abort.
    #[must_use]
    pub const fn can_abort(&self) -> bool {
        !matches!(self.0, Repr::Never)
    }

    /// A future that completes when the signal aborts, at once if it has.
    ///
    /// It starts to listen when it is first polled. Dropping it stops listening.
    pub fn aborted(&self) -> Aborted {
        Aborted { signal: self.clone(), listeners: Vec::new() }
    }

    #[inline]
    fn sources(&self) -> &[Arc<Source>] {
        match &self.0 {
            Repr::Never => &[],
            Repr::One(source) => core::slice::from_ref(source),
            Repr::Any(sources) => sources.as_slice(),
        }
    }
}

impl fmt::Debug for AbortSignal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortSignal")
            .field("aborted", &self.is_aborted())
            .field("sources", &self.sources().len())
            .finish()
    }
}

/// The future of [`AbortSignal::aborted`].
#[must_use = "a future does nothing unless it is awaited"]
pub struct Aborted {
    signal: AbortSignal,
    listeners: Vec<EventListener>,
}

impl fmt::Debug for Aborted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Aborted").field("signal", &self.signal).finish()
    }
}

impl Aborted {
    fn listen(&mut self) {
        for source in self.signal.sources() {
            source.waiters.fetch_add(1, Ordering::Relaxed);
            self.listeners.push(source.wake.listen());
        }
    }

    fn leave(&mut self) {
        if !self.listeners.is_empty() {
            self.listeners.clear();
            for source in self.signal.sources() {
                source.waiters.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }
}

impl Drop for Aborted {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Future for Aborted {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        if this.signal.is_aborted() {
            this.leave();
            return Poll::Ready(());
        }
        if this.listeners.is_empty() {
            this.listen();
        }
        for listener in &mut this.listeners {
            // A listener that has fired must not be polled again: the flag below decides.
            if Pin::new(listener).poll(cx).is_ready() {
                break;
            }
        }
        // Between the first look and the listening an abort may have come and woken nobody.
        if this.signal.is_aborted() {
            this.leave();
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

#[cfg(all(test, loom))]
mod models;
#[cfg(test)]
mod tests {
    use super::*;
    use alloc::sync::Arc as StdArc;
    use alloc::task::Wake;
    use core::sync::atomic::{AtomicUsize, Ordering as StdOrdering};
    use core::task::Waker;

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: StdArc<Self>) {
            self.0.fetch_add(1, StdOrdering::SeqCst);
        }
    }

    /// Spec: AB-1
    #[test]
    fn a_composed_signal_wakes_its_waiter_once_any_parent_aborts_and_is_ready_on_that_poll() {
        let (a, b) = (AbortController::new(), AbortController::new());
        let any = AbortSignal::any([a.signal(), AbortSignal::never(), b.signal()]);
        let wakes = StdArc::new(Wakes::default());
        let waker = Waker::from(wakes.clone());
        let mut waiting = any.aborted();
        let mut cx = Context::from_waker(&waker);
        assert!(Pin::new(&mut waiting).poll(&mut cx).is_pending());
        b.abort();
        assert_eq!(wakes.0.load(StdOrdering::SeqCst), 1);
        assert!(Pin::new(&mut waiting).poll(&mut cx).is_ready());
        assert!(any.is_aborted());
        assert!(!a.signal().is_aborted());
    }

    /// Spec: AB-1
    #[test]
    fn a_parent_that_outlives_a_hundred_thousand_children_keeps_none_of_them() {
        let parent = AbortController::new();
        // Miri takes its time, and a hundred of them would leak as well.
        let children = if cfg!(miri) { 100 } else { 100_000 };
        for _ in 0..children {
            let child = AbortController::new();
            let any = AbortSignal::any([parent.signal(), child.signal()]);
            let mut waiting = any.aborted();
            let mut cx = Context::from_waker(Waker::noop());
            assert!(Pin::new(&mut waiting).poll(&mut cx).is_pending());
            assert_eq!(parent.waiters(), 1);
        }
        assert_eq!(parent.waiters(), 0);
        assert_eq!(Arc::strong_count(&parent.source), 1);
    }

    /// Spec: AB-1
    #[test]
    fn composition_stays_flat_and_counts_a_shared_parent_once() {
        let (a, b) = (AbortController::new(), AbortController::new());
        let inner = AbortSignal::any([a.signal(), b.signal()]);
        let outer = AbortSignal::any([inner.clone(), a.signal(), inner]);
        assert_eq!(outer.sources().len(), 2);
        assert!(!AbortSignal::any([]).can_abort());
    }
}
