//! What loom puts in the place of the target's lock and atomics, so that a model runs the real code.
//!
//! Only under `--cfg loom`, in the tests of `ci/loom.sh`. Snapshots stand on this lock as they do
//! without `std`; `Arc` is the real one, since no decision hangs on its count.

// Named by loom's macro.
extern crate std;

use core::cell::Cell;

use loom::sync::{Mutex, atomic};

use super::Ordering;

loom::thread_local! {
    /// Whether the last access of this thread was sequentially consistent.
    static IN_ORDER: Cell<bool> = Cell::new(false);
}

/// Comes before each access to an atomic, of which `turn` is the companion.
///
/// It makes up for two things that loom leaves out, and can make a model fail for nothing but not
/// pass for nothing:
///
/// - loom looks for other orders where an access meets the *last* one of another thread. A thread
///   that reads and then writes hides the reader before it, and the order in which the write comes
///   first is never tried. The exchange on `turn` is an access that no other one hides.
/// - loom knows sequential consistency of fences, and takes that of accesses for acquire and
///   release, so it would find executions that no target has. A fence between two such accesses
///   that follow one another in a thread gives them back what they promise; where a weaker access
///   stands in between there is none.
fn before(turn: &atomic::AtomicBool, ordering: Ordering) {
    turn.swap(true, Ordering::Relaxed);
    let strict = ordering == Ordering::SeqCst;
    if IN_ORDER.with(|in_order| in_order.replace(strict)) && strict {
        atomic::fence(Ordering::SeqCst);
    }
}

macro_rules! atomics {
    ($($name:ident $value:ty),*) => {$(
        #[derive(Debug, Default)]
        pub(crate) struct $name {
            value: atomic::$name,
            turn: atomic::AtomicBool,
        }

        impl $name {
            pub(crate) fn new(value: $value) -> Self {
                Self { value: atomic::$name::new(value), turn: atomic::AtomicBool::default() }
            }

            pub(crate) fn load(&self, ordering: Ordering) -> $value {
                before(&self.turn, ordering);
                self.value.load(ordering)
            }

            pub(crate) fn store(&self, value: $value, ordering: Ordering) {
                before(&self.turn, ordering);
                self.value.store(value, ordering);
            }
        }
    )*};
}

atomics!(AtomicBool bool, AtomicU32 u32, AtomicU64 u64);

impl AtomicBool {
    pub(crate) fn swap(&self, value: bool, ordering: Ordering) -> bool {
        before(&self.turn, ordering);
        self.value.swap(value, ordering)
    }
}

macro_rules! exchanges {
    ($($name:ident $value:ty),*) => {$(
        impl $name {
            pub(crate) fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                before(&self.turn, success);
                self.value.compare_exchange(current, new, success, failure)
            }
        }
    )*};
}

exchanges!(AtomicBool bool, AtomicU32 u32);

macro_rules! counters {
    ($($name:ident $value:ty),*) => {$(
        impl $name {
            pub(crate) fn fetch_add(&self, add: $value, ordering: Ordering) -> $value {
                before(&self.turn, ordering);
                self.value.fetch_add(add, ordering)
            }
        }
    )*};
}

counters!(AtomicU32 u32, AtomicU64 u64);

impl AtomicU32 {
    pub(crate) fn fetch_sub(&self, sub: u32, ordering: Ordering) -> u32 {
        before(&self.turn, ordering);
        self.value.fetch_sub(sub, ordering)
    }
}

/// What `Lock` is elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Lock<T>(Mutex<T>);

impl<T> Lock<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    pub(crate) fn with<O>(&self, f: impl FnOnce(&mut T) -> O) -> O {
        f(&mut self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
