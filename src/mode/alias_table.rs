//! A random choice by weight in constant time.

use heapless::Vec;

use super::MAX_BACKENDS;

/// One slot of the table: the item that owns it and the one that shares it.
#[derive(Clone, Copy, Debug)]
struct Slot {
    own: u16,
    alias: u16,
    /// The owner's part of the slot, as a fraction of 2^64. A full slot has itself as alias.
    keep: u64,
}

/// A table that picks an index with a probability in proportion to its weight, by one draw.
///
/// Items of weight zero are not in the table at all, so no rounding can ever pick one.
///
/// Sources: A. J. Walker, "An efficient method for generating discrete random variables with
/// general distributions", 1977; M. D. Vose, "A linear algorithm for generating random numbers
/// with a given distribution", 1991, whose construction this is.
#[derive(Clone, Debug, Default)]
pub(crate) struct AliasTable(Vec<Slot, MAX_BACKENDS>);

impl AliasTable {
    /// A table of `(index, weight)` pairs. Weights are finite and not negative; anything else, and
    /// whatever does not fit, is left out.
    ///
    /// Not inlined: its lists take kilobytes of stack, which only a weighted mux should need.
    #[inline(never)]
    pub(crate) fn new(weights: impl Iterator<Item = (usize, f64)>) -> Self {
        let mut items: Vec<(u16, f64), MAX_BACKENDS> = Vec::new();
        for (index, weight) in weights {
            if let Ok(index) = u16::try_from(index)
                && weight > 0.0
                && weight.is_finite()
            {
                // A full list drops the item, as documented.
                let _ = items.push((index, weight));
            }
        }
        // First by the largest and then by the mean, so that no sum overflows or vanishes.
        let largest = items.iter().fold(0.0_f64, |most, (_, weight)| most.max(*weight));
        let sum: f64 = items.iter().map(|(_, weight)| weight / largest).sum();
        let mean = sum / items.len() as f64;
        let share = |weight: f64| weight / largest / mean;

        let (mut small, mut large) = (Vec::<_, MAX_BACKENDS>::new(), Vec::<_, MAX_BACKENDS>::new());
        for &(index, weight) in &items {
            let part = share(weight);
            let _ = if part < 1.0 { small.push((index, part)) } else { large.push((index, part)) };
        }
        let mut slots = Vec::new();
        while let Some((own, part)) = small.pop() {
            let Some((alias, rest)) = large.pop() else {
                // Only rounding leaves a small one without a partner: it is full in truth.
                let _ = slots.push(Slot { own, alias: own, keep: u64::MAX });
                continue;
            };
            let _ = slots.push(Slot { own, alias, keep: fraction(part) });
            let rest = rest - (1.0 - part);
            let _ = if rest < 1.0 { small.push((alias, rest)) } else { large.push((alias, rest)) };
        }
        for &(own, _) in &large {
            let _ = slots.push(Slot { own, alias: own, keep: u64::MAX });
        }
        Self(slots)
    }

    /// Picks an index by one random number: its high part chooses the slot, and what is left over
    /// is the coin. `None` where nothing has weight.
    pub(crate) fn pick(&self, draw: u64) -> Option<usize> {
        let product = u128::from(draw) * self.0.len() as u128;
        let slot = self.0.get((product >> 64) as usize)?;
        let coin = product as u64;
        Some(usize::from(if coin < slot.keep { slot.own } else { slot.alias }))
    }
}

/// A part of one as a fraction of 2^64. The cast saturates.
fn fraction(part: f64) -> u64 {
    (part * 18_446_744_073_709_551_616.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use crate::sync::SeededRng;

    fn table(weights: &[f64]) -> AliasTable {
        AliasTable::new(weights.iter().copied().enumerate())
    }

    /// What each index gets of the whole table, summed over its slots.
    fn shares(table: &AliasTable, count: usize) -> alloc::vec::Vec<f64> {
        let mut shares = alloc::vec![0.0; count];
        for slot in &table.0 {
            let kept = slot.keep as f64 / 18_446_744_073_709_551_616.0;
            shares[usize::from(slot.own)] += kept / table.0.len() as f64;
            shares[usize::from(slot.alias)] += (1.0 - kept) / table.0.len() as f64;
        }
        shares
    }

    /// Case SEL-05. Spec: WT-1
    #[test]
    fn the_slots_of_each_item_add_up_to_its_share() {
        for weights in [&[9.0, 7.0, 1.0][..], &[1.0, 3.0, 6.0], &[5.0], &[0.0, 1.0, 0.0, 3.0, 0.0]]
        {
            let total: f64 = weights.iter().sum();
            let shares = shares(&table(weights), weights.len());
            for (share, weight) in shares.iter().zip(weights) {
                assert!((share - weight / total).abs() < 1e-12, "{weights:?} gives {shares:?}");
            }
        }
    }

    /// Case SEL-05. Spec: WT-1
    #[test]
    fn seeded_draws_follow_the_weights() {
        let (table, rng, mut counts) = (table(&[9.0, 7.0, 1.0]), SeededRng::new(11), [0_i64; 3]);
        for _ in 0..170_000 {
            counts[table.pick(rng.next_u64()).expect("an index")] += 1;
        }
        for (count, (expected, bound)) in
            counts.into_iter().zip([(90_000, 1_030), (70_000, 1_015), (10_000, 486)])
        {
            assert!((count - expected).abs() <= bound, "{counts:?}");
        }
    }

    /// Of two slots for weights of one and three the first is shared half and half, and the second is
    /// the heavier one's: a quarter of all draws against three quarters.
    ///
    /// Spec: WT-1
    #[test]
    fn a_shared_slot_changes_hands_at_the_very_draw_where_the_share_ends() {
        let (table, quarter) = (table(&[1.0, 3.0]), 1 << 62);
        for (draw, expected) in
            [(0, 0), (quarter - 1, 0), (quarter, 1), (2 * quarter, 1), (u64::MAX, 1)]
        {
            assert_eq!(table.pick(draw), Some(expected), "draw {draw}");
        }
    }

    /// Case SEL-01. Spec: WT-5
    #[test]
    fn a_zero_weight_is_never_picked_not_even_at_the_edges_of_a_draw() {
        let table = table(&[0.0, 1.0, 0.0, 3.0, 0.0]);
        let rng = SeededRng::new(3);
        let edges = [0, 1, u64::MAX / 2, u64::MAX / 2 + 1, u64::MAX - 1, u64::MAX];
        let draws = edges.into_iter().chain((0..1_000_000).map(|_| rng.next_u64()));
        for draw in draws {
            assert!(matches!(table.pick(draw), Some(1 | 3)), "draw {draw}");
        }
    }

    /// Case SEL-02, SEL-09. Spec: WT-3
    #[test]
    fn a_table_without_weight_picks_nobody() {
        assert_eq!(table(&[]).pick(7), None);
        assert_eq!(table(&[0.0, -0.0]).pick(7), None);
        assert_eq!(table(&[f64::NAN, f64::INFINITY, -1.0]).pick(u64::MAX), None);
    }

    /// Case SEL-13. Spec: WT-1
    #[test]
    fn very_large_and_very_small_weights_keep_their_proportions() {
        for weights in [&[f64::MAX, f64::MAX][..], &[1e-300, 1e-300], &[4_294_967_295.0; 5]] {
            let even = 1.0 / weights.len() as f64;
            for share in shares(&table(weights), weights.len()) {
                assert!((share - even).abs() < 1e-12, "{weights:?}");
            }
        }
        let lopsided = shares(&table(&[1.0, 1e15]), 2);
        assert!(lopsided[0] > 0.0 && lopsided[0] < 2e-15, "{lopsided:?}");
    }

    /// Spec: WT-1
    #[test]
    fn sixty_four_items_fit() {
        let table = AliasTable::new((0..64).map(|index| (index, 1.0)));
        assert_eq!(table.pick(0), Some(usize::from(table.0[0].own)));
        assert_eq!(table.0.len(), 64);
        assert!(table.pick(u64::MAX).is_some());
    }
}
