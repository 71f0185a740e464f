//! Any `object_store::ObjectStore` as a backend: a bucket, a folder, memory.
//!
//! [`ObjectStoreBackend`] is the storage. Beside it stand what it is made of: how keys become
//! names of objects, what the store's errors mean (`errors`), pages of a listing
//! (`listing`), the two streams (`reader`, `writer`). The other way about, a storage of ours as an
//! `ObjectStore`, is `outward`, with `api`.

mod api;
mod errors;
mod listing;
mod outward;
mod reader;
mod settings;
mod storage;
mod values;
mod writer;

use core::fmt;
use std::path::PathBuf;

use ::object_store::ObjectStore;

use self::settings::{Conditions, MIN_PART_BYTES, Settings};
use crate::backend::probe::Probe;
use crate::error::StorageError;
use crate::sync::Arc;

pub use self::outward::MuxObjectStore;
pub use self::reader::ObjectStoreReader;
pub use self::writer::ObjectStoreWriter;

/// An object store as a [`Storage`](crate::Storage). Clones share the store.
///
/// The store may be of any type, `Arc<dyn ObjectStore>` included. Inside a mux switch the store's
/// own retries off (`RetryConfig { max_retries: 0, .. }`), or two layers of them multiply.
///
/// ```
/// use object_store::memory::InMemory;
/// use storage_mux::backend::ObjectStoreBackend;
/// use storage_mux::{OpContext, Storage};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), storage_mux::StorageError> {
/// let backend = ObjectStoreBackend::new(InMemory::new());
/// let cx = OpContext::new();
/// backend.set("photos/1.jpg", "...".into(), &cx).await?;
/// assert_eq!(backend.get("photos/1.jpg", &cx).await?, "...");
/// # Ok(())
/// # }
/// ```
///
/// # Settings
///
/// | setting | default in a bucket | default on a folder |
/// |---|---|---|
/// | [names](Self::with_plain_names) | escaped | escaped, for files |
/// | [longest key](Self::with_max_key_bytes) | 1024 bytes | 1024 bytes, less below a long path |
/// | [conditional writes](Self::with_conditional_writes) | off | off, or [half](Self::with_create_only_writes) |
/// | [sorted listing](Self::with_sorted_listing) | off | off |
/// | [parts of an upload](Self::with_parts) | 5 MiB, 2 in flight | the same |
/// | [largest partial write](Self::with_max_partial_bytes) | 256 MiB | 256 MiB |
/// | [probe](Self::with_probe) | none | the folder is there |
///
/// # Keys and names
///
/// Every key has a name of its own in the store. Most keys are their names. What a name cannot
/// hold is escaped: `%` and control characters become `%` and two digits, as in `100%25`; parts
/// that are empty, `.` or `..` get a mark, `%f` at the end of the key and `%d` elsewhere, as in
/// `a/..%d/b`. Objects in the store whose names no key has are left alone, and not listed.
///
/// On a folder more is escaped (`# \ : * ? " < > |`, a dot or a space at the end of a part), parts
/// over 240 bytes are cut, and a part that does not show whether it is a file gets its mark:
/// `LICENSE` is the file `LICENSE%f` and `v1.2/a.txt` lies in the directory `v1.2%d`, so that the
/// keys `a` and `a/b` can both exist. A file system that ignores case holds one value for keys
/// that differ in case alone; do not use one. Nor are the device names of Windows kept apart.
///
/// # What it does not promise
///
/// - `set_partial` reads the value, changes it and writes it whole. With all conditional writes it
///   is atomic; without, a write by someone else in between is lost.
/// - A dropped future stops waiting. A request that is on its way, or a file operation that a
///   thread has begun, may still take effect, whole and later.
/// - Versions are compared by the store. A listing may tell less of a version than `stat` does.
/// - The stores of `object_store` that speak HTTP drop the `Retry-After` of an answer. Where the
///   error of a store has a [`StorageError`] among its sources, that counts, `Retry-After`
///   included: an `HttpService` of one's own in the store's `HttpConnector` can so pass it on, and
///   a [`MuxObjectStore`] does.
pub struct ObjectStoreBackend<S> {
    store: Arc<S>,
    settings: Settings,
}

impl<S: ObjectStore> ObjectStoreBackend<S> {
    /// A bucket, or any store that does not keep its objects as files.
    pub fn new(store: S) -> Self {
        Self { store: Arc::new(store), settings: Settings::bucket() }
    }

    /// A store that keeps its objects as files below the folder `root`: a `LocalFileSystem`, or
    /// one that wraps it.
    ///
    /// Such a store takes a folder that has gone for an empty one, and makes it anew to write into
    /// it. So before each write, after each miss and after each page of a listing this looks
    /// whether the folder is there, and fails with a transient error if not: a disk that was taken
    /// away is a backend in trouble and not a key that is missing. The look is taken on a thread
    /// for blocking work where the feature `tokio` is on and its runtime is there, else on the
    /// calling one. Between the look and the write the folder can still go; then the store makes
    /// it anew. A mount point whose disk is gone is still a folder: give a
    /// [probe](Self::with_probe) that looks for something on the disk.
    ///
    /// Directories that have become empty stay, unless the store was told to remove them. A value
    /// that is being written lies beside its place in a file whose name ends in `#` and a number.
    /// No key has such a name; after a crash, or when the folder goes while a stream is written, it
    /// stays behind.
    ///
    /// ```
    /// use object_store::local::LocalFileSystem;
    /// use storage_mux::backend::ObjectStoreBackend;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let root = std::env::temp_dir();
    /// let backend = ObjectStoreBackend::on_folder(LocalFileSystem::new_with_prefix(&root)?, &root);
    /// # let _ = backend;
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_folder(store: S, root: impl Into<PathBuf>) -> Self {
        Self { store: Arc::new(store), settings: Settings::folder(root.into()) }
    }

    /// The same with keys taken as names just as they are, for a store that others use too. A key
    /// that is no legal name is `INVALID_KEY` then: one with an empty part, `.`, `..` or a control
    /// character; on a folder also one with `#` or `\` and one with a part of more than 242 bytes,
    /// and a write to `a/b` where there is `a`, or the other way about.
    #[must_use]
    pub const fn with_plain_names(mut self) -> Self {
        self.settings.names.plain = true;
        self
    }

    /// The same with another limit on keys, in bytes. In a bucket it holds for the name too: a key
    /// whose escapes make it longer than this is `INVALID_KEY`. On a folder the limit of a path
    /// holds for the name.
    #[must_use]
    pub const fn with_max_key_bytes(mut self, bytes: u32) -> Self {
        self.settings.names.limit_keys(bytes);
        self
    }

    /// The same with or without `set_if`. Switch it on for a store that has both `PutMode::Create`
    /// and `PutMode::Update`: memory, and S3, Google Cloud Storage and Azure as they are set up by
    /// default. `LocalFileSystem` has only the first: see
    /// [`with_create_only_writes`](Self::with_create_only_writes).
    #[must_use]
    pub const fn with_conditional_writes(mut self, on: bool) -> Self {
        self.settings.conditions = if on { Conditions::All } else { Conditions::None };
        self
    }

    /// The same with the half of `set_if` that writes a key only where it is absent, for a store
    /// that has `PutMode::Create` and no `PutMode::Update`: `LocalFileSystem`. With a version as
    /// the condition `set_if` answers `UNSUPPORTED` then, though the capabilities name it.
    #[must_use]
    pub const fn with_create_only_writes(mut self) -> Self {
        self.settings.conditions = Conditions::Absent;
        self
    }

    /// The same told that the store lists its objects in the order of their names, as memory, S3
    /// (directory buckets apart), Google Cloud Storage and Azure do. Then a page is read only as
    /// far as it goes; else each page takes the whole listing from its place on. Memory is bounded
    /// by the page either way. Do not say so of a store that does not: keys would be missed.
    #[must_use]
    pub const fn with_sorted_listing(mut self, sorted: bool) -> Self {
        self.settings.sorted_listing = sorted;
        self
    }

    /// The same with other parts for uploads: their size in bytes, at least 5 MiB, and how many
    /// may be in flight, at least one. Stores take 10 000 parts, so the longest stream by default
    /// is some 48 GiB.
    #[must_use]
    pub const fn with_parts(mut self, bytes: usize, in_flight: usize) -> Self {
        self.settings.part_bytes = if bytes < MIN_PART_BYTES { MIN_PART_BYTES } else { bytes };
        self.settings.parts_in_flight = if in_flight == 0 { 1 } else { in_flight };
        self
    }

    /// The same with another limit, in bytes, on the values that `set_partial` reads and rewrites.
    /// Past it the answer is HTTP 413.
    #[must_use]
    pub const fn with_max_partial_bytes(mut self, bytes: u64) -> Self {
        self.settings.max_partial_bytes = bytes;
        self
    }

    /// The same with a question that is asked before each write, after each miss and after each
    /// page of a listing: whether the store is there. Its error, which should be a transient one,
    /// takes the place of the answer.
    #[must_use]
    pub fn with_probe<F, A>(mut self, probe: F) -> Self
    where
        F: Fn() -> A + Send + Sync + 'static,
        A: Future<Output = Result<(), StorageError>> + Send + 'static,
    {
        self.settings.probe = Some(Probe::custom(probe));
        self
    }

    /// The store inside.
    #[must_use]
    pub fn store(&self) -> &S {
        &self.store
    }
}

impl<S> Clone for ObjectStoreBackend<S> {
    fn clone(&self) -> Self {
        Self { store: self.store.clone(), settings: self.settings.clone() }
    }
}

impl<S: fmt::Debug> fmt::Debug for ObjectStoreBackend<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectStoreBackend")
            .field("store", &self.store)
            .field("settings", &self.settings)
            .finish()
    }
}
