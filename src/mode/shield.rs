//! Shield: one origin, mirrors that stand in for it.

use super::{Plan, Quorum, Turn, failover};
use crate::port::Operation;

/// Reads ask in turn; writes go to all at once, and the origin decides. A conditional write is the
/// origin's alone: a mirror's version means nothing to it.
pub(super) const fn plan(operation: Operation) -> Plan {
    match operation {
        Operation::Set | Operation::SetPartial | Operation::Delete | Operation::SetStream => {
            Plan::Settle(Quorum::Origin)
        }
        _ => Plan::InTurn,
    }
}

/// The origin, then the mirrors in order, by the rules of failover.
pub(super) fn next(turn: &Turn<'_>) -> Option<usize> {
    if turn.operation == Operation::SetIf {
        return turn.origin.filter(|origin| !turn.tried.contains(*origin));
    }
    failover::next(turn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mode::View;
    use crate::mode::testing::{set, turn};

    /// Spec: SH-2, SH-3, MX-1
    #[test]
    fn unconditional_writes_fan_out_and_everything_else_asks_in_turn() {
        for operation in Operation::ALL {
            let fans_out = operation.is_write() && operation != Operation::SetIf;
            let expected = if fans_out { Plan::Settle(Quorum::Origin) } else { Plan::InTurn };
            assert_eq!(plan(operation), expected, "{operation}");
        }
    }

    /// Spec: SH-2
    #[test]
    fn a_read_asks_the_origin_and_then_the_mirrors_in_order() {
        assert_eq!(next(&turn(&[0, 1, 2], &[])), Some(0));
        assert_eq!(next(&turn(&[0, 1, 2], &[0])), Some(1));
    }

    /// Spec: MX-1
    #[test]
    fn a_conditional_write_asks_the_origin_even_in_cooldown_and_nobody_else() {
        let view = View { up: set(&[1, 2]), resting: set(&[0]), ..View::default() };
        let fresh = Turn { operation: Operation::SetIf, view, ..turn(&[], &[]) };
        assert_eq!(next(&fresh), Some(0));
        assert_eq!(next(&Turn { tried: set(&[0]), ..fresh }), None);
    }
}
