//! A folder that goes away and comes back.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use bytes::Bytes;
use futures_util::SinkExt;
use object_store::ObjectStore;
use object_store::limit::LimitStore;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use storage_mux::backend::ObjectStoreBackend;
use storage_mux::{ErrorClass, OpContext, Storage, StorageError, classify};

use crate::support::{Scratch, drive, get, keys, set};

const MIB: usize = 1024 * 1024;

/// What each operation makes of a key that is missing or a store that is.
fn outcomes<S: Storage>(storage: &S, key: &str) -> Vec<(&'static str, Result<(), StorageError>)> {
    let cx = OpContext::new();
    vec![
        ("get", drive(storage.get(key, &cx)).map(drop)),
        ("stat", drive(storage.stat(key, &cx)).map(drop)),
        ("has", drive(storage.has(key, &cx)).map(drop)),
        ("get_range", drive(storage.get_range(key, 0..1, &cx)).map(drop)),
        ("empty get_range", drive(storage.get_range(key, 0..0, &cx)).map(drop)),
        ("get_stream", drive(storage.get_stream(key, &cx)).map(drop)),
        ("list", drive(storage.list("", &Default::default(), &cx)).map(drop)),
        ("delete", drive(storage.delete(key, &cx))),
        ("set", drive(storage.set(key, "v".into(), &cx)).map(drop)),
        ("set_partial", drive(storage.set_partial(key, 0, "v".into(), &cx))),
        ("set_stream", drive(storage.set_stream(key, &cx)).map(drop)),
    ]
}

fn is_in_trouble<S: Storage>(storage: &S, key: &str) {
    for (operation, result) in outcomes(storage, key) {
        let error = result.expect_err(operation);
        assert_eq!(classify(&error), ErrorClass::Transient, "{operation}: {error}");
    }
}

/// Spec: E-2, P-7
#[test]
fn a_folder_that_is_taken_away_is_trouble_and_is_not_made_anew() {
    let scratch = Scratch::new();
    let backend = scratch.backend();
    set(&backend, "a/k", "before").unwrap();
    let away = scratch.around().join("away");
    fs::rename(scratch.root(), &away).unwrap();

    for key in ["a/k", "missing"] {
        is_in_trouble(&backend, key);
    }
    let error = get(&backend, "a/k").expect_err("the folder has gone");
    assert!(error.to_string().contains("is not there"), "{error}");
    assert!(!scratch.root().exists(), "nobody may make the folder anew");

    fs::rename(&away, scratch.root()).unwrap();
    assert_eq!(get(&backend, "a/k").unwrap(), b"before");
    assert_eq!(set(&backend, "b", "after"), Ok(()));
    assert!(get(&backend, "missing").expect_err("no value").is_key_not_found());
    assert_eq!(keys(&backend, ""), ["a/k", "b"]);
}

/// Spec: E-2
#[test]
fn a_file_in_the_place_of_the_folder_is_trouble() {
    let scratch = Scratch::new();
    let backend = scratch.backend();
    fs::remove_dir_all(scratch.root()).unwrap();
    fs::write(scratch.root(), "a file").unwrap();
    is_in_trouble(&backend, "k");
    assert_eq!(fs::read(scratch.root()).unwrap(), b"a file");
}

/// Spec: E-2
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_is_taken_away_is_trouble_on_a_runtime_too() {
    let scratch = Scratch::new();
    // Whatever wraps the store: the question goes through it.
    let store = LocalFileSystem::new_with_prefix(scratch.root()).unwrap();
    let store: Arc<dyn ObjectStore> = Arc::new(LimitStore::new(store, 2));
    let backend = ObjectStoreBackend::on_folder(store, scratch.root());
    let cx = OpContext::new();
    backend.set("k", "v".into(), &cx).await.unwrap();
    fs::remove_dir_all(scratch.root()).unwrap();
    for error in [
        backend.get("k", &cx).await.map(drop).unwrap_err(),
        backend.set("k", "v".into(), &cx).await.map(drop).unwrap_err(),
        backend.list("", &Default::default(), &cx).await.map(drop).unwrap_err(),
    ] {
        assert_eq!(classify(&error), ErrorClass::Transient, "{error}");
    }
    assert!(!scratch.root().exists());
}

/// Spec: E-2, P-7
#[test]
fn a_folder_that_goes_while_a_stream_is_written_fails_the_stream() {
    // Gone before a small value is put, before an upload begins, and before one is completed.
    for (before, after) in [(10, 10), (10, 6 * MIB), (6 * MIB, 10)] {
        let scratch = Scratch::new();
        let backend = scratch.backend();
        let away = scratch.around().join("away");
        let error = drive(async {
            let mut writer = backend.set_stream("k", &OpContext::new()).await.unwrap();
            writer.send(Bytes::from(vec![7; before])).await.unwrap();
            fs::rename(scratch.root(), &away).unwrap();
            let sent = writer.send(Bytes::from(vec![7; after])).await;
            sent.and(writer.close().await).expect_err("the folder has gone")
        });
        assert_eq!(classify(&error), ErrorClass::Transient, "{error}");
        assert!(!scratch.root().exists());
        fs::rename(&away, scratch.root()).unwrap();
        assert!(keys(&backend, "").is_empty(), "nothing is visible");
    }
}

/// Spec: E-2
#[test]
fn a_probe_of_ones_own_is_asked_where_the_store_cannot_tell() {
    let (there, asked) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicUsize::new(0)));
    let backend = ObjectStoreBackend::new(InMemory::new()).with_probe({
        let (there, asked) = (there.clone(), asked.clone());
        move || {
            asked.fetch_add(1, Ordering::SeqCst);
            let there = there.load(Ordering::SeqCst);
            async move { if there { Ok(()) } else { Err(StorageError::http(503)) } }
        }
    });
    set(&backend, "k", "v").unwrap();
    assert_eq!(asked.swap(0, Ordering::SeqCst), 1, "before a write");
    assert_eq!(get(&backend, "k").unwrap(), b"v");
    assert_eq!(asked.swap(0, Ordering::SeqCst), 0, "a value that is found says enough");
    assert!(get(&backend, "missing").unwrap_err().is_key_not_found());
    assert_eq!(asked.swap(0, Ordering::SeqCst), 1, "after a miss");

    there.store(false, Ordering::SeqCst);
    for (operation, result) in outcomes(&backend, "missing") {
        // Memory does not say whether there was something to delete.
        if operation != "delete" {
            assert_eq!(result, Err(StorageError::http(503)), "{operation}");
        }
    }
    assert_eq!(get(&backend, "k").unwrap(), b"v");
}
