//! What the backend can do is what the operator says of itself.

use opendal::Capability;
use storage_mux::{Condition, OpContext, Operation, Storage, StorageError};

use crate::fake::{Fake, plain};
use crate::support::{Scratch, drive, memory};

fn operations(capability: Capability) -> Vec<Operation> {
    let there = Fake::new(capability).backend().capabilities();
    Operation::ALL.into_iter().filter(|operation| there.contains(*operation)).collect()
}

/// Spec: P-3, MX-5
#[test]
fn each_operation_follows_from_what_the_operator_says() {
    use Operation::{Delete, Get, GetRange, GetStream, Has, List, Set, SetIf, SetStream, Stat};
    let none = Capability::default();
    assert_eq!(operations(none), []);
    assert_eq!(operations(Capability { read: true, ..none }), [Get]);
    assert_eq!(operations(Capability { write: true, ..none }), [Set, SetStream]);
    assert_eq!(operations(Capability { delete: true, ..none }), [Delete]);
    assert_eq!(operations(Capability { list: true, ..none }), [List]);
    assert_eq!(operations(Capability { stat: true, ..none }), [Has, Stat]);
    let reads = Capability { read: true, stat: true, ..none };
    assert_eq!(operations(reads), [Get, Has, Stat, GetStream, GetRange]);
    let all: Vec<_> = Operation::ALL.into_iter().filter(|each| *each != SetIf).collect();
    assert_eq!(operations(plain()), all);
}

/// Spec: P-3
#[test]
fn half_of_a_conditional_write_is_none() {
    let absent = Capability { write_with_if_not_exists: true, ..plain() };
    let tags = Capability { write_with_if_match: true, ..plain() };
    let versions = Capability { write_with_if_version_match: true, ..plain() };
    let has = |capability| operations(capability).contains(&Operation::SetIf);
    assert!(!has(absent) && !has(tags) && !has(versions));
    assert!(has(Capability { write_with_if_not_exists: true, ..tags }));
    assert!(has(Capability { write_with_if_not_exists: true, ..versions }));

    let able = Fake::new(Capability { write_with_if_not_exists: true, ..tags }).backend();
    let told = able.with_conditional_writes(false);
    assert!(!told.capabilities().contains(Operation::SetIf));
    let unable = Fake::new(plain()).backend().with_conditional_writes(true);
    assert!(!unable.capabilities().contains(Operation::SetIf));
}

/// Spec: MX-5
#[test]
fn what_is_not_there_is_unsupported_and_reaches_no_service() {
    let fake = Fake::new(Capability::default());
    let (backend, cx) = (fake.backend(), OpContext::new());
    let unsupported = Err(StorageError::unsupported());
    assert_eq!(drive(backend.get("k", &cx)).map(drop), unsupported);
    assert_eq!(drive(backend.set("k", "v".into(), &cx)).map(drop), unsupported);
    assert_eq!(drive(backend.set_partial("k", 0, "v".into(), &cx)), unsupported);
    assert_eq!(drive(backend.has("k", &cx)).map(drop), unsupported);
    assert_eq!(drive(backend.delete("k", &cx)), unsupported);
    assert_eq!(drive(backend.list("", &Default::default(), &cx)).map(drop), unsupported);
    assert_eq!(drive(backend.stat("k", &cx)).map(drop), unsupported);
    assert_eq!(drive(backend.get_stream("k", &cx)).map(drop), unsupported);
    assert_eq!(drive(backend.set_stream("k", &cx)).map(drop), unsupported);
    assert_eq!(drive(backend.get_range("k", 0..1, &cx)).map(drop), unsupported);
    let set_if = backend.set_if("k", "v".into(), Condition::Absent, &cx);
    assert_eq!(drive(set_if).map(drop), unsupported);
    assert_eq!(fake.calls(), Vec::<String>::new());
}

/// Spec: P-7
#[test]
fn the_limit_of_keys_is_that_of_the_place() {
    let scratch = Scratch::new();
    assert_eq!(memory().capabilities().max_key_bytes(), 1024);
    assert_eq!(memory().with_max_key_bytes(64).capabilities().max_key_bytes(), 64);
    assert_eq!(scratch.in_place().capabilities().max_key_bytes(), 1024);
}
