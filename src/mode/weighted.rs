//! Weighted: each call draws a backend by weight.

use alloc::boxed::Box;

use super::{AliasTable, Lots, MAX_BACKENDS, Turn};
use crate::error::{MuxCode, MuxError};

/// A weight: finite and not negative. Zero means no traffic, ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub(crate) struct Weight(f64);

impl Weight {
    /// Checks a weight. Minus zero is zero.
    ///
    /// # Errors
    ///
    /// `INVALID_WEIGHT` for a negative, infinite or undefined one.
    pub(crate) fn new(weight: f64) -> Result<Self, MuxError> {
        if weight.is_finite() && weight >= 0.0 {
            Ok(Self(weight + 0.0))
        } else {
            let detail = alloc::format!("{weight} is no weight");
            Err(MuxError::new(MuxCode::InvalidWeight).with_detail(detail))
        }
    }

    pub(crate) const fn get(self) -> f64 {
        self.0
    }
}

/// The weights of a roster, and the table over those that were healthy when it was made. Boxed,
/// since only one mode of six has any.
#[derive(Clone, Debug)]
pub(crate) struct Weights(Option<Box<Weighed>>);

#[derive(Clone, Debug)]
struct Weighed {
    each: [f64; MAX_BACKENDS],
    table: AliasTable,
}

impl Weights {
    /// The weights of a mux that does not use them.
    pub(crate) const fn none() -> Self {
        Self(None)
    }

    /// Weights by place in the roster, and a table over the places in `up`.
    ///
    /// Not inlined: what it takes of the stack is for those modes alone that weigh, and a roster is
    /// made anew at the far end of a call, when a backend has failed.
    #[inline(never)]
    pub(crate) fn new(
        weights: impl Iterator<Item = Option<Weight>>,
        up: super::BackendSet,
    ) -> Self {
        let mut each = [0.0; MAX_BACKENDS];
        for (slot, weight) in each.iter_mut().zip(weights) {
            *slot = weight.map_or(0.0, Weight::get);
        }
        let table = AliasTable::new(up.iter().map(|at| (at, each.get(at).copied().unwrap_or(0.0))));
        Self(Some(Box::new(Weighed { each, table })))
    }

    fn of(&self, at: usize) -> f64 {
        self.0.as_ref().and_then(|weighed| weighed.each.get(at).copied()).unwrap_or(0.0)
    }

    fn pick(&self, draw: u64) -> Option<usize> {
        self.0.as_ref().and_then(|weighed| weighed.table.pick(draw))
    }
}

/// For a new call a pick of the alias table; for a call that moves on, a draw by weight among the
/// rest, so it is over after as many draws as there were healthy backends.
///
/// A backend whose cooldown has passed is probed by the next call, if it has a weight.
pub(super) fn next(turn: &Turn<'_>, lots: &impl Lots) -> Option<usize> {
    let mut probes = turn.view.probe.minus(turn.tried).iter();
    if let Some(probe) = probes.find(|at| turn.weights.of(*at) > 0.0) {
        return Some(probe);
    }
    let rest = turn.view.up.minus(turn.tried);
    if turn.tried.is_empty()
        && let Some(pick) = turn.weights.pick(lots.draw())
        && rest.contains(pick)
    {
        return Some(pick);
    }
    roll(turn.weights, rest, lots)
}

/// A draw by weight among `rest`, in one pass over it.
fn roll(weights: &Weights, rest: super::BackendSet, lots: &impl Lots) -> Option<usize> {
    let largest = rest.iter().map(|at| weights.of(at)).fold(0.0_f64, f64::max);
    if largest <= 0.0 {
        return None;
    }
    // By the largest, so that the sum cannot overflow.
    let sum: f64 = rest.iter().map(|at| weights.of(at) / largest).sum();
    // The top 53 bits are a number in 0..1 that a float holds exactly.
    let mut point = (lots.draw() >> 11) as f64 / (1_u64 << 53) as f64 * sum;
    let mut chosen = None;
    for at in rest.iter().filter(|at| weights.of(*at) > 0.0) {
        chosen = Some(at);
        point -= weights.of(at) / largest;
        if point < 0.0 {
            break;
        }
    }
    // Where rounding leaves a point past the last one, it is the last one's.
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mode::testing::{TestLots, set, turn};
    use crate::mode::{BackendSet, View};

    fn weights(weights: &[f64], up: BackendSet) -> Weights {
        Weights::new(weights.iter().map(|weight| Weight::new(*weight).ok()), up)
    }

    fn counts(of: &Weights, turn: &Turn<'_>, calls: usize, seed: u64) -> [i64; 4] {
        let lots = TestLots::new(0, seed);
        let mut counts = [0; 4];
        for _ in 0..calls {
            let turn = Turn { weights: of, ..*turn };
            counts[next(&turn, &lots).expect("someone has weight")] += 1;
        }
        counts
    }

    /// Spec: WT-1
    #[test]
    fn one_three_six_over_a_thousand_calls_is_within_fifty_of_each_share() {
        for seed in 0..20 {
            let of = weights(&[1.0, 3.0, 6.0], set(&[0, 1, 2]));
            let counts = counts(&of, &turn(&[0, 1, 2], &[]), 1_000, seed);
            for (count, expected) in counts.into_iter().zip([100, 300, 600]) {
                assert!((count - expected).abs() <= 50, "seed {seed}: {counts:?}");
            }
        }
    }

    /// One draw is what the alias table takes; another would be that of a walk over all weights.
    ///
    /// Spec: WT-1
    #[test]
    fn a_new_call_costs_one_draw_and_so_does_each_that_moves_on() {
        let of = weights(&[1.0, 3.0, 6.0], set(&[0, 1, 2]));
        for tried in [&[][..], &[2], &[2, 0]] {
            let lots = TestLots::new(0, 9);
            assert!(next(&Turn { weights: &of, ..turn(&[0, 1, 2], tried) }, &lots).is_some());
            let fresh = TestLots::new(0, 9);
            let second = (fresh.draw(), fresh.draw()).1;
            assert_eq!(lots.draw(), second, "{tried:?}");
        }
    }

    /// Spec: WT-4
    #[test]
    fn a_call_that_moves_on_draws_by_weight_among_the_rest_and_ends_when_all_were_asked() {
        let of = weights(&[1.0, 3.0, 6.0], set(&[0, 1, 2]));
        let counts = counts(&of, &turn(&[0, 1, 2], &[2]), 4_000, 1);
        // Five standard deviations of 4000 draws at one in four.
        assert!((counts[0] - 1_000).abs() < 137 && counts[2] == 0, "{counts:?}");
        let over = Turn { weights: &of, ..turn(&[0, 1, 2], &[0, 1, 2]) };
        assert_eq!(next(&over, &TestLots::new(0, 1)), None);
    }

    /// Spec: WT-5
    #[test]
    fn a_zero_weight_gets_no_call_no_re_roll_and_no_probe() {
        let of = weights(&[0.0, 1.0, 0.0], set(&[0, 1]));
        let lots = TestLots::new(0, 1);
        let probe = View { up: set(&[0, 1]), probe: set(&[2]), ..View::default() };
        for _ in 0..1_000 {
            let fresh = Turn { weights: &of, view: probe, ..turn(&[], &[]) };
            assert_eq!(next(&fresh, &lots), Some(1));
            let moved = Turn { tried: set(&[1]), ..fresh };
            assert_eq!(next(&moved, &lots), None);
        }
    }

    /// One draw for ever.
    struct Drawn(u64);

    impl Lots for Drawn {
        fn ticket(&self) -> u64 {
            panic!("a weighted choice takes no turns")
        }

        fn draw(&self) -> u64 {
            self.0
        }
    }

    /// In floating point 0.1, 0.3 and 0.1 add up to more than what is left when each of them has
    /// been taken off again.
    ///
    /// Case SEL-01. Spec: WT-5
    #[test]
    fn no_rounding_gives_the_largest_draw_of_a_re_roll_to_a_zero_weight() {
        let of = weights(&[1.0, 0.1, 0.3, 0.1, 0.0], set(&[0, 1, 2, 3, 4]));
        let moved = Turn { weights: &of, ..turn(&[0, 1, 2, 3, 4], &[0]) };
        for (draw, expected) in [(0, 1), (u64::MAX, 3)] {
            assert_eq!(next(&moved, &Drawn(draw)), Some(expected), "draw {draw}");
        }
    }

    /// Spec: WT-4
    #[test]
    fn a_re_roll_between_equals_changes_hands_at_the_very_half_of_all_draws() {
        let of = weights(&[1.0, 5.0, 5.0], set(&[0, 1, 2]));
        let moved = Turn { weights: &of, ..turn(&[0, 1, 2], &[0]) };
        for (draw, expected) in [((1 << 63) - 1, 1), (1 << 63, 2)] {
            assert_eq!(next(&moved, &Drawn(draw)), Some(expected), "draw {draw}");
        }
    }

    /// Spec: HE-4, WT-1
    #[test]
    fn a_backend_past_its_cooldown_is_probed_by_the_next_call() {
        let of = weights(&[1.0, 1.0], set(&[0]));
        let view = View { up: set(&[0]), probe: set(&[1]), ..View::default() };
        let fresh = Turn { weights: &of, view, ..turn(&[], &[]) };
        assert_eq!(next(&fresh, &TestLots::new(0, 1)), Some(1));
        let slot_taken = Turn { tried: set(&[1]), ..fresh };
        assert_eq!(next(&slot_taken, &TestLots::new(0, 1)), Some(0));
    }

    /// Case SEL-03. Spec: WT-3
    #[test]
    fn only_a_finite_number_from_zero_up_is_a_weight() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, -f64::MIN_POSITIVE] {
            let error = Weight::new(bad).expect_err("no weight");
            assert_eq!(error.code().as_str(), "STORAGE_MUX.INVALID_WEIGHT");
        }
        for good in [0.0, -0.0, f64::MIN_POSITIVE, f64::MAX] {
            assert!(Weight::new(good).is_ok_and(|weight| weight.get().is_sign_positive()));
        }
    }

    /// Case SEL-13. Spec: WT-4
    #[test]
    fn a_re_roll_over_the_largest_weights_does_not_overflow() {
        let of = weights(&[f64::MAX, f64::MAX, f64::MAX], set(&[0, 1, 2]));
        let counts = counts(&of, &turn(&[0, 1, 2], &[0]), 1_000, 5);
        assert!((counts[1] - 500).abs() < 80, "{counts:?}");
    }
}
