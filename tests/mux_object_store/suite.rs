//! The integration suite of `object_store`, in every mode, over memory and over folders.
//!
//! Every function of the suite that takes an `ObjectStore` alone or with a `PaginatedListStore` runs,
//! but for these, which ask for what cannot be had:
//!
//! | function | not where | why |
//! |---|---|---|
//! | `put_opts` | mirror | it asks for `PutMode::Create` or `Update`; peers of equal rank have nobody to decide a condition, so a mux in mirror mode has no `set_if` |
//! | `put_opts` with updates | folders | `LocalFileSystem` has no `PutMode::Update`; the suite's own switch leaves it out |
//! | `copy_if_not_exists` | mirror | the same decision |
//! | `get_opts` | mirror of folders | each folder gives a file an entity tag of its own, and the next read may be answered by another one |
//!
//! `multipart`, `multipart_with_opts` and `multipart_put_part_out_of_order` test `MultipartStore`,
//! another trait: parts by number, from anywhere, in any order, which a stream cannot take. And
//! `response_extensions` tests an HTTP client.
//!
//! In `get_opts` the conditions on the time are answered with `NotSupported`, as the suite allows,
//! over `MemoryStorage`, which knows no time; and the part on reading an older version is for
//! stores that tell a version beside the tag, which neither memory nor folders do.

use futures_util::{StreamExt, TryStreamExt};
use object_store::integration;
use object_store::memory::InMemory;
use object_store::{Error, ObjectStore, ObjectStoreExt};
use storage_mux::backend::MuxObjectStore;
use storage_mux::{MemoryStorage, MuxMode, SharedStorage};

use crate::support::{Scratch, bucket, mux};

#[derive(Clone, Copy, PartialEq)]
enum Over {
    Memory,
    Folders,
}

async fn holds(store: &MuxObjectStore, mode: MuxMode, over: Over) {
    let decides = mode != MuxMode::Mirror;
    integration::put_get_delete_list(store).await;
    integration::put_get_attributes(store).await;
    if decides || over == Over::Memory {
        integration::get_opts(store).await;
    }
    if decides {
        integration::put_opts(store, over == Over::Memory).await;
    }
    integration::list_uses_directories_correctly(store).await;
    integration::list_with_delimiter(store).await;
    integration::list_with_offset_exclusivity(store).await;
    integration::list_paginated(store, store).await;
    for path in store.list(None).map_ok(|object| object.location).collect::<Vec<_>>().await {
        store.delete(&path.expect("a listing")).await.expect("a removal");
    }
    integration::rename_and_copy(store).await;
    if decides {
        integration::copy_if_not_exists(store).await;
    }
    integration::copy_rename_nonexistent_object(store).await;
    for location in [None, Some("a/b/c".into())] {
        let error = integration::get_nonexistent_object(store, location).await;
        assert!(matches!(error, Err(Error::NotFound { .. })), "{error:?}");
    }
    // What is written in parts, each of several MiB. This part of the suite begins in an empty
    // store and leaves objects behind.
    integration::stream_get(store).await;
    integration::multipart_out_of_order(store).await;
    integration::multipart_race_condition(store, true).await;
}

/// Spec: CF-2, MX-1, P-7
#[tokio::test]
async fn every_mode_passes_over_our_memory() {
    for mode in MuxMode::ALL {
        let store = mux(mode, || SharedStorage::new(MemoryStorage::new()));
        holds(&store, mode, Over::Memory).await;
    }
}

/// Spec: CF-2, MX-1, P-7
#[tokio::test]
async fn every_mode_passes_over_memory_of_object_store() {
    for mode in MuxMode::ALL {
        let store = mux(mode, || bucket(InMemory::new()));
        holds(&store, mode, Over::Memory).await;
    }
}

/// Spec: CF-2, MX-1, P-7
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_mode_passes_over_folders() {
    for mode in MuxMode::ALL {
        let mut scratch = Scratch::new();
        let store = mux(mode, || scratch.backend());
        holds(&store, mode, Over::Folders).await;
    }
}

/// Nothing is left out that could be had: the mirror has no conditions at all.
///
/// Spec: MX-1
#[tokio::test]
async fn a_mirror_says_that_it_decides_no_condition() {
    let store = mux(MuxMode::Mirror, || SharedStorage::new(MemoryStorage::new()));
    let path = "a".into();
    for mode in [
        object_store::PutMode::Create,
        object_store::PutMode::Update(object_store::UpdateVersion {
            e_tag: Some("1".into()),
            version: None,
        }),
    ] {
        let error = store.put_opts(&path, "v".into(), mode.into()).await.unwrap_err();
        assert!(matches!(error, Error::NotImplemented { .. }), "{error}");
    }
}
