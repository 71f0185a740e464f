//! The public suite on each server.

use storage_mux::Storage;
use storage_mux::conformance::Suite;

use crate::backends::{disk, redis, s3, s3_by_opendal, web_dav};
use crate::server::{Kind, Server, folder};

/// The rules that ask for `set_if`.
const CONDITIONAL: [&str; 6] = [
    "if-absent",
    "if-version",
    "if-stale",
    "if-version-missing",
    "version-changes",
    "version-agrees",
];

/// Large enough to go through an upload in parts, where there is one.
const LARGE_VALUE_BYTES: usize = 11 * 1024 * 1024;

async fn skipped<S: Storage>(suite: Suite, storage: &S) -> Vec<&'static str> {
    let report = match suite.with_large_value(LARGE_VALUE_BYTES).run(storage).await {
        Ok(report) => report,
        Err(failures) => panic!("{failures}"),
    };
    report.skipped().iter().map(|rule| rule.id()).collect()
}

/// Spec: CF-1, P-7
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s3_passes_with_conditional_writes() {
    let server = Server::start(Kind::Moto).await;
    assert!(skipped(Suite::new(), &s3(&server)).await.is_empty());
    assert!(
        skipped(Suite::new().with_prefix("by-opendal/"), &s3_by_opendal(&server)).await.is_empty()
    );
}

/// The server takes an object `a` for a file and `a/b` for one in a directory of the same name.
const ONE_NAME_FOR_BOTH: [&str; 4] =
    ["delete-exact", "prefix-missing", "list-prefix-key", "list-nothing"];

/// It keeps what it knows of an object in a file whose name holds the whole key.
const LONGEST_KEY_BYTES: u32 = 120;

/// Spec: CF-1, P-7
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s3_over_a_folder_passes_but_for_what_a_folder_cannot_hold() {
    let server = Server::start(Kind::S3).await;
    let suite = ONE_NAME_FOR_BOTH.into_iter().fold(Suite::new(), Suite::without);
    let backend = s3(&server).with_max_key_bytes(LONGEST_KEY_BYTES);
    assert!(skipped(suite, &backend).await.is_empty());
    // Names of files are not taken for directories.
    let backend = s3_by_opendal(&server).with_file_names(true);
    let backend = backend.with_max_key_bytes(LONGEST_KEY_BYTES);
    assert!(skipped(Suite::new(), &backend).await.is_empty());
}

/// Spec: CF-1, P-7
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redis_passes_in_what_it_can_do() {
    let server = Server::start(Kind::Redis).await;
    let skipped = skipped(Suite::new(), &redis(&server)).await;
    assert!(CONDITIONAL.iter().all(|rule| skipped.contains(rule)));
    let listing = |rule: &&&str| rule.starts_with("list") || rule.starts_with("page");
    assert_eq!(skipped.len(), CONDITIONAL.len() + skipped.iter().filter(listing).count());
}

/// Spec: CF-1, P-7
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn web_dav_passes_but_has_no_conditional_writes() {
    let server = Server::start(Kind::WebDav).await;
    // nginx lists no file whose name begins with a dot, so neither what stands for `..`.
    let suite = Suite::new().without("key-paths");
    assert_eq!(skipped(suite, &web_dav(&server)).await, CONDITIONAL);
}

/// Spec: CF-1, P-7
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_passes_but_has_no_conditional_writes() {
    let folder = folder();
    assert_eq!(skipped(Suite::new(), &disk(&folder)).await, CONDITIONAL);
    let _ = std::fs::remove_dir_all(folder);
}
