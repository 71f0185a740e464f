//! A folder of the `fs` service: files, names, and a disk that goes away.

use std::fs;

use bytes::Bytes;
use futures_util::SinkExt;
use storage_mux::backend::OpendalBackend;
use storage_mux::{ErrorClass, OpContext, Storage, classify};

use crate::support::{Scratch, files};

async fn set(backend: &OpendalBackend, key: &str) {
    backend.set(key, "v".into(), &OpContext::new()).await.unwrap();
}

/// Spec: P-7
#[tokio::test]
async fn a_key_and_one_below_it_both_have_files() {
    let scratch = Scratch::new();
    let backend = scratch.atomic();
    for key in ["a", "a/b", "v1.2/x.txt", " x ", "dir/"] {
        set(&backend, key).await;
    }
    let names = ["%20x%20%f", "a%f", "a/b%f", "dir/%f", "v1.2%d/x.txt"];
    assert_eq!(files(&scratch.root()), names);
    assert_eq!(files(&scratch.unfinished()), Vec::<String>::new());
}

/// Spec: P-7, AB-5
#[tokio::test]
async fn a_dropped_stream_leaves_no_file_of_its_own() {
    let scratch = Scratch::new();
    let backend = scratch.atomic();
    let mut writer = backend.set_stream("k", &OpContext::new()).await.unwrap();
    writer.send(Bytes::from(vec![7; 100_000])).await.unwrap();
    assert_eq!(files(&scratch.root()), Vec::<String>::new(), "nothing is visible yet");
    drop(writer);
    for _ in 0..1_000 {
        if files(&scratch.unfinished()).is_empty() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    assert_eq!(files(&scratch.unfinished()), Vec::<String>::new());
    assert_eq!(files(&scratch.root()), Vec::<String>::new());
}

/// Spec: P-7, SM-2
#[tokio::test]
async fn a_value_that_would_be_written_in_place_is_collected_first() {
    let scratch = Scratch::new();
    let backend = scratch.in_place();
    set(&backend, "k").await;
    let mut writer = backend.set_stream("k", &OpContext::new()).await.unwrap();
    writer.send("new".into()).await.unwrap();
    assert_eq!(backend.get("k", &OpContext::new()).await.unwrap(), "v");
    writer.close().await.unwrap();
    assert_eq!(backend.get("k", &OpContext::new()).await.unwrap(), "new");
}

/// Spec: E-2, P-7
#[tokio::test]
async fn a_folder_that_is_taken_away_is_trouble_and_no_missing_key() {
    let scratch = Scratch::new();
    let (backend, cx) = (scratch.atomic(), OpContext::new());
    set(&backend, "k").await;
    let mut writer = backend.set_stream("s", &cx).await.unwrap();
    writer.send("late".into()).await.unwrap();
    fs::remove_dir_all(scratch.root()).unwrap();
    for (operation, error) in [
        ("get", backend.get("k", &cx).await.map(drop).unwrap_err()),
        ("has", backend.has("k", &cx).await.map(drop).unwrap_err()),
        ("stat", backend.stat("k", &cx).await.map(drop).unwrap_err()),
        ("get_stream", backend.get_stream("k", &cx).await.map(drop).unwrap_err()),
        ("get_range", backend.get_range("k", 0..1, &cx).await.map(drop).unwrap_err()),
        ("set", backend.set("k", "v".into(), &cx).await.map(drop).unwrap_err()),
        ("set_partial", backend.set_partial("k", 0, "v".into(), &cx).await.unwrap_err()),
        ("set_stream", backend.set_stream("k", &cx).await.map(drop).unwrap_err()),
        ("delete", backend.delete("k", &cx).await.unwrap_err()),
        ("list", backend.list("", &Default::default(), &cx).await.map(drop).unwrap_err()),
        ("close", writer.close().await.unwrap_err()),
    ] {
        assert_eq!(classify(&error), ErrorClass::Transient, "{operation}: {error}");
    }
    assert!(!scratch.root().exists(), "and it is not made anew");
}

/// Spec: P-7
#[tokio::test]
async fn a_file_in_the_way_makes_a_plain_key_invalid_to_write_and_missing_to_read() {
    let scratch = Scratch::new();
    let (backend, cx) = (scratch.atomic().with_plain_names(), OpContext::new());
    set(&backend, "a").await;
    let error = backend.set("a/b", "v".into(), &cx).await.unwrap_err();
    assert_eq!(error.code(), "STORAGE.INVALID_KEY", "{error:?}");
    assert!(backend.get("a/b", &cx).await.unwrap_err().is_key_not_found());
    set(&backend, "d/e").await;
    let error = backend.set("d", "v".into(), &cx).await.unwrap_err();
    assert_eq!(error.code(), "STORAGE.INVALID_KEY", "{error:?}");
    assert!(backend.get("d", &cx).await.unwrap_err().is_key_not_found());
    assert!(backend.stat("d", &cx).await.unwrap_err().is_key_not_found());
}
