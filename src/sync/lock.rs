//! A short mutual exclusion, by whatever the target offers.
//!
//! The closure form keeps two promises visible: no guard crosses an await, and nothing foreign
//! runs inside. A panic inside leaves the data usable; there is no poisoning.

#[cfg(all(target_os = "none", not(feature = "std")))]
use core::cell::RefCell;

/// Data behind a lock that is held only for the length of a closure.
#[derive(Debug)]
pub(crate) struct Lock<T>(Inner<T>);

impl<T: Default> Default for Lock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

#[cfg(feature = "std")]
type Inner<T> = std::sync::Mutex<T>;
// Bare metal: an interrupt may preempt the holder and would spin for ever.
#[cfg(all(target_os = "none", not(feature = "std")))]
type Inner<T> = critical_section::Mutex<RefCell<T>>;
#[cfg(all(not(target_os = "none"), not(feature = "std")))]
type Inner<T> = spin::Mutex<T>;

#[cfg(feature = "std")]
impl<T> Lock<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(Inner::new(value))
    }

    pub(crate) fn with<O>(&self, f: impl FnOnce(&mut T) -> O) -> O {
        f(&mut self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(all(target_os = "none", not(feature = "std")))]
impl<T> Lock<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(Inner::new(RefCell::new(value)))
    }

    pub(crate) fn with<O>(&self, f: impl FnOnce(&mut T) -> O) -> O {
        critical_section::with(|section| f(&mut self.0.borrow_ref_mut(section)))
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().get_mut()
    }
}

#[cfg(all(not(target_os = "none"), not(feature = "std")))]
impl<T> Lock<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(Inner::new(value))
    }

    pub(crate) fn with<O>(&self, f: impl FnOnce(&mut T) -> O) -> O {
        f(&mut self.0.lock())
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }
}
