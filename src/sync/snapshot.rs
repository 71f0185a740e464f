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

#[cfg(test)]
mod tests {
    use super::*;

    /// What was taken, whether it is counted or not.
    fn value(taken: &Arc<u32>) -> u32 {
        **taken
    }

    /// Spec: MU-3
    #[test]
    fn readers_keep_what_they_took_and_what_nobody_holds_is_dropped() {
        let first = Arc::new(1);
        let watched = Arc::downgrade(&first);
        let snapshot = Snapshot::new(first);
        // More than a thread can hold uncounted.
        let taken: [Loaded<u32>; 10] = core::array::from_fn(|_| snapshot.load());
        snapshot.store(Arc::new(2));
        assert_eq!(value(&snapshot.load()), 2);
        for each in taken {
            assert!(watched.upgrade().is_some());
            assert_eq!(value(&each), 1);
        }
        assert!(watched.upgrade().is_none());
    }

    /// Spec: MU-3
    #[test]
    #[cfg(feature = "std")]
    fn no_reader_in_another_thread_sees_an_older_value_after_a_newer_one() {
        // Miri takes its time, and looks at each access.
        let rounds = if cfg!(miri) { 50 } else { 10_000 };
        let snapshot = Snapshot::new(Arc::new(0));
        std::thread::scope(|threads| {
            for _ in 0..2 {
                threads.spawn(|| {
                    (0..rounds).fold(0, |before, _| {
                        let now = value(&snapshot.load());
                        assert!(now >= before, "{now} after {before}");
                        now
                    })
                });
            }
            (1..=rounds).for_each(|value| snapshot.store(Arc::new(value)));
        });
        assert_eq!(value(&snapshot.load()), rounds);
    }
}
