//! A mux over a bucket shows the bucket: the same paths, the same tags, both ways.

use futures_util::TryStreamExt;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};
use std::sync::Arc;
use storage_mux::backend::{MuxObjectStore, ObjectStoreBackend};
use storage_mux::conformance::Suite;
use storage_mux::{MemoryStorage, MuxMode, OpContext, SharedStorage, Storage};

use crate::support::{drive, mux};

fn strange() -> Vec<Path> {
    let mut paths: Vec<Path> = [
        "plain",
        "a/b/c.parquet",
        "part=1/date=2024-01-01/x y.parquet",
        "100%",
        "%",
        "%25",
        "%2F/%2f",
        "%48%45%4C%4C%4F",
        "a%f/b%d",
        "...",
        "a..b/.c/c.",
        "\u{1F640}/\u{1F600}",
        "~tilde/`quote'/\"x\"",
        "back\\slash",
        "#1/a#2",
        "q?a=b&c",
        "*/<>|:",
        " lead/trail ",
    ]
    .into_iter()
    .map(|raw| Path::parse(raw).expect("a legal path"))
    .collect();
    // As `From` makes them, with escapes of its own.
    paths.extend(["a*b", "x/y?z", "nul\u{0}l", "..", "tab\t"].map(Path::from));
    paths.push(Path::from_iter(["a", "b/c", "d"]));
    paths.sort_unstable();
    paths
}

fn listed(store: &dyn ObjectStore) -> Vec<ObjectMeta> {
    let mut found: Vec<_> = drive(store.list(None).try_collect()).unwrap();
    found.sort_unstable_by(|a: &ObjectMeta, b| a.location.cmp(&b.location));
    found
}

/// Spec: P-7
#[test]
fn what_is_in_the_bucket_is_there_through_the_mux_and_the_other_way_about() {
    for sorted in [true, false] {
        let bucket = Arc::new(InMemory::new());
        let backend = ObjectStoreBackend::new(bucket.clone()).with_plain_names();
        let backend = SharedStorage::new(backend.with_sorted_listing(sorted));
        let store = mux(MuxMode::RoundRobin, || backend.clone()).with_page_keys(3);
        let paths = strange();
        for (at, path) in paths.iter().enumerate() {
            let value = path.to_string();
            if at % 2 == 0 {
                drive(bucket.put(path, value.into())).unwrap();
            } else {
                drive(store.put(path, value.into())).unwrap();
            }
        }
        let (inside, outside) = (listed(&bucket), listed(&store));
        let names: Vec<_> = inside.iter().map(|object| object.location.clone()).collect();
        assert_eq!(names, paths);
        // Times are told to the millisecond.
        for (inside, outside) in inside.iter().zip(&outside) {
            let known = (&inside.location, inside.size, &inside.e_tag, &inside.version);
            let told = (&outside.location, outside.size, &outside.e_tag, &outside.version);
            assert_eq!(known, told);
            let (known, told) = (inside.last_modified, outside.last_modified);
            assert_eq!(known.timestamp_millis(), told.timestamp_millis());
        }
        assert_eq!(inside.len(), outside.len());
        for path in &paths {
            for store in [&bucket as &dyn ObjectStore, &store] {
                let value = drive(async { store.get(path).await?.bytes().await }).unwrap();
                assert_eq!(value, path.to_string());
            }
            let level = |store: &dyn ObjectStore| {
                let level = drive(store.list_with_delimiter(path.parent().as_ref())).unwrap();
                let mut prefixes = level.common_prefixes;
                prefixes.sort_unstable();
                let objects = level.objects.into_iter().map(|object| object.location);
                let mut objects: Vec<_> = objects.collect();
                objects.sort_unstable();
                (prefixes, objects)
            };
            assert_eq!(level(&bucket), level(&store), "beside {path}");
        }
    }
}

/// A tag that one of them gave is good for the other.
///
/// Spec: P-7, MX-1
#[test]
fn tags_of_the_bucket_and_of_the_mux_are_the_same() {
    let bucket = Arc::new(InMemory::new());
    let backend = ObjectStoreBackend::new(bucket.clone()).with_plain_names();
    let store = MuxObjectStore::new(SharedStorage::new(backend.with_conditional_writes(true)));
    let path = Path::from("k");
    let update = |put: object_store::PutResult| object_store::PutMode::Update(put.into()).into();
    let first = drive(store.put(&path, "1".into())).unwrap();
    let second = drive(bucket.put_opts(&path, "2".into(), update(first.clone()))).unwrap();
    let third = drive(store.put_opts(&path, "3".into(), update(second))).unwrap();
    assert_eq!(drive(bucket.head(&path)).unwrap().e_tag, third.e_tag);
    let error = drive(store.put_opts(&path, "4".into(), update(first))).unwrap_err();
    assert!(matches!(error, object_store::Error::Precondition { .. }), "{error}");
}

/// A storage as a store as a backend is a storage that holds every rule.
///
/// Spec: CF-1, P-7
#[test]
fn there_and_back_again_holds_every_rule() {
    let storage = SharedStorage::new(MemoryStorage::new());
    let store = MuxObjectStore::new(storage).with_page_keys(2);
    let backend = ObjectStoreBackend::new(store).with_conditional_writes(true);
    for backend in [backend.clone(), backend.with_sorted_listing(true)] {
        let report = drive(Suite::new().run(&backend));
        let report = report.unwrap_or_else(|failures| panic!("{failures}"));
        assert!(report.skipped().is_empty());
    }
}

/// Versions that our own storages make are tags, whatever stands in them.
///
/// Spec: P-7
#[test]
fn a_version_is_a_tag_and_an_identifier() {
    let bucket = MemoryStorage::new();
    let cx = OpContext::new();
    let written = drive(Storage::set(&bucket, "k", "v".into(), &cx)).unwrap();
    let version = written.version.expect("memory has versions");
    let store = MuxObjectStore::from(SharedStorage::new(bucket));
    let meta = drive(store.head(&Path::from("k"))).unwrap();
    assert_eq!(meta.e_tag.as_deref(), Some(version.as_str()));
}
