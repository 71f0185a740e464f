//! Mirror: symmetric peers, raced for reads and all written.

use super::{Plan, Quorum};
use crate::port::{Capabilities, Operation};

/// Reads race; writes go to all healthy peers, and anyone's success is one.
pub(super) const fn plan(operation: Operation) -> Plan {
    if operation.is_write() { Plan::Settle(Quorum::Any) } else { Plan::Race }
}

/// Without an origin nobody can decide a condition.
pub(super) const fn capabilities(shared: Capabilities) -> Capabilities {
    shared.without(Operation::SetIf)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spec: MI-1, MI-3
    #[test]
    fn reads_race_and_writes_settle() {
        for operation in Operation::ALL {
            let expected =
                if operation.is_write() { Plan::Settle(Quorum::Any) } else { Plan::Race };
            assert_eq!(plan(operation), expected, "{operation}");
        }
    }

    /// Spec: MX-1
    #[test]
    fn a_conditional_write_is_not_among_its_capabilities() {
        let all = Capabilities::all(9);
        assert_eq!(capabilities(all), all.without(Operation::SetIf));
    }
}
