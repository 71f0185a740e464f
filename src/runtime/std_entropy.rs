//! A seed of chance from the standard library.

use std::hash::{BuildHasher, RandomState};

/// A seed that differs from call to call and from process to process.
///
/// The standard library keys its hash maps from the entropy of the operating system; this is one
/// hash under such a key, so it needs no further dependency. Good enough to spread retries and
/// picks; not for secrets.
///
/// ```
/// use storage_mux::SeededRng;
/// use storage_mux::runtime::tokio::entropy_seed;
///
/// let rng = SeededRng::new(entropy_seed());
/// # let _ = rng;
/// ```
#[must_use]
pub fn entropy_seed() -> u64 {
    RandomState::new().hash_one(0_u64)
}
