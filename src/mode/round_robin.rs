//! Round-robin: each call goes to the next backend around the circle.

use super::{BackendSet, Lots, Turn};

/// For a new call the healthy backend whose turn it is; for a call that moves on, the next one
/// around the circle that it has not asked.
///
/// The turn is counted among the usable backends only, so one that is down passes its share on to
/// all others and not to its neighbour.
pub(super) fn next(turn: &Turn<'_>, lots: &impl Lots) -> Option<usize> {
    let usable = turn.view.up.union(turn.view.probe).minus(turn.tried);
    match turn.last {
        None => pick(usable, lots.ticket()),
        Some(last) => usable.after(last),
    }
}

/// The one of `usable` that a ticket points to.
pub(super) fn pick(usable: BackendSet, ticket: u64) -> Option<usize> {
    let count = usable.len() as u64;
    if count == 0 { None } else { usable.nth((ticket % count) as usize) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mode::View;
    use crate::mode::testing::{TestLots, set, turn};

    fn counts(up: &[usize], calls: usize, first_ticket: u64) -> [usize; 4] {
        let lots = TestLots::new(first_ticket, 0);
        let mut counts = [0; 4];
        for _ in 0..calls {
            counts[next(&turn(up, &[]), &lots).expect("someone is up")] += 1;
        }
        counts
    }

    /// Spec: RR-1
    #[test]
    fn nine_calls_over_three_backends_give_three_each() {
        assert_eq!(counts(&[0, 1, 2], 9, 0), [3, 3, 3, 0]);
    }

    /// Spec: RR-2
    #[test]
    fn one_that_is_down_is_skipped() {
        assert_eq!(counts(&[0, 2], 4, 0), [2, 0, 2, 0]);
    }

    /// Case SEL-07. Spec: RR-2
    #[test]
    fn the_neighbour_of_a_dead_backend_gets_no_more_than_the_others() {
        assert_eq!(counts(&[0, 2, 3], 3_000, 0), [1_000, 0, 1_000, 1_000]);
    }

    /// Case SEL-08. Spec: RR-1
    #[test]
    fn the_counter_may_wrap() {
        let counts = counts(&[0, 1, 2], 12, u64::MAX - 2);
        assert!(counts[..3].iter().all(|count| (3..=5).contains(count)), "{counts:?}");
    }

    /// Spec: RR-3
    #[test]
    fn with_none_healthy_nobody_is_next() {
        let resting = View { resting: set(&[0, 1]), ..View::default() };
        let lots = TestLots::new(0, 0);
        assert_eq!(next(&Turn { view: resting, ..turn(&[], &[]) }, &lots), None);
    }

    /// Spec: RR-4
    #[test]
    fn a_call_that_moves_on_goes_around_the_circle_and_asks_each_once() {
        let lots = TestLots::new(2, 0);
        assert_eq!(next(&turn(&[0, 1, 2], &[]), &lots), Some(2));
        assert_eq!(next(&turn(&[0, 1, 2], &[2]), &lots), Some(0));
        assert_eq!(next(&turn(&[0, 1, 2], &[2, 0]), &lots), Some(1));
        assert_eq!(next(&turn(&[0, 1, 2], &[2, 0, 1]), &lots), None);
        assert_eq!(lots.ticket(), 3, "moving on takes nobody else's turn");
    }
}
