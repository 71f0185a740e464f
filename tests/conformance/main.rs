//! The public suite on good storages: bare, wrapped, shared, restricted and already in use.

use std::collections::BTreeSet;
use std::rc::Rc;

use bytes::Bytes;
use futures_util::FutureExt;
use storage_mux::conformance::{self, Failures, Report, Suite};
use storage_mux::sim::{FakeClock, Fault, FaultStorage, run};
use storage_mux::{
    LocalHandle, LocalStorage, MemoryStorage, OpContext, Operation, SharedStorage, Storage,
    StorageError,
};

mod modes;
mod restricted;

use restricted::Restricted;

/// The suite on a storage that never waits.
fn suite_on<S: LocalStorage>(storage: &S) -> Result<Report, Failures> {
    conformance::run(storage).now_or_never().expect("the suite waits only for the storage")
}

#[track_caller]
fn holds_every_rule<S: LocalStorage>(storage: &S) {
    let report = suite_on(storage).unwrap_or_else(|failures| panic!("{failures}"));
    assert_eq!(report.checked().len(), conformance::rules().count());
    assert!(report.skipped().is_empty() && report.excepted().is_empty());
}

/// Spec: CF-1, P-6, P-7
#[test]
fn the_memory_storage_holds_every_rule_and_is_left_empty() {
    let storage = MemoryStorage::new();
    holds_every_rule(&storage);
    assert_eq!(storage.keys(), Vec::<String>::new());
    holds_every_rule(&storage);
}

/// Spec: CF-1, P-3, P-4
#[test]
fn every_handle_to_a_storage_holds_what_the_storage_holds() {
    holds_every_rule(&Rc::new(MemoryStorage::new()));
    holds_every_rule(&SharedStorage::new(MemoryStorage::new()));
    holds_every_rule(&LocalHandle::new(MemoryStorage::new()));
    holds_every_rule(&LocalHandle::new(Rc::new(MemoryStorage::new())));
    holds_every_rule(&SharedStorage::new(SharedStorage::new(MemoryStorage::new())));
}

/// Spec: CF-1
#[test]
fn a_fault_storage_without_faults_holds_every_rule_however_slow_it_is() {
    let clock = FakeClock::new();
    let storage = FaultStorage::new(MemoryStorage::new(), clock.clone());
    holds_every_rule(&storage);
    storage.set_always(Fault::Delay(core::time::Duration::from_millis(7)));
    let report = run(&clock, conformance::run(&storage)).expect("every operation ends");
    assert!(report.is_ok());
    assert!(storage.inner().is_empty());
}

/// Spec: CF-1, P-3
#[test]
fn the_suite_on_a_shared_storage_may_move_between_threads() {
    fn moves<T: Send>(future: T) -> T {
        future
    }
    let storage = SharedStorage::new(MemoryStorage::new());
    assert!(moves(conformance::run(&storage)).now_or_never().is_some_and(|found| found.is_ok()));
}

/// Spec: CF-1
#[test]
fn keys_of_others_are_neither_in_the_way_nor_touched() {
    let (storage, cx) = (MemoryStorage::new(), OpContext::new());
    // On both sides of the suite's prefix, right beside it, and more than a page of them.
    let mut keys: Vec<String> =
        ["a", "conformance", "conformance.", "conformance0", "z", "\u{10ffff}"]
            .map(String::from)
            .into();
    keys.extend((0..2_500).map(|n| format!("bulk/{n}")));
    keys.extend((0..2_500).map(|n| format!("zulu/{n}")));
    for key in &keys {
        Storage::set(&storage, key, key.clone().into(), &cx).now_or_never().unwrap().unwrap();
    }
    let stat = |key: &String| Storage::stat(&storage, key, &cx).now_or_never().unwrap().unwrap();
    let before: Vec<_> = keys.iter().map(stat).collect();

    holds_every_rule(&storage);

    let after: Vec<_> = keys.iter().map(stat).collect();
    assert_eq!(before, after, "sizes and versions");
    assert_eq!(storage.len(), keys.len());
}

/// Spec: CF-1
#[test]
fn a_run_that_was_dropped_anywhere_does_not_trouble_the_next() {
    let whole = {
        let storage = FaultStorage::new(MemoryStorage::new(), FakeClock::new());
        holds_every_rule(&storage);
        storage.calls()
    };
    for call in (0..whole).step_by(17) {
        let clock = FakeClock::new();
        let storage = FaultStorage::new(MemoryStorage::new(), clock.clone());
        (0..call).for_each(|_| storage.push(Fault::None));
        storage.push(Fault::Hang);
        assert!(run(&clock, conformance::run(&storage)).is_err(), "call {call} hangs");
        holds_every_rule(&storage);
        assert!(storage.inner().is_empty(), "dropped at call {call}");
    }
}

/// Spec: CF-1, P-3, MX-5
#[test]
fn a_storage_that_declares_less_is_asked_just_for_what_it_declares() {
    for lacking in Operation::ALL {
        let storage = Restricted::new(MemoryStorage::new(), |all| all.without(lacking));
        let report = suite_on(&storage).unwrap_or_else(|failures| panic!("{lacking}: {failures}"));
        let skipped: BTreeSet<&str> = report.skipped().iter().map(|rule| rule.id()).collect();
        let expected: BTreeSet<&str> = conformance::rules()
            .filter(|rule| rule.needs().contains(&lacking))
            .map(conformance::Rule::id)
            .collect();
        assert!(!expected.is_empty(), "no rule is about {lacking}");
        assert_eq!(skipped, expected, "without {lacking}");
    }
}

/// Spec: CF-1
#[test]
fn a_storage_that_cannot_delete_is_not_written_to() {
    let memory = MemoryStorage::new();
    let storage = Restricted::new(memory.clone(), |all| all.without(Operation::Delete));
    let report = suite_on(&storage).unwrap_or_else(|failures| panic!("{failures}"));
    assert!(report.checked().iter().any(|rule| rule.id() == "get-missing"));
    assert!(memory.is_empty());
}

/// Spec: CF-1
#[test]
fn a_storage_that_declares_nothing_but_is_honest_about_it_passes() {
    let storage = Restricted::new(MemoryStorage::new(), |_| storage_mux::Capabilities::none(64));
    let report = suite_on(&storage).unwrap_or_else(|failures| panic!("{failures}"));
    assert_eq!(report.checked().first().map(|rule| rule.id()), Some("key-room"));
}

/// Spec: CF-1, P-7
#[test]
fn the_suite_fits_into_the_key_limit_that_it_asks_for_and_not_into_one_less() {
    let limited = |limit| {
        Restricted::new(MemoryStorage::new(), move |_| storage_mux::Capabilities::all(limit))
    };
    let wanted = "conformance/".len() as u32 + 24;
    assert!(suite_on(&limited(wanted)).is_ok());

    let failures = suite_on(&limited(wanted - 1)).expect_err("too little room");
    let ids: Vec<&str> = failures.iter().map(|failure| failure.rule().id()).collect();
    assert_eq!(ids, ["key-room"], "nothing else can be said");
    assert!(failures.to_string().contains("a shorter prefix"));

    let short = Suite::new().with_prefix("c/");
    assert!(short.run(&limited(wanted - 1)).now_or_never().unwrap().is_ok());
}

/// Spec: CF-1
#[test]
fn everything_is_written_under_the_prefix() {
    for prefix in ["conformance/", "my own prefix:", ""] {
        let storage = FaultStorage::new(MemoryStorage::new(), FakeClock::new());
        let suite = Suite::new().with_prefix(prefix);
        assert!(suite.run(&storage).now_or_never().unwrap().is_ok());
        for (operation, key) in storage.log() {
            // Illegal keys have no prefix, and the root must be listed.
            let bare = key.is_empty();
            assert!(bare || key.starts_with(prefix), "{operation}({key:?}) leaves {prefix:?}");
        }
    }
}

/// Spec: CF-1
#[test]
fn an_exception_is_left_out_and_reported() {
    let storage = MemoryStorage::new();
    let suite = Suite::new().without("abort").without("no such rule");
    let report = suite.run(&storage).now_or_never().unwrap().unwrap();
    let excepted: Vec<&str> = report.excepted().iter().map(|rule| rule.id()).collect();
    assert_eq!(excepted, ["abort"]);
    assert_eq!(report.checked().len(), conformance::rules().count() - 1);
    assert_eq!(
        report.to_string(),
        format!("{} rules checked, 0 skipped for lack of an operation, 1 excepted", {
            report.checked().len()
        })
    );
}

/// Spec: CF-1
#[test]
fn the_largest_value_is_as_large_as_it_was_set() {
    for bytes in [0, 1, 70_000] {
        let storage = Restricted::new(MemoryStorage::new(), |all| all);
        let suite = Suite::new().with_large_value(bytes);
        assert!(suite.run(&storage).now_or_never().unwrap().is_ok());
        assert_eq!(storage.largest_set(), bytes.max(1_000));
    }
}

/// Spec: CF-1, E-5
#[test]
fn a_failure_tells_rule_step_expectation_and_finding_on_one_line() {
    let storage = FaultStorage::new(MemoryStorage::new(), FakeClock::new());
    let hostile = StorageError::http(500).with_detail("line one\nline two\u{1b}[31m");
    storage.set_always(Fault::Fail(hostile));
    let failures = suite_on(&storage).expect_err("a storage that only fails");

    // Only the limit of the keys and the honesty of the capabilities need no answer.
    let failed: BTreeSet<&str> = failures.iter().map(|failure| failure.rule().id()).collect();
    let expected: BTreeSet<&str> = conformance::rules()
        .map(conformance::Rule::id)
        .filter(|id| !["key-room", "unsupported"].contains(id))
        .collect();
    assert_eq!(failed, expected);
    assert_eq!(failures.report().checked().len(), conformance::rules().count());

    for failure in failures.iter() {
        let text = failure.to_string();
        assert!(!text.contains(char::is_control), "{text:?}");
        for part in
            [failure.rule().id(), failure.step(), failure.expected(), failure.found(), "http 500"]
        {
            assert!(text.contains(part), "{part:?} is missing from {text:?}");
        }
    }
    assert!(!failures.to_string().contains(char::is_control));
}

/// Spec: CF-1
#[test]
fn rules_have_ids_of_their_own_and_plain_sentences() {
    let ids: BTreeSet<&str> = conformance::rules().map(conformance::Rule::id).collect();
    assert_eq!(ids.len(), conformance::rules().count());
    for rule in conformance::rules() {
        let plain = |c: char| c.is_ascii_lowercase() || c == '-';
        assert!(!rule.id().is_empty() && rule.id().chars().all(plain), "{rule}");
        assert!(rule.text().len() > 20 && !rule.text().contains('\n'), "{rule}");
        assert!(!rule.text().ends_with('.'), "{rule}");
        let writes = rule.needs().iter().any(|operation| operation.is_write());
        assert!(!writes || rule.needs().contains(&Operation::Delete), "{rule} would leave litter");
    }
}

/// Spec: P-3
#[test]
fn operations_that_an_implementor_does_not_have_answer_unsupported_by_themselves() {
    let storage = restricted::Minimal(MemoryStorage::new());
    let cx = OpContext::new();
    let range = Storage::get_range(&storage, "k", 0..1, &cx).now_or_never().unwrap();
    assert_eq!(range, Err(StorageError::unsupported()));
    let condition = storage_mux::Condition::Absent;
    let written = Storage::set_if(&storage, "k", Bytes::new(), condition, &cx);
    assert_eq!(written.now_or_never().unwrap(), Err(StorageError::unsupported()));
    assert!(suite_on(&storage).is_ok());

    let local = restricted::MinimalLocal(MemoryStorage::new());
    let range = LocalStorage::get_range(&local, "k", 0..1, &cx).now_or_never().unwrap();
    assert_eq!(range, Err(StorageError::unsupported()));
    let condition = storage_mux::Condition::Absent;
    let written = LocalStorage::set_if(&local, "k", Bytes::new(), condition, &cx);
    assert_eq!(written.now_or_never().unwrap(), Err(StorageError::unsupported()));
    assert!(suite_on(&local).is_ok());
}
