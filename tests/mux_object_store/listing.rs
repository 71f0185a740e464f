//! Listings: pages, levels, and names that are no paths.

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt};
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use storage_mux::backend::MuxObjectStore;
use storage_mux::{OpContext, Operation, Storage};

use crate::support::{Faulty, drive, faulty};

fn holds(storage: &Faulty, keys: impl IntoIterator<Item = String>) {
    for key in keys {
        drive(Storage::set(storage.inner(), &key, Bytes::new(), &OpContext::new())).unwrap();
    }
}

fn locations(store: &MuxObjectStore, prefix: Option<&Path>) -> Vec<String> {
    let names = store.list(prefix).map_ok(|object| object.location.to_string());
    drive(names.try_collect()).unwrap()
}

fn lists(storage: &Faulty) -> usize {
    storage.log().iter().filter(|(operation, _)| *operation == Operation::List).count()
}

/// Spec: P-7
#[test]
fn pages_are_asked_for_one_by_one_as_they_are_taken() {
    let (store, storage, _) = faulty();
    let store = store.with_page_keys(10);
    holds(&storage, (0..35).map(|at| format!("{at:02}")));
    let mut stream = store.list(None);
    assert_eq!(lists(&storage), 0, "nothing is asked before it is polled");
    for taken in 1..=35_usize {
        let object = drive(stream.next()).unwrap().unwrap();
        assert_eq!(object.location.as_ref(), format!("{:02}", taken - 1));
        assert_eq!(lists(&storage), taken.div_ceil(10));
    }
    assert!(drive(stream.next()).is_none());
    assert_eq!(lists(&storage), 4);
}

/// Spec: P-7
#[test]
fn an_offset_is_handed_down() {
    let (store, storage, _) = faulty();
    let store = store.with_page_keys(10);
    holds(&storage, (0..1_000).map(|at| format!("d/{at:03}")));
    let prefix = Path::from("d");
    let rest = store.list_with_offset(Some(&prefix), &Path::from("d/994"));
    let rest: Vec<_> = drive(rest.map_ok(|object| object.location).try_collect()).unwrap();
    assert_eq!(rest.len(), 5);
    assert_eq!(rest[0].as_ref(), "d/995");
    assert_eq!(lists(&storage), 1, "what lies before it is not read");
    // One that sorts before the directory, and one behind it.
    for (offset, count) in [("a", 1_000), ("e", 0)] {
        let rest = store.list_with_offset(Some(&prefix), &Path::from(offset));
        assert_eq!(drive(rest.try_collect::<Vec<_>>()).unwrap().len(), count, "{offset}");
    }
}

/// Spec: P-7
#[test]
fn a_level_skips_what_lies_below_it() {
    let (store, storage, _) = faulty();
    let store = store.with_page_keys(50);
    for directory in ["a", "b", "c"] {
        holds(&storage, (0..2_000).map(|at| format!("top/{directory}/{at:04}/x")));
    }
    holds(&storage, ["top/b", "top/bb", "top/z", "top", "topmost/x"].map(str::to_owned));
    let level = drive(store.list_with_delimiter(Some(&Path::from("top")))).unwrap();
    let names = |paths: &[Path]| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(names(&level.common_prefixes), ["top/a", "top/b", "top/c"]);
    let objects: Vec<_> = level.objects.into_iter().map(|object| object.location).collect();
    assert_eq!(names(&objects), ["top/b", "top/bb", "top/z"]);
    assert!(lists(&storage) <= 8, "{} pages for three directories", lists(&storage));

    let level = drive(store.list_with_delimiter(None)).unwrap();
    assert_eq!(names(&level.common_prefixes), ["top", "topmost"]);
    assert_eq!(level.objects.len(), 1);
}

/// Spec: P-7
#[test]
fn a_level_ends_even_where_names_sort_behind_everything() {
    let (store, storage, _) = faulty();
    let last = char::MAX;
    for page in 1..5 {
        let store = store.clone().with_page_keys(page);
        let names = ["d/a", "d/b", &format!("d/{last}"), &format!("d/{last}{last}/x"), "e"];
        holds(&storage, names.map(str::to_owned));
        holds(&storage, [format!("{last}/{last}/1"), format!("{last}/{last}/2")]);
        let level = drive(store.list_with_delimiter(None)).unwrap();
        let prefixes: Vec<_> = level.common_prefixes.iter().map(AsRef::as_ref).collect();
        assert_eq!(prefixes, ["d", &last.to_string()], "{page} keys a page");
        assert_eq!(level.objects.len(), 1);
    }
}

/// Spec: P-7
#[test]
fn prefixes_end_where_a_part_does() {
    let (store, storage, _) = faulty();
    holds(&storage, ["a", "a/b", "a/bc", "a/b/c", "ab/c"].map(str::to_owned));
    assert_eq!(locations(&store, Some(&Path::from("a"))), ["a/b", "a/b/c", "a/bc"]);
    assert_eq!(locations(&store, Some(&Path::from("a/b"))), ["a/b/c"]);
    assert_eq!(locations(&store, Some(&Path::ROOT)).len(), 5);
}

/// Spec: P-7
#[test]
fn keys_that_are_no_paths_are_left_alone() {
    let (store, storage, _) = faulty();
    let strange = ["a//b", "/a", "a/", "..", "./x", "tab\there/x"];
    holds(&storage, strange.into_iter().chain(["a/b"]).map(str::to_owned));
    assert_eq!(locations(&store, None), ["a/b"]);
    let level = drive(store.list_with_delimiter(None)).unwrap();
    assert_eq!(level.common_prefixes, [Path::from("a")]);
    assert!(level.objects.is_empty());
    let deleted = store.delete_stream(store.list(None).map_ok(|each| each.location).boxed());
    assert_eq!(drive(deleted.try_collect::<Vec<_>>()).unwrap(), [Path::from("a/b")]);
    assert_eq!(storage.inner().len(), strange.len());
}

/// Spec: P-7, E-1
#[test]
fn a_listing_that_fails_says_so_and_ends() {
    let (store, storage, _) = faulty();
    let store = store.with_page_keys(2);
    holds(&storage, (0..5).map(|at| at.to_string()));
    storage.push(storage_mux::sim::Fault::None);
    storage.push(storage_mux::sim::Fault::Fail(storage_mux::StorageError::http(503)));
    let found: Vec<_> = drive(store.list(None).collect());
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[2].is_err());
}

/// Spec: P-7
#[test]
fn removals_answer_in_the_order_of_the_names() {
    let (store, storage, _) = faulty();
    holds(&storage, (0..30).map(|at| at.to_string()));
    let names: Vec<_> = (0..40).map(|at| Path::from(at.to_string())).collect();
    let wanted = futures_util::stream::iter(names.clone()).map(Ok).boxed();
    let gone: Vec<_> = drive(store.delete_stream(wanted).try_collect()).unwrap();
    assert_eq!(gone, names, "one that is missing counts as removed");
    assert!(storage.inner().is_empty());
    assert!(drive(store.delete(&Path::ROOT)).is_err());
}

/// Page by page, whatever the size of the pages here and there: each object and each group once.
///
/// Spec: P-7
#[test]
fn pages_with_a_token_give_everything_once() {
    let (store, storage, _) = faulty();
    holds(
        &storage,
        ["a", "a/1", "a/2", "b-1", "b-2/x", "b/1", "c", "d/1/2", "d/3"].map(str::to_owned),
    );
    for (prefix, delimiter, expected) in [
        (None, None, "a a/1 a/2 b-1 b-2/x b/1 c d/1/2 d/3"),
        (None, Some("/"), "[a] [b-2] [b] [d] a b-1 c"),
        (None, Some("-"), "[b-] a a/1 a/2 b/1 c d/1/2 d/3"),
        (Some("d/"), Some("/"), "[d/1] d/3"),
        (Some("b"), Some("/"), "[b-2] [b] b-1"),
        (Some("b"), Some(""), "b-1 b-2/x b/1"),
        (Some("x"), None, ""),
    ] {
        for (ours, theirs) in (1..5).flat_map(|ours| (1..5).map(move |theirs| (ours, theirs))) {
            let store = store.clone().with_page_keys(ours);
            let (mut groups, mut objects, mut token) = (Vec::new(), Vec::new(), None);
            loop {
                let options = PaginatedListOptions {
                    delimiter: delimiter.map(Into::into),
                    max_keys: Some(theirs),
                    page_token: token,
                    ..PaginatedListOptions::default()
                };
                let page = drive(store.list_paginated(prefix, options)).unwrap();
                let found = page.result;
                assert!(found.objects.len() + found.common_prefixes.len() <= theirs);
                groups.extend(found.common_prefixes.iter().map(|path| format!("[{path}]")));
                objects.extend(found.objects.iter().map(|object| object.location.to_string()));
                token = page.page_token;
                if token.is_none() {
                    break;
                }
            }
            let all = groups.into_iter().chain(objects).collect::<Vec<_>>().join(" ");
            assert_eq!(all, expected, "{prefix:?} {delimiter:?}, {theirs} of {ours}");
        }
    }
    let options =
        PaginatedListOptions { offset: Some("c".to_owned()), ..PaginatedListOptions::default() };
    let rest = drive(store.list_paginated(None, options)).unwrap();
    assert_eq!(rest.result.objects.len(), 2);
    assert_eq!(rest.page_token, None);
}
