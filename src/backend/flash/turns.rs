//! One operation at a time, on one thread.

use core::cell::{Cell, RefCell, RefMut};
use core::ops::{Deref, DerefMut};

use event_listener::Event;

/// A value that one future at a time may hold across its awaits.
///
/// A future that is dropped while it waits, or while it holds the value, lets the next one go on.
pub(super) struct Turns<T> {
    value: RefCell<T>,
    freed: Event,
    waiting: Cell<usize>,
}

impl<T> Turns<T> {
    pub(super) const fn new(value: T) -> Self {
        Self { value: RefCell::new(value), freed: Event::new(), waiting: Cell::new(0) }
    }

    /// Waits for the value, behind all who wait already: else one that asks again as soon as it is
    /// done would keep the others from it for ever.
    pub(super) async fn take(&self) -> Turn<'_, T> {
        // Between the look and the listener nothing else can run: there is one thread.
        if self.waiting.get() == 0
            && let Some(turn) = self.free()
        {
            return turn;
        }
        let _waiting = Waiting::new(&self.waiting);
        loop {
            self.freed.listen().await;
            if let Some(turn) = self.free() {
                return turn;
            }
        }
    }

    fn free(&self) -> Option<Turn<'_, T>> {
        let value = self.value.try_borrow_mut().ok()?;
        Some(Turn { value, _freed: Freed(&self.freed) })
    }
}

/// One who waits, counted until it has its turn or gives up.
struct Waiting<'a>(&'a Cell<usize>);

impl<'a> Waiting<'a> {
    fn new(waiting: &'a Cell<usize>) -> Self {
        waiting.set(waiting.get().saturating_add(1));
        Self(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get().saturating_sub(1));
    }
}

/// The right to the value, until it is dropped. The fields are dropped in this order.
pub(super) struct Turn<'a, T> {
    value: RefMut<'a, T>,
    _freed: Freed<'a>,
}

struct Freed<'a>(&'a Event);

impl Drop for Freed<'_> {
    fn drop(&mut self) {
        self.0.notify(1);
    }
}

impl<T> Deref for Turn<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Turn<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}
