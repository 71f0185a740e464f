//! Generators: the included one, and the bridge to the rand ecosystem.

use super::{AtomicU64, Lock, Ordering};
use crate::rng::{GAMMA, Rng, mix};

/// A deterministic, lock-free generator: SplitMix64 over an atomic counter.
///
/// The same seed gives the same sequence on every target. Draws from several threads interleave
/// but are never lost or repeated. Not for secrets.
///
/// Source: G. Steele, D. Lea and C. Flood, "Fast splittable pseudorandom number generators", 2014.
///
/// ```
/// use storage_mux::{Rng, SeededRng};
///
/// let (a, b) = (SeededRng::new(7), SeededRng::new(7));
/// assert_eq!(a.next_u64(), b.next_u64());
/// ```
#[derive(Debug, Default)]
pub struct SeededRng(AtomicU64);

impl SeededRng {
    /// A generator whose sequence is fixed by `seed`.
    #[must_use]
    #[cfg(not(loom))]
    pub const fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    /// The same under loom, whose atomics begin to exist while a model runs.
    #[must_use]
    #[cfg(loom)]
    pub fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }
}

impl Rng for SeededRng {
    fn next_u64(&self) -> u64 {
        // fetch_add wraps, as SplitMix64's counter does.
        mix(self.0.fetch_add(GAMMA, Ordering::Relaxed).wrapping_add(GAMMA))
    }
}

/// Any generator of the rand ecosystem as an [`Rng`].
///
/// A `rand_core` generator draws by `&mut self`, so each draw takes a short lock. Where that
/// matters, seed a [`SeededRng`] from it instead.
#[derive(Debug, Default)]
pub struct RandCoreRng<T>(Lock<T>);

impl<T: rand_core::Rng> RandCoreRng<T> {
    /// Wraps a generator.
    #[cfg(not(loom))]
    pub const fn new(generator: T) -> Self {
        Self(Lock::new(generator))
    }

    /// The same under loom, whose locks begin to exist while a model runs.
    #[cfg(loom)]
    pub fn new(generator: T) -> Self {
        Self(Lock::new(generator))
    }
}

impl<T: rand_core::Rng> Rng for RandCoreRng<T> {
    fn next_u64(&self) -> u64 {
        self.0.with(|generator| generator.next_u64())
    }
}
