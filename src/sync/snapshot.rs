//! A shared value that is replaced whole and read without waiting.

use super::Arc;

/// What a reader took. Up to eight of a thread touch nothing that other threads touch, not even a
/// count of references; from there on each is counted.
#[cfg(feature = "std")]
pub(crate) type Loaded<T> = arc_swap::Guard<Arc<T>>;
#[cfg(not(feature = "std"))]
pub(crate) type Loaded<T> = Arc<T>;

/// Readers take the current value; a writer publishes a new one. A reader keeps what it took.
#[cfg(feature = "std")]
#[derive(Debug)]
pub(crate) struct Snapshot<T>(arc_swap::ArcSwap<T>);

#[cfg(feature = "std")]
impl<T> Snapshot<T> {
    pub(crate) fn new(value: Arc<T>) -> Self {
        Self(arc_swap::ArcSwap::new(value))
    }

    pub(crate) fn load(&self) -> Loaded<T> {
        self.0.load()
    }

    pub(crate) fn store(&self, value: Arc<T>) {
        self.0.store(value);
    }
}

/// The same with a lock held for one pointer copy, where there are no thread-locals to do better.
#[cfg(not(feature = "std"))]
#[derive(Debug)]
pub(crate) struct Snapshot<T>(super::Lock<Arc<T>>);

#[cfg(not(feature = "std"))]
impl<T> Snapshot<T> {
    pub(crate) fn new(value: Arc<T>) -> Self {
        Self(super::Lock::new(value))
    }

    pub(crate) fn load(&self) -> Loaded<T> {
        self.0.with(|current| current.clone())
    }

    pub(crate) fn store(&self, value: Arc<T>) {
        // The old value is dropped outside the lock: its drop may run foreign code.
        drop(self.0.with(|current| core::mem::replace(current, value)));
    }
}
