//! The public suite on every kind of service.

use opendal::Capability;
use storage_mux::Storage;
use storage_mux::conformance::Suite;

use crate::fake::{Fake, plain};
use crate::support::{Scratch, drive, files, memory};

/// The rules that ask for `set_if`.
const CONDITIONAL: [&str; 6] = [
    "if-absent",
    "if-version",
    "if-stale",
    "if-version-missing",
    "version-changes",
    "version-agrees",
];

async fn skipped<S: Storage>(storage: &S) -> Vec<&'static str> {
    let report = match Suite::new().run(storage).await {
        Ok(report) => report,
        Err(failures) => panic!("{failures}"),
    };
    report.skipped().iter().map(|rule| rule.id()).collect()
}

/// Spec: CF-1, P-7
#[test]
fn memory_passes_but_has_no_conditional_writes() {
    assert_eq!(drive(skipped(&memory())), CONDITIONAL);
    assert_eq!(drive(skipped(&memory().with_file_names(true))), CONDITIONAL);
}

/// Spec: CF-1, P-7
#[test]
fn a_service_with_conditions_on_entity_tags_or_versions_passes_without_exception() {
    let tags = Capability { write_with_if_match: true, ..plain() };
    let versions = Capability { write_with_if_version_match: true, ..plain() };
    for capability in [tags, versions] {
        let capability = Capability { write_with_if_not_exists: true, ..capability };
        let fake = Fake::new(capability);
        assert!(drive(skipped(&fake.backend())).is_empty());
        fake.script().capability.list_with_start_after = true;
        assert!(drive(skipped(&fake.backend())).is_empty(), "listing from a place on");
        fake.script().reversed = true;
        let backend = fake.backend().with_sorted_listing(false);
        assert!(drive(skipped(&backend)).is_empty(), "listing in the wrong order");
        fake.script().reversed = false;
        fake.script().capability.write_can_multi = false;
        fake.script().silent = true;
        assert!(drive(skipped(&fake.backend())).is_empty(), "values in one piece");
        assert!(fake.script().values.is_empty(), "the suite leaves nothing behind");
    }
}

/// Spec: CF-1, P-7
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_passes_whether_values_are_written_aside_or_in_place() {
    let scratch = Scratch::new();
    assert_eq!(skipped(&scratch.atomic()).await, CONDITIONAL);
    assert_eq!(skipped(&scratch.in_place()).await, CONDITIONAL);
    assert_eq!(files(&scratch.root()), Vec::<String>::new(), "the suite leaves no file behind");
}

/// Plain names hold fewer keys. What they cannot hold they refuse.
///
/// Spec: CF-1, P-7
#[test]
fn plain_names_pass_with_the_keys_that_are_names() {
    let suite = Suite::new().without("key-bytes").without("key-forms");
    let report = drive(suite.run(&memory().with_plain_names()));
    assert!(report.is_ok(), "{report:?}");
}
