//! The public suite on every kind of store.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::memory::InMemory;
use storage_mux::backend::ObjectStoreBackend;
use storage_mux::conformance::Suite;
use storage_mux::{SharedStorage, Storage};

use crate::support::{Scratch, drive};

/// The rules that ask for `set_if`.
const CONDITIONAL: [&str; 6] = [
    "if-absent",
    "if-version",
    "if-stale",
    "if-version-missing",
    "version-changes",
    "version-agrees",
];

/// Larger than two parts of an upload, so that the suite goes through one.
const LARGE_VALUE_BYTES: usize = 11 * 1024 * 1024;

fn skipped<S: Storage>(storage: &S) -> Vec<&'static str> {
    let report = match drive(Suite::new().run(storage)) {
        Ok(report) => report,
        Err(failures) => panic!("{failures}"),
    };
    report.skipped().iter().map(|rule| rule.id()).collect()
}

/// Spec: CF-1, P-7
#[test]
fn memory_passes_without_exception() {
    let backend = ObjectStoreBackend::new(InMemory::new()).with_conditional_writes(true);
    assert!(skipped(&backend).is_empty());
    let backend = backend.with_sorted_listing(true);
    assert!(skipped(&backend).is_empty());
}

/// Spec: CF-1, P-4, P-7
#[test]
fn a_store_behind_a_pointer_passes_behind_another() {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let shared = SharedStorage::new(ObjectStoreBackend::new(store));
    assert_eq!(skipped(&shared), CONDITIONAL);
}

/// Spec: CF-1, P-7
#[test]
fn a_folder_passes_but_has_no_conditional_writes() {
    let scratch = Scratch::new();
    assert_eq!(skipped(&scratch.backend()), CONDITIONAL);
    assert_eq!(scratch.files(), Vec::<String>::new(), "the suite leaves no file behind");
}

/// Spec: CF-1, P-7
#[test]
fn a_folder_that_creates_passes_what_asks_for_no_version() {
    let scratch = Scratch::new();
    let mut suite = Suite::new();
    for rule in CONDITIONAL.into_iter().filter(|rule| *rule != "if-absent") {
        suite = suite.without(rule);
    }
    let report = drive(suite.run(&scratch.backend().with_create_only_writes()));
    let report = report.unwrap_or_else(|failures| panic!("{failures}"));
    assert!(report.skipped().iter().all(|rule| rule.id() != "if-absent"));
}

/// Spec: CF-1, P-7
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn values_in_parts_pass_on_a_runtime() {
    let scratch = Scratch::new();
    let suite = Suite::new().with_large_value(LARGE_VALUE_BYTES);
    let folder = suite.run(&scratch.backend()).await;
    assert!(folder.is_ok(), "{folder:?}");
    let memory = suite.run(&ObjectStoreBackend::new(InMemory::new())).await;
    assert!(memory.is_ok(), "{memory:?}");
}

/// Plain names hold fewer keys. What they cannot hold they refuse.
///
/// Spec: CF-1, P-7
#[test]
fn plain_names_pass_with_the_keys_that_are_names() {
    let suite = Suite::new().without("key-bytes");
    let memory = ObjectStoreBackend::new(InMemory::new()).with_plain_names();
    let report = drive(suite.run(&memory));
    assert!(report.is_ok(), "{report:?}");

    let scratch = Scratch::new();
    // A file and a directory of one name cannot both be.
    let suite = suite.without("list-prefix-key").without("list-nothing");
    let report = drive(suite.run(&scratch.backend().with_plain_names()));
    assert!(report.is_ok(), "{report:?}");
}
