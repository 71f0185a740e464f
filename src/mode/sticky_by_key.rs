//! Sticky by key: all calls of one key go to one backend.

use core::hash::Hasher;

use fnv::FnvHasher;

use super::{Lots, Turn, round_robin};

/// The backend that the hash of the key points to among the usable ones; for a call that moves on,
/// the one that the same formula gives over the rest. Without a key, round-robin.
///
/// The index is FNV-1a-64 of the key's bytes modulo the number of backends. When one goes down the
/// keys of the others move too (about half of them, of three); when it returns, the old mapping
/// does. The hash is G. Fowler, L. C. Noll and K.-P. Vo's.
pub(super) fn next(turn: &Turn<'_>, lots: &impl Lots) -> Option<usize> {
    let Some(key) = turn.key else { return round_robin::next(turn, lots) };
    let mut hasher = FnvHasher::default();
    hasher.write(key.as_bytes());
    let hash = hasher.finish();
    // A backend past its cooldown is probed by a call whose key would be its own. Any other key
    // stays where it is until the probe has shown that the backend is back.
    let up = turn.view.up.minus(turn.tried);
    let probe = turn.view.probe.minus(turn.tried);
    let home = round_robin::pick(up.union(probe), hash).filter(|home| probe.contains(*home));
    let own = home.filter(|_| turn.tried.is_empty());
    own.or_else(|| round_robin::pick(up, hash)).or_else(|| probe.first())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mode::View;
    use crate::mode::testing::{TestLots, set, turn};

    fn home(key: &'static str, up: &[usize], tried: &[usize]) -> Option<usize> {
        let lots = TestLots::new(0, 0);
        next(&Turn { key: Some(key), ..turn(up, tried) }, &lots)
    }

    /// Spec: ST-1
    #[test]
    fn the_index_is_the_published_hash_modulo_the_healthy_count() {
        // FNV-1a-64 of "", "a" and "foobar" as published with the algorithm.
        for (key, hash) in [
            ("", 0xcbf2_9ce4_8422_2325_u64),
            ("a", 0xaf63_dc4c_8601_ec8c),
            ("foobar", 0x8594_4171_f739_67e8),
        ] {
            for count in 1..=5_usize {
                let up: alloc::vec::Vec<usize> = (0..count).collect();
                assert_eq!(home(key, &up, &[]), Some((hash % count as u64) as usize));
            }
        }
    }

    /// Spec: ST-2
    #[test]
    fn a_key_whose_backend_is_down_moves_to_one_of_the_rest_and_stays_there() {
        let before = home("alpha", &[0, 1, 2], &[]).expect("a home");
        let rest: alloc::vec::Vec<usize> = (0..3).filter(|at| *at != before).collect();
        let after = home("alpha", &rest, &[]).expect("a new home");
        assert_ne!(before, after);
        assert_eq!(home("alpha", &rest, &[]), Some(after));
        assert_eq!(home("alpha", &[0, 1, 2], &[]), Some(before), "and back again");
    }

    /// Spec: ST-3
    #[test]
    fn without_a_key_calls_go_around() {
        let lots = TestLots::new(0, 0);
        let turn = Turn { key: None, ..turn(&[0, 1, 2], &[]) };
        let order: [_; 4] = core::array::from_fn(|_| next(&turn, &lots));
        assert_eq!(order, [Some(0), Some(1), Some(2), Some(0)]);
    }

    /// Spec: ST-4
    #[test]
    fn a_call_that_moves_on_picks_by_the_same_formula_over_the_rest() {
        let first = home("beta", &[0, 1, 2], &[]).expect("a home");
        let rest: alloc::vec::Vec<usize> = (0..3).filter(|at| *at != first).collect();
        assert_eq!(home("beta", &[0, 1, 2], &[first]), home("beta", &rest, &[]));
        assert_eq!(home("beta", &[0, 1, 2], &[0, 1, 2]), None);
    }

    /// Spec: HE-4, ST-2
    #[test]
    fn only_keys_at_home_on_a_backend_past_its_cooldown_probe_it() {
        let lots = TestLots::new(0, 0);
        let view = View { up: set(&[0, 2]), probe: set(&[1]), ..View::default() };
        let keys = ["a", "b", "c", "d", "e", "f", "g", "h"];
        let mut probed = 0;
        for key in keys {
            let at_home = home(key, &[0, 1, 2], &[]) == Some(1);
            let fresh = Turn { key: Some(key), view, ..turn(&[], &[]) };
            let stays = home(key, &[0, 2], &[]);
            let expected = if at_home { Some(1) } else { stays };
            assert_eq!(next(&fresh, &lots), expected, "{key}");
            let taken = Turn { tried: set(&[1]), ..fresh };
            assert_eq!(next(&taken, &lots), stays, "{key}");
            probed += usize::from(at_home);
        }
        assert!(probed > 0 && probed < keys.len());
    }
}
