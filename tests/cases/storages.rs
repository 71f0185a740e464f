//! Every bundled storage, and a mux of every mode.

use std::future::Future;

use storage_mux::sim::{FakeClock, run};
use storage_mux::{
    Backend, MemoryStorage, MuxMode, MuxOptions, OpContext, PageRequest, SeededRng, SharedStorage,
    Storage, StorageError, StorageMux,
};

/// One storage under test, empty at first.
pub(crate) struct Subject {
    pub(crate) name: String,
    pub(crate) storage: SharedStorage,
    clock: FakeClock,
    #[cfg(feature = "object-store")]
    _folder: Option<folder::Scratch>,
}

impl Subject {
    fn new(name: impl Into<String>, storage: impl Into<SharedStorage>, clock: &FakeClock) -> Self {
        Self {
            name: name.into(),
            storage: storage.into(),
            clock: clock.clone(),
            #[cfg(feature = "object-store")]
            _folder: None,
        }
    }

    pub(crate) fn run<F: Future>(&self, future: F) -> F::Output {
        run(&self.clock, future).unwrap_or_else(|stalled| panic!("{}: {stalled}", self.name))
    }

    pub(crate) fn set(&self, key: &str, value: &str) -> Result<(), StorageError> {
        let value = value.to_owned().into();
        self.run(self.storage.set(key, value, &OpContext::new())).map(drop)
    }

    pub(crate) fn get(&self, key: &str) -> Result<String, StorageError> {
        let value = self.run(self.storage.get(key, &OpContext::new()))?;
        Ok(String::from_utf8(value.into()).expect("what was written is text"))
    }

    pub(crate) fn has(&self, key: &str) -> Result<bool, StorageError> {
        self.run(self.storage.has(key, &OpContext::new()))
    }

    pub(crate) fn delete(&self, key: &str) -> Result<(), StorageError> {
        self.run(self.storage.delete(key, &OpContext::new()))
    }

    pub(crate) fn set_partial(
        &self,
        key: &str,
        offset: u64,
        bytes: &str,
    ) -> Result<(), StorageError> {
        let bytes = bytes.to_owned().into();
        self.run(self.storage.set_partial(key, offset, bytes, &OpContext::new()))
    }

    /// All keys with the prefix, in the order in which they are listed.
    pub(crate) fn list(&self, prefix: &str) -> Vec<String> {
        let page = PageRequest::first(1_000);
        let listed = self.run(self.storage.list(prefix, &page, &OpContext::new()));
        let page = listed.unwrap_or_else(|error| panic!("{}: {error}", self.name));
        assert_eq!(page.next, None, "{}: all on one page", self.name);
        page.entries.into_iter().map(|entry| entry.key).collect()
    }
}

/// Memory, the folder and the store of the ecosystem, and a mux of each mode over memory.
pub(crate) fn every_storage() -> Vec<Subject> {
    let clock = FakeClock::new();
    let mut subjects =
        vec![Subject::new("memory", SharedStorage::new(MemoryStorage::new()), &clock)];
    subjects.extend(
        MuxMode::ALL
            .map(|mode| Subject::new(format!("a mux in mode {mode}"), mux(mode, &clock), &clock)),
    );
    #[cfg(feature = "object-store")]
    subjects.extend(folder::stores(&clock));
    subjects
}

/// Modes that spread one set of keys over their backends need one store behind all of them.
fn mux(mode: MuxMode, clock: &FakeClock) -> StorageMux<SharedStorage, FakeClock, SeededRng> {
    let spreads = matches!(mode, MuxMode::RoundRobin | MuxMode::Weighted | MuxMode::StickyByKey);
    let one = MemoryStorage::new();
    let backends = ["a", "b", "c"].map(|name| {
        let store = if spreads { one.clone() } else { MemoryStorage::new() };
        Backend::new(name, SharedStorage::new(store)).with_weight(1.0)
    });
    StorageMux::builder(clock.clone(), SeededRng::new(5))
        .backends(backends)
        .options(MuxOptions::new().with_mode(mode))
        .build()
        .expect("three backends")
}

#[cfg(feature = "object-store")]
mod folder {
    //! Stores of the `object_store` crate: one in memory and one on disk.

    use std::env::temp_dir;
    use std::fs;
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicU32, Ordering};

    use object_store::local::LocalFileSystem;
    use object_store::memory::InMemory;
    use storage_mux::SharedStorage;
    use storage_mux::backend::ObjectStoreBackend;
    use storage_mux::sim::FakeClock;

    use super::Subject;

    /// A folder of its own for a test, removed with all that is in it.
    pub(crate) struct Scratch(PathBuf);

    impl Scratch {
        fn new() -> Self {
            static COUNT: AtomicU32 = AtomicU32::new(0);
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = temp_dir().join(format!("storage-mux-cases-{}-{count}", std::process::id()));
            fs::create_dir_all(path.join("root")).expect("a folder for the test");
            Self(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            // Whoever wrote beside the folder instead of into it is found out here.
            let beside = fs::read_dir(&self.0).map_or(0, Iterator::count);
            let _ = fs::remove_dir_all(&self.0);
            assert!(beside == 1 || std::thread::panicking(), "something escaped its folder");
        }
    }

    pub(crate) fn stores(clock: &FakeClock) -> Vec<Subject> {
        let scratch = Scratch::new();
        let root = scratch.0.join("root");
        let store = LocalFileSystem::new_with_prefix(&root).expect("the folder is there");
        let on_disk = SharedStorage::new(ObjectStoreBackend::on_folder(store, root));
        let in_memory = SharedStorage::new(ObjectStoreBackend::new(InMemory::new()));
        let mut folder = Subject::new("a folder", on_disk, clock);
        folder._folder = Some(scratch);
        vec![folder, Subject::new("a store of the ecosystem", in_memory, clock)]
    }
}
