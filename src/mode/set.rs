//! A set of backends by their place in the roster, in one machine word.

/// Up to 64 backends, one bit each. Iterates in the order of the roster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BackendSet(u64);

impl BackendSet {
    pub(crate) const EMPTY: Self = Self(0);

    const fn bit(index: usize) -> u64 {
        if index < u64::BITS as usize { 1 << index } else { 0 }
    }

    pub(crate) const fn insert(&mut self, index: usize) {
        self.0 |= Self::bit(index);
    }

    pub(crate) const fn contains(self, index: usize) -> bool {
        self.0 & Self::bit(index) != 0
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    pub(crate) const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn minus(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The first in the order of the roster.
    pub(crate) const fn first(self) -> Option<usize> {
        if self.0 == 0 { None } else { Some(self.0.trailing_zeros() as usize) }
    }

    /// The one with `rank` others before it: the selection of the nth set bit, in six steps
    /// whatever the rank.
    pub(crate) const fn nth(self, rank: usize) -> Option<usize> {
        if rank >= self.len() {
            return None;
        }
        let (mut rest, mut rank, mut at, mut width) = (self.0, rank as u32, 0, u64::BITS);
        while width > 1 {
            width /= 2;
            let low = (rest & ((1 << width) - 1)).count_ones();
            if rank >= low {
                rank -= low;
                rest >>= width;
                at += width;
            }
        }
        Some(at as usize)
    }

    /// The first behind `index`, around the circle.
    pub(crate) const fn after(self, index: usize) -> Option<usize> {
        let from = index + 1;
        let behind = if from < u64::BITS as usize { self.0 & (u64::MAX << from) } else { 0 };
        if behind == 0 { self.first() } else { Self(behind).first() }
    }

    /// All, in the order of the roster.
    pub(crate) fn iter(self) -> impl Iterator<Item = usize> {
        let mut rest = self;
        core::iter::from_fn(move || {
            let first = rest.first()?;
            rest.0 &= rest.0 - 1;
            Some(first)
        })
    }
}

impl FromIterator<usize> for BackendSet {
    fn from_iter<I: IntoIterator<Item = usize>>(indices: I) -> Self {
        let mut set = Self::EMPTY;
        indices.into_iter().for_each(|index| set.insert(index));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn the_nth_is_the_nth_of_a_plain_listing() {
        let mut bits = 0x8000_0000_0000_0001_u64;
        for _ in 0..2_000 {
            let set = BackendSet(bits);
            let all: Vec<_> = set.iter().collect();
            for (rank, index) in all.iter().enumerate() {
                assert_eq!(set.nth(rank), Some(*index), "{bits:#x}");
            }
            assert_eq!(set.nth(all.len()), None);
            bits = crate::rng::mix(bits) & crate::rng::mix(!bits);
        }
        assert_eq!(BackendSet(u64::MAX).nth(63), Some(63));
    }

    #[test]
    fn a_union_holds_what_both_hold_too_and_a_difference_only_what_the_first_holds() {
        let [one, other]: [BackendSet; 2] = [[1, 2], [2, 63]].map(BackendSet::from_iter);
        assert_eq!(one.union(other).iter().collect::<Vec<_>>(), [1, 2, 63]);
        assert_eq!(one.minus(other).iter().collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn after_the_last_comes_the_first() {
        let set: BackendSet = [1, 5, 63].into_iter().collect();
        let order: Vec<_> = [0, 1, 4, 5, 62, 63].iter().map(|at| set.after(*at)).collect();
        assert_eq!(order, [Some(1), Some(5), Some(5), Some(63), Some(63), Some(1)]);
        assert_eq!(BackendSet::EMPTY.after(0), None);
    }

    #[test]
    fn the_first_and_the_last_place_are_kept_and_the_one_past_it_is_not() {
        let set: BackendSet = [63, 0, 64].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63]);
        assert_eq!(set.len(), 2);
        assert!(set.contains(63) && !set.contains(64));
        assert_eq!(set.minus([0].into_iter().collect()).first(), Some(63));
        assert!(BackendSet::EMPTY.is_empty() && BackendSet::EMPTY.first().is_none());
    }
}
