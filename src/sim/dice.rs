//! Chance that is the same in every run.

use core::time::Duration;

use crate::rng::{Rng, below};
use crate::sync::SeededRng;
use crate::time::nanos;

/// A generator with a seed, and the draws that a test needs. It is an [`Rng`] as well.
///
/// The same seed gives the same draws on every target.
///
/// ```
/// use storage_mux::sim::Dice;
///
/// let (a, b) = (Dice::new(7), Dice::new(7));
/// assert_eq!(a.below(1_000), b.below(1_000));
/// assert!(Dice::new(1).chance(100) && !Dice::new(1).chance(0));
/// assert!(a.pick(&["red", "green"]).is_some());
/// ```
#[derive(Debug, Default)]
pub struct Dice(SeededRng);

impl Dice {
    /// Dice whose throws are fixed by `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(SeededRng::new(seed))
    }

    /// Dice of their own, fixed by a draw of these: what is drawn from one leaves the other alone.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self::new(self.next_u64())
    }

    /// A number from zero up to and without `bound`; zero where `bound` is zero.
    pub fn below(&self, bound: u64) -> u64 {
        below(self.next_u64(), bound)
    }

    /// A place in a list of `len` things. `None` where there is none.
    pub fn index(&self, len: usize) -> Option<usize> {
        let drawn = self.below(u64::try_from(len).unwrap_or(u64::MAX));
        if len == 0 { None } else { usize::try_from(drawn).ok() }
    }

    /// One of `from`. `None` where it is empty.
    pub fn pick<'a, T>(&self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.index(from.len())?)
    }

    /// True in `percent` of a hundred draws.
    pub fn chance(&self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// A duration from `least` to `most`, both included.
    pub fn duration(&self, least: Duration, most: Duration) -> Duration {
        let range = nanos(most).saturating_sub(nanos(least));
        least + Duration::from_nanos(self.below(range.saturating_add(1)))
    }
}

impl Rng for Dice {
    fn next_u64(&self) -> u64 {
        self.0.next_u64()
    }
}

/// How long something takes, drawn anew each time. Whole nanoseconds and no floating point, so
/// the same seed gives the same times on every target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Latency {
    /// Always the same.
    Fixed(Duration),
    /// Anything between the two, both included.
    Uniform(Duration, Duration),
    /// Mostly short and now and then very long: half of the times are below `median`, a quarter
    /// are above twice the median, an eighth above four times, and so on, up to `most`.
    LongTail {
        /// What half of the times are below.
        median: Duration,
        /// What none is above.
        most: Duration,
    },
}

impl Latency {
    /// Draws one.
    pub fn draw(self, dice: &Dice) -> Duration {
        match self {
            Self::Fixed(time) => time,
            Self::Uniform(least, most) => dice.duration(least, most),
            Self::LongTail { median, most } => {
                let octave = dice.next_u64().leading_ones();
                let low = if octave == 0 { 0 } else { 1_u32 << (octave - 1).min(30) };
                let least = median.saturating_mul(low);
                let width = median.saturating_mul(low.max(1));
                dice.duration(least, least.saturating_add(width)).min(most)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_uniform_time_reaches_both_ends_and_leaves_neither() {
        let (dice, nano) = (Dice::new(3), Duration::from_nanos(1));
        let latency = Latency::Uniform(MS, MS + 2 * nano);
        let mut seen = [0; 3];
        for _ in 0..300 {
            let over = latency.draw(&dice) - MS;
            seen[over.as_nanos() as usize] += 1;
        }
        assert!(seen.iter().all(|count| *count > 60), "{seen:?}");
    }

    #[test]
    fn half_of_a_long_tail_lies_below_the_median_and_each_doubling_halves_the_rest() {
        let (dice, most) = (Dice::new(4), 100 * MS);
        let latency = Latency::LongTail { median: MS, most };
        let times: alloc::vec::Vec<Duration> = (0..8_000).map(|_| latency.draw(&dice)).collect();
        let above = |limit: Duration| times.iter().filter(|time| **time > limit).count();
        for (limit, expected) in [(MS, 4_000), (2 * MS, 2_000), (4 * MS, 1_000), (8 * MS, 500)] {
            let found = above(limit);
            assert!(found.abs_diff(expected) < 250, "{found} above {limit:?}");
        }
        assert_eq!(above(most), 0);
        assert!(times.contains(&most), "the tail is cut off and not left out");
    }

    #[test]
    fn nothing_to_draw_from_gives_nothing() {
        let dice = Dice::default();
        assert_eq!((dice.index(0), dice.below(0)), (None, 0));
        assert_eq!(dice.duration(MS, Duration::ZERO), MS);
    }
}
