//! Keys that paths, addresses and file systems make something else of.

use std::fs;

use object_store::memory::InMemory;
use storage_mux::backend::ObjectStoreBackend;
use storage_mux::{OpContext, Storage, StorageErrorKind};

use crate::support::{Scratch, drive, get, keys, set};

/// Keys that a careless backend lets out of its folder, or takes for one another.
const HOSTILE: [&str; 24] = [
    "../x",
    "a/../../x",
    "/abs",
    "//x",
    "C:/x",
    "C|/x",
    "..\\x",
    "a\\..\\..\\x",
    "a//b",
    "a/./b",
    "a/",
    "a/b",
    "a",
    ".",
    "..",
    "/",
    "a#1",
    "a#1/b",
    "%2E%2E/x",
    "..%2Fx",
    "%2e%2e%2fx",
    "a\u{7f}b\tc\r\n",
    "a%",
    "~",
];

fn all_apart<S: Storage>(storage: &S) {
    for key in HOSTILE {
        set(storage, key, key).unwrap_or_else(|error| panic!("set({key:?}): {error}"));
    }
    let mut sorted = HOSTILE.to_vec();
    sorted.sort_unstable();
    assert_eq!(keys(storage, ""), sorted);
    for key in HOSTILE {
        assert_eq!(get(storage, key).as_deref(), Ok(key.as_bytes()), "{key:?}");
        assert!(keys(storage, key).contains(&key.to_owned()), "list({key:?})");
    }
    for (index, key) in HOSTILE.iter().enumerate() {
        assert_eq!(drive(storage.delete(key, &OpContext::new())), Ok(()));
        assert_eq!(keys(storage, "").len(), HOSTILE.len() - index - 1, "after {key:?}");
    }
}

/// Spec: P-7
#[test]
fn hostile_keys_are_kept_apart_in_a_bucket() {
    all_apart(&ObjectStoreBackend::new(InMemory::new()));
    all_apart(&ObjectStoreBackend::new(InMemory::new()).with_sorted_listing(true));
}

/// Spec: P-7
#[test]
fn hostile_keys_never_leave_their_folder() {
    let scratch = Scratch::new();
    let outside = scratch.around().join("x");
    fs::write(&outside, "outside").expect("a file beside the root");
    all_apart(&scratch.backend());
    let beside = fs::read_dir(scratch.around()).expect("the folder around").count();
    assert_eq!(beside, 2, "the root and the file beside it");
    assert_eq!(fs::read(outside).expect("the file beside the root"), b"outside");
    assert_eq!(scratch.files(), Vec::<String>::new());
}

/// Spec: P-7
#[test]
fn plain_names_refuse_what_they_cannot_hold_and_touch_nothing() {
    let scratch = Scratch::new();
    let folder = scratch.backend().with_plain_names();
    let bucket = ObjectStoreBackend::new(InMemory::new()).with_plain_names();
    let refused = |result: Result<(), _>, key: &str| {
        let error: storage_mux::StorageError = result.expect_err(key);
        assert_eq!(*error.kind(), StorageErrorKind::InvalidKey, "{key:?}: {error}");
    };
    let long = "x".repeat(243);
    for key in ["../x", "a/../b", "/abs", "a//b", "a/./b", "a/", ".", "..", "a\nb", "a\u{7f}"] {
        refused(set(&bucket, key, "v"), key);
        refused(set(&folder, key, "v"), key);
        refused(drive(folder.delete(key, &OpContext::new())), key);
    }
    for key in ["a#1", "a#x", "a\\b", &long] {
        refused(set(&folder, key, "v"), key);
        assert_eq!(set(&bucket, key, "v"), Ok(()));
    }
    assert_eq!(scratch.files(), Vec::<String>::new());
    assert_eq!(fs::read_dir(scratch.around()).expect("the folder around").count(), 1);
}

/// Spec: P-7
#[test]
fn a_plain_file_and_a_directory_of_one_name_refuse_each_other() {
    let scratch = Scratch::new();
    let folder = scratch.backend().with_plain_names();
    set(&folder, "a/b", "below").unwrap();
    set(&folder, "c", "file").unwrap();
    for key in ["a", "c/d"] {
        let error = set(&folder, key, "v").expect_err(key);
        assert_eq!(*error.kind(), StorageErrorKind::InvalidKey, "{error}");
        assert_eq!(*get(&folder, key).expect_err(key).kind(), StorageErrorKind::KeyNotFound);
        assert_eq!(drive(folder.delete(key, &OpContext::new())), Ok(()));
    }
    assert_eq!(keys(&folder, ""), ["a/b", "c"]);
    assert_eq!(scratch.files(), ["a/b", "c"]);
}

/// Spec: P-7
#[test]
fn every_key_up_to_the_declared_limit_fits_a_folder() {
    let scratch = Scratch::new();
    let backend = scratch.backend();
    let limit = backend.capabilities().max_key_bytes();
    assert_eq!(limit, 1_024);
    // What grows most as a name: escapes, marks and cuts.
    for unit in ["\u{1}", "/", "%", "./", "x.y/", "x", "é"] {
        let mut key = unit.repeat(limit / unit.len());
        key.push_str(&"z".repeat(limit - key.len()));
        assert_eq!(set(&backend, &key, unit), Ok(()), "{unit:?}");
        assert_eq!(get(&backend, &key).as_deref(), Ok(unit.as_bytes()));
        assert_eq!(keys(&backend, ""), [key.as_str()]);
        assert_eq!(drive(backend.delete(&key, &OpContext::new())), Ok(()));
        let error = set(&backend, &(key + "z"), "v").expect_err(unit);
        assert_eq!(*error.kind(), StorageErrorKind::InvalidKey);
    }
}

/// Spec: P-7
#[test]
fn a_long_way_to_the_folder_shortens_the_keys() {
    let scratch = Scratch::new();
    let deep = scratch.root().join(["d".repeat(200).as_str(); 10].join("/"));
    fs::create_dir_all(&deep).expect("a deep folder");
    let store = object_store::local::LocalFileSystem::new_with_prefix(&deep).unwrap();
    let backend = ObjectStoreBackend::on_folder(store, &deep);
    let limit = backend.capabilities().max_key_bytes();
    assert!((400..1_024).contains(&limit), "{limit}");
    let key = "\u{1}".repeat(limit);
    assert_eq!(set(&backend, &key, "v"), Ok(()));
    assert_eq!(keys(&backend, ""), [key]);
}

/// Spec: P-7
#[test]
fn files_of_others_are_neither_listed_nor_touched() {
    let scratch = Scratch::new();
    let backend = scratch.backend();
    for name in ["README", "notes.md", "a.b#1", "100%.txt"] {
        fs::write(scratch.root().join(name), "theirs").expect("a file of others");
    }
    assert_eq!(keys(&backend, ""), ["notes.md"], "only what a key would be named");
    set(&backend, "README", "ours").unwrap();
    assert_eq!(fs::read(scratch.root().join("README")).unwrap(), b"theirs");
    assert_eq!(get(&backend, "README").as_deref(), Ok(&b"ours"[..]));
}

/// Spec: P-7
#[test]
fn a_key_that_is_too_long_once_escaped_is_refused() {
    let backend = ObjectStoreBackend::new(InMemory::new()).with_max_key_bytes(10);
    assert_eq!(backend.capabilities().max_key_bytes(), 10);
    assert_eq!(set(&backend, "123456789x", "v"), Ok(()));
    assert_eq!(set(&backend, "1234567%", "v"), Ok(()));
    for key in ["12345678%", "123456789xy"] {
        let error = set(&backend, key, "v").expect_err(key);
        assert_eq!(*error.kind(), StorageErrorKind::InvalidKey);
    }
}
