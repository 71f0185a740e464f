//! Running futures without a runtime, and folders that go away.

use std::env::temp_dir;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use object_store::local::LocalFileSystem;
use storage_mux::backend::ObjectStoreBackend;
use storage_mux::sim::{FakeClock, run};
use storage_mux::{OpContext, PageRequest, Storage, StorageError};

/// Drives a future to its end. Outside a runtime the stores do their work while they are polled.
pub(crate) fn drive<F: Future>(future: F) -> F::Output {
    run(&FakeClock::new(), future).expect("nothing here waits for ever")
}

/// A folder of its own for a test, removed with all that is in it.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("storage-mux-object-store-{}-{count}", std::process::id());
        let path = temp_dir().join(name);
        fs::create_dir_all(path.join("root")).expect("a folder for the test");
        Self(path)
    }

    /// The folder of the store.
    pub(crate) fn root(&self) -> PathBuf {
        self.0.join("root")
    }

    /// The folder around it, where nothing but it may ever be.
    pub(crate) fn around(&self) -> &Path {
        &self.0
    }

    pub(crate) fn backend(&self) -> ObjectStoreBackend<LocalFileSystem> {
        let store = LocalFileSystem::new_with_prefix(self.root()).expect("the folder is there");
        ObjectStoreBackend::on_folder(store, self.root())
    }

    /// Every file below the root, as it is named there.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        collect(&self.root(), "", &mut found);
        found.sort_unstable();
        found
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn collect(folder: &Path, prefix: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{name}/"), found);
        } else {
            found.push(name);
        }
    }
}

pub(crate) fn get<S: Storage>(storage: &S, key: &str) -> Result<Vec<u8>, StorageError> {
    drive(storage.get(key, &OpContext::new())).map(Into::into)
}

pub(crate) fn set<S: Storage>(storage: &S, key: &str, value: &str) -> Result<(), StorageError> {
    drive(storage.set(key, value.to_owned().into(), &OpContext::new())).map(drop)
}

/// The keys of one page, and where the next one begins.
pub(crate) fn page<S: Storage>(
    storage: &S,
    prefix: &str,
    request: &PageRequest,
) -> Result<(Vec<String>, Option<String>), StorageError> {
    let page = drive(storage.list(prefix, request, &OpContext::new()))?;
    Ok((page.entries.into_iter().map(|entry| entry.key).collect(), page.next))
}

/// All keys with the prefix.
pub(crate) fn keys<S: Storage>(storage: &S, prefix: &str) -> Vec<String> {
    page(storage, prefix, &PageRequest::first(usize::MAX)).expect("a listing").0
}
