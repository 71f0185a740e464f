//! Muxes of every mode, over memory and over folders.

use std::env::temp_dir;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use storage_mux::backend::{MuxObjectStore, ObjectStoreBackend};
use storage_mux::runtime::tokio::TokioClock;
use storage_mux::sim::{FakeClock, FaultStorage, run};
use storage_mux::{
    Backend, MemoryStorage, MuxMode, MuxOptions, SeededRng, SharedStorage, StorageMux,
};

const NAMES: [&str; 3] = ["a", "b", "c"];

/// Whether a mode spreads one set of keys, and so needs several doors to one store.
const fn spreads(mode: MuxMode) -> bool {
    matches!(mode, MuxMode::RoundRobin | MuxMode::Weighted | MuxMode::StickyByKey)
}

/// A mux over three stores, or over three doors to one where the mode spreads the keys.
pub(crate) fn mux(mode: MuxMode, mut make: impl FnMut() -> SharedStorage) -> MuxObjectStore {
    let first = make();
    let backends = NAMES.map(|name| {
        let storage = if spreads(mode) { first.clone() } else { make() };
        Backend::new(name, storage).with_weight(1.0)
    });
    let mux = StorageMux::builder(TokioClock::new(), SeededRng::new(5))
        .options(MuxOptions::new().with_mode(mode))
        .backends(backends)
        .build()
        .expect("a mux over three stores");
    MuxObjectStore::from(mux)
}

/// The store of `object_store` in memory, with all that it can do.
pub(crate) fn bucket(store: InMemory) -> SharedStorage {
    let backend = ObjectStoreBackend::new(store).with_plain_names();
    SharedStorage::new(backend.with_conditional_writes(true).with_sorted_listing(true))
}

/// A store over our own memory, without a mux, on a schedule of faults and with a log.
pub(crate) fn faulty() -> (MuxObjectStore, Faulty, FakeClock) {
    let clock = FakeClock::new();
    let storage = FaultStorage::new(MemoryStorage::new(), clock.clone());
    (MuxObjectStore::new(SharedStorage::new(storage.clone())), storage, clock)
}

pub(crate) type Faulty = FaultStorage<MemoryStorage>;

/// Drives a future to its end.
pub(crate) fn drive<F: Future>(future: F) -> F::Output {
    run(&FakeClock::new(), future).expect("nothing here waits for ever")
}

/// Folders of their own for a test, removed with all that is in them.
pub(crate) struct Scratch(PathBuf, u32);

impl Scratch {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("storage-mux-as-object-store-{}-{count}", std::process::id());
        Self(temp_dir().join(name), 0)
    }

    /// A new folder.
    pub(crate) fn folder(&mut self) -> PathBuf {
        self.1 += 1;
        let folder = self.0.join(self.1.to_string());
        fs::create_dir_all(&folder).expect("a folder for the test");
        folder
    }

    /// A new folder as a backend, with all that it can do.
    pub(crate) fn backend(&mut self) -> SharedStorage {
        let root = self.folder();
        let store = LocalFileSystem::new_with_prefix(&root).expect("the folder is there");
        let backend = ObjectStoreBackend::on_folder(store, root);
        SharedStorage::new(backend.with_plain_names().with_create_only_writes())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
