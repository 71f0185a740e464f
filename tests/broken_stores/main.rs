//! The public suite on broken stores: it finds each bug, and blames the rule that is broken.

mod bug;
mod cases;
mod entry;
mod listing;
mod store;
mod streams;

use std::collections::BTreeSet;

use futures_util::FutureExt;
use storage_mux::Operation;
use storage_mux::conformance::{self, Failures, Report};

use bug::Bug;
use cases::CASES;
use store::Broken;

fn suite_on(bug: Bug) -> Result<Report, Failures> {
    conformance::run(&Broken::new(bug)).now_or_never().expect("a broken store never waits")
}

fn bugs() -> impl Iterator<Item = (Bug, &'static str, &'static [&'static str])> {
    CASES.iter().flat_map(|(bugs, rule, also)| bugs.iter().map(move |bug| (*bug, *rule, *also)))
}

/// Spec: CF-1
#[test]
fn with_every_switch_off_the_store_holds_every_rule() {
    if let Err(failures) = suite_on(Bug::None) {
        panic!("{failures}");
    }
}

/// Spec: CF-1, P-7
#[test]
fn each_bug_breaks_its_rule_and_no_more_than_it_must() {
    for (bug, rule, also) in bugs() {
        let failures = suite_on(bug).expect_err(&format!("{bug:?} goes unseen"));
        let found: BTreeSet<&str> = failures.iter().map(|failure| failure.rule().id()).collect();
        let expected: BTreeSet<&str> = also.iter().copied().chain([rule]).collect();
        assert_eq!(found, expected, "{bug:?}: {failures}");
    }
}

/// Spec: CF-1
#[test]
fn each_rule_has_a_bug_that_it_is_there_to_find() {
    let found: BTreeSet<&str> = CASES.iter().map(|(_, rule, _)| *rule).collect();
    let rules: BTreeSet<&str> = conformance::rules().map(conformance::Rule::id).collect();
    assert_eq!(found, rules);
}

/// Spec: CF-1
#[test]
fn a_failure_names_the_operation_that_is_at_fault() {
    for (bug, rule, _) in bugs() {
        let (Bug::UndeclaredButDone(operation)
        | Bug::TakesEmptyKey(operation)
        | Bug::TakesNul(operation)
        | Bug::TakesLongKey(operation)
        | Bug::EmptyKeyIsMissing(operation)
        | Bug::MissingIsEmpty(operation)
        | Bug::DirectoryHasValue(operation)
        | Bug::AbortIsTransient(operation)) = bug
        else {
            continue;
        };
        let failures = suite_on(bug).expect_err("a bug");
        let failure = failures.iter().find(|failure| failure.rule().id() == rule);
        let step = failure.map(|failure| failure.step()).unwrap_or_default();
        let named = |end: &str| step.starts_with(&format!("{operation}{end}"));
        assert!(named("(") || named(" of"), "{bug:?}: {step:?}");
    }
}

/// Spec: CF-1
#[test]
fn a_bug_of_any_operation_is_looked_for_in_every_operation() {
    let keyed = Operation::ALL.iter().filter(|operation| **operation != Operation::List);
    for bug in [Bug::TakesEmptyKey, Bug::TakesNul, Bug::TakesLongKey] {
        for operation in keyed.clone() {
            assert!(bugs().any(|(known, ..)| known == bug(*operation)), "{:?}", bug(*operation));
        }
    }
    for bug in [Bug::UndeclaredButDone, Bug::AbortIsTransient] {
        for operation in Operation::ALL {
            assert!(bugs().any(|(known, ..)| known == bug(operation)), "{:?}", bug(operation));
        }
    }
}

/// Spec: CF-1, E-5
#[test]
fn what_a_failure_says_can_be_read_on_one_line() {
    for (bug, ..) in bugs() {
        let failures = suite_on(bug).expect_err("a bug");
        for failure in failures.iter() {
            let text = failure.to_string();
            assert!(!text.contains(char::is_control), "{bug:?}: {text:?}");
            let chars = text.chars().count();
            assert!(chars < 1_000, "{bug:?}: {chars} characters: {text}");
            assert_ne!(failure.expected(), failure.found(), "{bug:?}: {text}");
        }
    }
}
