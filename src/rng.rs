//! Chance as a port, and the arithmetic that turns a draw into a number in a range.

/// A source of random 64-bit numbers.
///
/// One generator is shared by all calls of a mux, so it is drawn from by `&self`. It need not be
/// cryptographic. Use [`SeededRng`](crate::SeededRng) unless you have one of your own; any
/// generator of the rand ecosystem fits through [`RandCoreRng`](crate::RandCoreRng).
///
/// Implementors must be uniform over all of `u64`, and must never block.
pub trait Rng {
    /// The next number.
    fn next_u64(&self) -> u64;
}

impl<R: Rng + ?Sized> Rng for &R {
    fn next_u64(&self) -> u64 {
        (**self).next_u64()
    }
}

impl<R: Rng + ?Sized> Rng for crate::sync::Arc<R> {
    fn next_u64(&self) -> u64 {
        (**self).next_u64()
    }
}

/// The increment of SplitMix64: the golden ratio in 64 bits, made odd.
pub(crate) const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// The output function of SplitMix64 (Steele, Lea and Flood, 2014): a bijection of `u64` whose
/// values over a counter pass as random.
pub(crate) const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A number in `0..bound` out of one draw, zero for a bound of zero.
///
/// Multiply and shift (Lemire, 2019) without the rejection step: the bias is below
/// `bound / 2^64`, far under what any of our uses could show.
pub(crate) fn below(draw: u64, bound: u64) -> u64 {
    // The high half of a 64 by 64 bit product is below `bound`, so the cast keeps it whole.
    ((u128::from(draw) * u128::from(bound)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_is_spread_over_the_whole_range_and_never_leaves_it() {
        assert_eq!(below(0, 10), 0);
        assert_eq!(below(u64::MAX, 10), 9);
        assert_eq!(below(u64::MAX / 2 + 1, 10), 5);
        assert_eq!(below(u64::MAX, 0), 0);
        assert_eq!(below(u64::MAX, u64::MAX), u64::MAX - 1);
    }

    #[test]
    fn mixing_gives_the_published_sequence_of_splitmix64() {
        // The first three outputs for seed 1234567, from the reference implementation's page.
        let seed = 1_234_567_u64;
        let draws: [u64; 3] =
            core::array::from_fn(|i| mix(seed.wrapping_add(GAMMA.wrapping_mul(i as u64 + 1))));
        assert_eq!(
            draws,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }
}
