//! Failover: backends in order, the first that can answer does.

use super::Turn;

/// The first usable backend that was not tried in this call.
///
/// A backend in cooldown is skipped, so a hung primary costs one timeout and not one per call.
/// When none is usable the ones in cooldown are tried in order all the same: a late answer is
/// better than a certain refusal. One that another call is probing stays out even then.
pub(super) fn next(turn: &Turn<'_>) -> Option<usize> {
    let usable = turn.view.up.union(turn.view.probe).minus(turn.tried);
    usable.first().or_else(|| turn.view.resting.minus(turn.tried).first())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mode::View;
    use crate::mode::testing::{set, turn};

    /// Spec: FO-1
    #[test]
    fn the_order_is_the_order_of_the_backends() {
        assert_eq!(next(&turn(&[0, 1, 2], &[])), Some(0));
        assert_eq!(next(&turn(&[0, 1, 2], &[0])), Some(1));
        assert_eq!(next(&turn(&[0, 1, 2], &[0, 1])), Some(2));
        assert_eq!(next(&turn(&[0, 1, 2], &[0, 1, 2])), None);
    }

    /// Spec: FO-4
    #[test]
    fn a_backend_in_cooldown_is_skipped_while_any_other_is_usable() {
        let view = View { up: set(&[2]), resting: set(&[0, 1]), ..View::default() };
        assert_eq!(next(&Turn { view, ..turn(&[], &[]) }), Some(2));
    }

    /// Spec: FO-4
    #[test]
    fn when_all_are_in_cooldown_all_are_tried_in_order() {
        let view = View { resting: set(&[0, 1]), ..View::default() };
        assert_eq!(next(&Turn { view, ..turn(&[], &[]) }), Some(0));
        assert_eq!(next(&Turn { view, ..turn(&[], &[0]) }), Some(1));
        assert_eq!(next(&Turn { view, ..turn(&[], &[0, 1]) }), None);
    }

    /// Spec: HE-4
    #[test]
    fn a_backend_whose_cooldown_has_passed_takes_its_old_place_in_the_order() {
        let view = View { up: set(&[1]), probe: set(&[0]), ..View::default() };
        assert_eq!(next(&Turn { view, ..turn(&[], &[]) }), Some(0));
        assert_eq!(next(&Turn { view, ..turn(&[], &[0]) }), Some(1));
    }
}
