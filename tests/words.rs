//! The plain values against independent models: keys, capabilities, instants.

use std::collections::BTreeSet;
use std::time::Duration;

use proptest::prelude::*;
use storage_mux::{Capabilities, Instant, Operation, PageRequest, StorageErrorKind, validate_key};

proptest! {
    /// Spec: P-7
    #[test]
    fn a_key_is_legal_unless_it_is_empty_too_long_or_holds_a_nul(
        key in prop_oneof![any::<String>(), "[a\\x00é🦀/]{0,6}"],
        limit in 0_usize..40,
    ) {
        let legal = (1..=limit).contains(&key.len()) && !key.chars().any(|c| c == '\0');
        match validate_key(&key, limit) {
            Ok(()) => prop_assert!(legal, "{:?} within {}", key, limit),
            Err(error) => {
                prop_assert!(!legal, "{:?} within {}: {}", key, limit, error);
                prop_assert_eq!(error.kind(), &StorageErrorKind::InvalidKey);
            }
        }
    }

    /// Spec: P-7
    #[test]
    fn the_limit_of_a_key_counts_bytes_and_is_itself_legal(key in "[a-zé中🦀]{1,30}") {
        prop_assert!(validate_key(&key, key.len()).is_ok());
        prop_assert!(validate_key(&key, key.len() + 1).is_ok());
        prop_assert!(validate_key(&key, key.len() - 1).is_err());
    }
}

/// Spec: P-7
#[test]
fn a_nul_anywhere_makes_a_key_illegal() {
    for key in ["\0", "\0a", "a\0", "a\0b", "é\0"] {
        assert!(validate_key(key, 100).is_err(), "{key:?}");
    }
    for key in [" ", "a\nb", "..", "/", "\u{7f}", "\u{feff}"] {
        assert!(validate_key(key, 100).is_ok(), "{key:?}");
    }
}

type Model = (BTreeSet<&'static str>, u32);

fn any_capabilities() -> impl Strategy<Value = (Capabilities, Model)> {
    let operations = proptest::sample::subsequence(&Operation::ALL[..], 0..=Operation::ALL.len());
    (operations, any::<u32>()).prop_map(|(operations, limit)| {
        let build = |set: Capabilities, operation: &Operation| set.with(*operation);
        let set = operations.iter().fold(Capabilities::none(limit), build);
        (set, (operations.iter().map(|operation| operation.as_str()).collect(), limit))
    })
}

fn model(set: Capabilities) -> Model {
    let operations = Operation::ALL.into_iter().filter(|operation| set.contains(*operation));
    let limit = u32::try_from(set.max_key_bytes()).expect("it came from 32 bits");
    (operations.map(Operation::as_str).collect(), limit)
}

fn any_operation() -> impl Strategy<Value = Operation> {
    proptest::sample::select(&Operation::ALL[..])
}

proptest! {
    /// Spec: MX-5, P-3
    #[test]
    fn capabilities_are_a_set_of_operations_and_a_limit(
        (set, expected) in any_capabilities(),
        operation in any_operation(),
    ) {
        prop_assert_eq!(model(set), expected.clone());
        let (mut more, mut less) = (expected.clone(), expected);
        more.0.insert(operation.as_str());
        less.0.remove(operation.as_str());
        prop_assert_eq!(model(set.with(operation)), more);
        prop_assert_eq!(model(set.without(operation)), less);
        prop_assert_eq!(set.with(operation).with(operation), set.with(operation));
        prop_assert_eq!(set.without(operation).without(operation), set.without(operation));
    }

    /// Spec: MX-5
    #[test]
    fn an_intersection_is_that_of_the_sets_and_the_shorter_limit(
        (a, model_a) in any_capabilities(),
        (b, model_b) in any_capabilities(),
        (c, _) in any_capabilities(),
    ) {
        let operations = model_a.0.intersection(&model_b.0).copied().collect();
        prop_assert_eq!(model(a.intersection(b)), (operations, model_a.1.min(model_b.1)));
        prop_assert_eq!(a.intersection(b), b.intersection(a));
        prop_assert_eq!(a.intersection(b).intersection(c), a.intersection(b.intersection(c)));
        prop_assert_eq!(a.intersection(a), a);
        prop_assert_eq!(a.intersection(Capabilities::all(u32::MAX)), a);
        prop_assert_eq!(a.intersection(Capabilities::none(0)), Capabilities::none(0));
    }
}

/// Spec: P-3
#[test]
fn all_and_none_are_what_they_say_and_operations_have_names_of_their_own() {
    let names: BTreeSet<&str> = Operation::ALL.into_iter().map(Operation::as_str).collect();
    assert_eq!(names.len(), Operation::ALL.len());
    assert_eq!(model(Capabilities::all(7)), (names, 7));
    assert_eq!(model(Capabilities::none(9)), (BTreeSet::new(), 9));
    let all = Operation::ALL.into_iter().fold(Capabilities::none(7), Capabilities::with);
    assert_eq!(all, Capabilities::all(7));
}

/// Spec: P-7
#[test]
fn a_page_of_no_keys_is_never_asked_for() {
    for (asked, limit) in [(0, 1), (1, 1), (2, 2), (usize::MAX, usize::MAX)] {
        assert_eq!(PageRequest::first(asked).limit, limit);
        assert_eq!(PageRequest::after("k", asked).limit, limit);
    }
}

/// Durations that lie around the edge of what an instant can tell, and all others.
fn any_duration() -> impl Strategy<Value = Duration> {
    prop_oneof![
        any::<Duration>(),
        any::<u64>().prop_map(Duration::from_nanos),
        (0_u64..3).prop_map(|more| Duration::from_nanos(u64::MAX) + Duration::from_nanos(more)),
        Just(Duration::ZERO),
        Just(Duration::MAX),
    ]
}

fn any_nanos() -> impl Strategy<Value = u64> {
    prop_oneof![any::<u64>(), 0..3_u64, (u64::MAX - 2)..=u64::MAX]
}

/// What fits into an instant, and the last one for what does not.
fn saturated(nanos: u128) -> u64 {
    nanos.min(u128::from(u64::MAX)) as u64
}

proptest! {
    /// Spec: HE-6, P-1
    #[test]
    fn adding_a_duration_saturates_and_never_goes_back(start in any_nanos(), add in any_duration()) {
        let instant = Instant::from_nanos(start);
        let later = instant + add;
        prop_assert_eq!(later.as_nanos(), saturated(u128::from(start) + add.as_nanos()));
        prop_assert!(later >= instant);
        prop_assert_eq!(Instant::from_epoch(add).as_nanos(), saturated(add.as_nanos()));
        if later < Instant::MAX {
            prop_assert_eq!(later - instant, add);
        }
    }

    /// Spec: HE-6, P-1
    #[test]
    fn a_difference_is_zero_where_the_clock_went_back(a in any_nanos(), b in any_nanos()) {
        let (from, to) = (Instant::from_nanos(a), Instant::from_nanos(b));
        let expected = u128::from(b).saturating_sub(u128::from(a));
        prop_assert_eq!((to - from).as_nanos(), expected);
        prop_assert_eq!(to.saturating_duration_since(from), to - from);
        prop_assert_eq!(from < to, !(to - from).is_zero());
        prop_assert_eq!(from.cmp(&to), a.cmp(&b));
    }

    /// Spec: P-1
    #[test]
    fn an_instant_prints_as_the_time_since_the_epoch(nanos in any_nanos()) {
        let shown = Instant::from_nanos(nanos).to_string();
        prop_assert_eq!(shown, format!("{:?}", Duration::from_nanos(nanos)));
    }
}

/// Spec: HE-6, P-1
#[test]
fn the_last_instant_is_reached_exactly_and_not_passed() {
    let one = Duration::from_nanos(1);
    let last_but_one = Instant::from_nanos(u64::MAX - 1);
    assert!(last_but_one < Instant::MAX);
    assert_eq!(last_but_one + one, Instant::MAX);
    assert_eq!(Instant::MAX + one, Instant::MAX);
    assert_eq!(Instant::MAX + Duration::MAX, Instant::MAX);
    assert_eq!(Instant::MAX - Instant::ZERO, Duration::from_nanos(u64::MAX));
    assert_eq!(Instant::ZERO - Instant::MAX, Duration::ZERO);
    assert_eq!(Instant::default(), Instant::ZERO);
}
