//! Chance in a delay, so that callers who failed together do not come back together.

use core::time::Duration;

use crate::rng::{Rng, below};
use crate::time::nanos;

/// How much of a delay is left to chance.
///
/// None of them ever gives more than the stated maximum: chance works below it, not on top.
/// Source of the terms and of the walk: M. Brooker, "Exponential backoff and jitter", 2015.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case")
)]
#[non_exhaustive]
pub enum Jitter {
    /// The delay as it is.
    None,
    /// Anything from zero to the delay.
    #[default]
    Full,
    /// Half of the delay, and anything from zero to the other half.
    Equal,
    /// A walk: anything from the first delay to three times the one before, both at most the
    /// maximum. It replaces the growth of the backoff and needs one with a stated maximum.
    Decorrelated,
}

impl Jitter {
    /// The delay to use in place of `delay`, never above `max`. Draws once, or not at all for
    /// [`Jitter::None`].
    ///
    /// Only [`Jitter::Decorrelated`] looks at `previous`, the delay that was used last (at first:
    /// `delay`), and it wants the first delay of the backoff for `delay`, each time.
    pub fn apply<R: Rng + ?Sized>(
        self,
        delay: Duration,
        previous: Duration,
        max: Duration,
        rng: &R,
    ) -> Duration {
        let delay = delay.min(max);
        let whole = nanos(delay);
        match self {
            Self::None => delay,
            Self::Full => Duration::from_nanos(up_to(rng.next_u64(), whole)),
            Self::Equal => {
                let half = whole / 2;
                Duration::from_nanos(half + up_to(rng.next_u64(), whole - half))
            }
            Self::Decorrelated => {
                // The draw is over the part below the maximum, not cut off at it: cut off, most
                // callers of a long outage would meet at the maximum itself.
                let ceiling = nanos(previous.max(delay)).saturating_mul(3).min(nanos(max));
                let range = ceiling.saturating_sub(whole);
                Duration::from_nanos(whole.saturating_add(up_to(rng.next_u64(), range)))
            }
        }
    }
}

/// A number from zero to `most`, `most` included.
fn up_to(draw: u64, most: u64) -> u64 {
    below(draw, most.saturating_add(1))
}
