//! Running futures without a runtime, and folders of operators.

use std::env::temp_dir;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use opendal::{Operator, services};
use storage_mux::backend::OpendalBackend;
use storage_mux::sim::{FakeClock, run};
use storage_mux::{OpContext, PageRequest, Storage, StorageError};

/// Drives a future to its end. Memory and the fake need no runtime.
pub(crate) fn drive<F: Future>(future: F) -> F::Output {
    run(&FakeClock::new(), future).expect("nothing here waits for ever")
}

pub(crate) fn memory() -> OpendalBackend {
    let operator = Operator::new(services::Memory::default()).expect("memory has no settings");
    OpendalBackend::new(operator)
}

/// A folder of its own for a test, removed with all that is in it.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = temp_dir().join(format!("storage-mux-opendal-{}-{count}", std::process::id()));
        fs::create_dir_all(path.join("root")).expect("a folder for the test");
        Self(path)
    }

    /// The folder of the operator.
    pub(crate) fn root(&self) -> PathBuf {
        self.0.join("root")
    }

    /// The folder beside it for values that are being written.
    pub(crate) fn unfinished(&self) -> PathBuf {
        self.0.join("unfinished")
    }

    /// A folder whose values are written in place.
    pub(crate) fn in_place(&self) -> OpendalBackend {
        let service = services::Fs::default().root(&self.root().to_string_lossy());
        OpendalBackend::new(Operator::new(service).expect("the folder is there"))
    }

    /// A folder whose values appear whole.
    pub(crate) fn atomic(&self) -> OpendalBackend {
        let service = services::Fs::default()
            .root(&self.root().to_string_lossy())
            .atomic_write_dir(&self.unfinished().to_string_lossy());
        let operator = Operator::new(service).expect("the folders are there");
        OpendalBackend::new(operator).with_streamed_writes(true)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Every file below a folder, as it is named there.
pub(crate) fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    collect(folder, "", &mut found);
    found.sort_unstable();
    found
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
