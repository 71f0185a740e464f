//! A mux as an `ObjectStore` of version 0.13: the suite of that version in every mode. What it
//! leaves out, and why, is told beside the suite of version 0.14.

use futures_util::{StreamExt, TryStreamExt};
use object_store_013::path::Path;
use object_store_013::{Error, ObjectStore, ObjectStoreExt, integration};
use storage_mux::backend::object_store_013::MuxObjectStore;
use storage_mux::runtime::tokio::TokioClock;
use storage_mux::{
    Backend, MemoryStorage, MuxMode, MuxOptions, SeededRng, SharedStorage, StorageMux,
};

fn mux(mode: MuxMode) -> MuxObjectStore {
    let spreads = matches!(mode, MuxMode::RoundRobin | MuxMode::Weighted | MuxMode::StickyByKey);
    let one = MemoryStorage::new();
    let backends = ["a", "b", "c"].map(|name| {
        let storage = if spreads { one.clone() } else { MemoryStorage::new() };
        Backend::new(name, SharedStorage::new(storage)).with_weight(1.0)
    });
    let mux = StorageMux::builder(TokioClock::new(), SeededRng::new(5))
        .options(MuxOptions::new().with_mode(mode))
        .backends(backends)
        .build()
        .expect("a mux over three stores");
    MuxObjectStore::from(mux)
}

/// Spec: CF-2, MX-1, P-7
#[tokio::test]
async fn every_mode_passes_the_suite_of_the_version_before() {
    for mode in MuxMode::ALL {
        let store = &mux(mode);
        let decides = mode != MuxMode::Mirror;
        integration::put_get_delete_list(store).await;
        integration::put_get_attributes(store).await;
        integration::get_opts(store).await;
        if decides {
            integration::put_opts(store, true).await;
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
        let missing = integration::get_nonexistent_object(store, None).await;
        assert!(matches!(missing, Err(Error::NotFound { .. })), "{missing:?}");
        integration::stream_get(store).await;
        integration::multipart_out_of_order(store).await;
        integration::multipart_race_condition(store, true).await;
    }
}

/// Spec: E-1
#[tokio::test]
async fn an_error_of_ours_is_the_source_here_too() {
    let error = mux(MuxMode::Failover).head(&Path::from("missing")).await.unwrap_err();
    let Error::NotFound { source, .. } = error else { panic!("{error}") };
    let source: &storage_mux::StorageError = source.downcast_ref().expect("our error");
    assert!(source.is_key_not_found());
}
