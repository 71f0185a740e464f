//! A 64-bit atomic for bare metal, where no processor below 64 bits has one.
//!
//! portable-atomic spins there, on every target that has compare-and-swap: an interrupt that finds
//! a number half-written by whom it preempted would spin for ever. A critical section cannot be
//! preempted, and saves the table of locks besides.

use core::cell::Cell;
use core::fmt;

use critical_section::Mutex;

use super::Ordering;

/// What `AtomicU64` is elsewhere. Every access is a critical section, so all are sequentially
/// consistent, whatever they ask for.
pub(crate) struct AtomicU64(Mutex<Cell<u64>>);

impl AtomicU64 {
    pub(crate) const fn new(value: u64) -> Self {
        Self(Mutex::new(Cell::new(value)))
    }

    pub(crate) fn load(&self, _: Ordering) -> u64 {
        self.update(|value| value)
    }

    pub(crate) fn store(&self, new: u64, _: Ordering) {
        self.update(|_| new);
    }

    /// Wraps, as the original does.
    pub(crate) fn fetch_add(&self, add: u64, _: Ordering) -> u64 {
        self.update(|value| value.wrapping_add(add))
    }

    /// Puts what `f` makes of the value in its place, and gives the value.
    fn update(&self, f: impl FnOnce(u64) -> u64) -> u64 {
        critical_section::with(|section| {
            let cell = self.0.borrow(section);
            let old = cell.get();
            cell.set(f(old));
            old
        })
    }
}

impl Default for AtomicU64 {
    fn default() -> Self {
        Self::new(0)
    }
}

impl fmt::Debug for AtomicU64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.load(Ordering::Relaxed).fmt(f)
    }
}
