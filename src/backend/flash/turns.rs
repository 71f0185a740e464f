//! One operation at a time, on one thread.

use core::cell::{RefCell, RefMut};
use core::ops::{Deref, DerefMut};

use event_listener::Event;

/// A value that one future at a time may hold across its awaits.
///
/// A future that is dropped while it waits, or while it holds the value, lets the next one go on.
pub(super) struct Turns<T> {
    value: RefCell<T>,
    freed: Event,
}

impl<T> Turns<T> {
    pub(super) const fn new(value: T) -> Self {
        Self { value: RefCell::new(value), freed: Event::new() }
    }

    /// Waits for the value.
    pub(super) async fn take(&self) -> Turn<'_, T> {
        loop {
            // Between the look and the listener nothing else can run: there is one thread.
            if let Ok(value) = self.value.try_borrow_mut() {
                return Turn { value, _freed: Freed(&self.freed) };
            }
            self.freed.listen().await;
        }
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
