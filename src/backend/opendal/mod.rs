//! Any OpenDAL `Operator` as a backend: a bucket, a database, a folder.
//!
//! [`OpendalBackend`] is the storage. Beside it stand what it is made of: what is known of the
//! service (`settings`), what its errors mean (`errors`), pages of a listing (`listing`), the two
//! streams (`reader`, `writer`).

mod errors;
mod listing;
mod reader;
mod settings;
mod storage;
mod values;
mod writer;

use core::fmt;

use ::opendal::{Executor, Operator};

use self::settings::Settings;
use crate::backend::probe::Probe;
use crate::error::StorageError;

pub use self::reader::OpendalReader;
pub use self::writer::OpendalWriter;

/// An OpenDAL operator as a [`Storage`](crate::Storage). Clones share the service.
///
/// What the backend can do is what the operator says of itself, so a database that cannot list
/// makes a backend without `list`. Its operations run on whatever runtime the operator needs; this
/// adds none. Inside a mux leave OpenDAL's `RetryLayer` out, or two layers of retries multiply.
///
/// ```
/// use opendal::{Operator, services::Memory};
/// use storage_mux::backend::OpendalBackend;
/// use storage_mux::{OpContext, Storage};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let backend = OpendalBackend::new(Operator::new(Memory::default())?);
/// let cx = OpContext::new();
/// backend.set("photos/1.jpg", "...".into(), &cx).await?;
/// assert_eq!(backend.get("photos/1.jpg", &cx).await?, "...");
/// # Ok(())
/// # }
/// ```
///
/// # Settings
///
/// A *file service* is one that keeps files in directories: `fs`, `sftp`, `ftp`, `hdfs`,
/// `hdfs-native`, `webhdfs`, `webdav`, `alluxio`, `azdls`, `azfile`, `dbfs`, `monoiofs`, `compfs`,
/// `opfs`, `goosefs`, `ipmfs` and the personal cloud drives.
///
/// | setting | default | of a file service |
/// |---|---|---|
/// | [names](Self::with_plain_names) | escaped | escaped, [for files](Self::with_file_names) |
/// | [longest key](Self::with_max_key_bytes) | 1024 bytes | 1024 bytes, less below a long path |
/// | [write streams](Self::with_streamed_writes) | as the service has them | collected |
/// | [longest collected stream](Self::with_max_collected_bytes) | 256 MiB | 256 MiB |
/// | [conditional writes](Self::with_conditional_writes) | as the service has them | the same |
/// | [sorted listing](Self::with_sorted_listing) | as the service has it | the same |
/// | [largest partial write](Self::with_max_partial_bytes) | 256 MiB | 256 MiB |
/// | [probe](Self::with_probe) | none | `fs`: the root is there |
/// | [executor](Self::with_executor) | none | none |
///
/// # Capabilities
///
/// `set_if` is there where the service writes both if a value is absent and if its entity tag or
/// version matches; a backend that knows half of an operation does not have it. Everything else
/// follows from `read`, `write`, `stat`, `delete` and `list` of the operator's capability.
///
/// # Keys and names
///
/// As in [`ObjectStoreBackend`](crate::backend): every key has a name of its own, most keys
/// are their names, and what OpenDAL would make something else of is escaped. `%` and control
/// characters become `%` and two digits, a part that is empty, `.` or `..` gets a mark, `%f` at the
/// end of the key and `%d` elsewhere, and so does white space at the end of a key; white space at
/// its start is escaped. Names that no key has are left alone, and not listed.
///
/// # Listing
///
/// Pages are sorted, whatever the order of the service. Where the service lists recursively from a
/// place on (`list_with_start_after`) a page is read only as far as it goes; else each page takes
/// the whole listing of its directory. Memory is bounded by the page either way.
///
/// # What it does not promise
///
/// - `set_partial` reads the value, changes it and writes it whole. With `set_if` it is atomic;
///   without, a write by someone else in between is lost.
/// - `get_range` asks for the size first: two requests.
/// - `fs` without an `atomic_write_dir`, and other file services, write in place: a reader can
///   meet, and a crash can leave, half a value. Give `fs` a directory for that on the same file
///   system, outside of the root; then say [`with_streamed_writes`](Self::with_streamed_writes).
/// - A dropped future stops waiting. A request that is on its way may still take effect.
/// - A service that cannot store an empty value answers with an error of its own.
#[derive(Clone)]
pub struct OpendalBackend {
    operator: Operator,
    settings: Settings,
}

impl OpendalBackend {
    /// The service behind an operator, with the defaults for its kind.
    #[must_use]
    pub fn new(operator: Operator) -> Self {
        let settings = Settings::of(&operator);
        Self { operator, settings }
    }

    /// The same with keys taken as names just as they are, for a service that others use too. A
    /// key that is no legal name is `INVALID_KEY` then: one with an empty part, `.`, `..` or a
    /// control character, one with white space at either end, and on a file service also one with
    /// `#` or `\`, one with a part of more than 242 bytes, and a write to `a/b` where there is `a`.
    #[must_use]
    pub const fn with_plain_names(mut self) -> Self {
        self.settings.names.plain = true;
        self
    }

    /// The same with or without names that suit files and directories, where the guess from the
    /// service is wrong. Without them the keys `a` and `a/b` cannot both exist on a file system.
    #[must_use]
    pub fn with_file_names(mut self, on: bool) -> Self {
        self.settings.set_file_names(on, &self.operator);
        self
    }

    /// The same with another limit on keys, in bytes. Except on a file service it holds for the
    /// name too: a key whose escapes make it longer than this is `INVALID_KEY`.
    #[must_use]
    pub const fn with_max_key_bytes(mut self, bytes: u32) -> Self {
        self.settings.names.limit_keys(bytes);
        self
    }

    /// The same told whether what is written to the service's own writer stays out of sight until
    /// its close, as in object stores and in `fs` with an `atomic_write_dir`. If not, or if the
    /// service takes a value in one piece only, a stream is collected in memory and written at its
    /// close.
    #[must_use]
    pub const fn with_streamed_writes(mut self, on: bool) -> Self {
        self.settings.streamed_writes = on;
        self
    }

    /// The same with another limit, in bytes, on a write stream that is collected in memory. Past
    /// it the answer is HTTP 413.
    #[must_use]
    pub const fn with_max_collected_bytes(mut self, bytes: u64) -> Self {
        self.settings.max_collected_bytes = bytes;
        self
    }

    /// The same without `set_if`, for a server that takes conditions and ignores them; or with it
    /// again. It never adds what the operator does not have.
    #[must_use]
    pub const fn with_conditional_writes(mut self, on: bool) -> Self {
        self.settings.conditional_writes = on;
        self
    }

    /// The same told that the service does not list in the order of names although it can begin
    /// after one; or again that it does. Then each page takes the whole listing from its place on.
    #[must_use]
    pub const fn with_sorted_listing(mut self, sorted: bool) -> Self {
        self.settings.sorted_listing = sorted;
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
    /// takes the place of the answer. An `fs` operator begins with such a question, as it takes a
    /// folder that has gone for an empty one, and makes it anew to write into it.
    #[must_use]
    pub fn with_probe<F, A>(mut self, probe: F) -> Self
    where
        F: Fn() -> A + Send + Sync + 'static,
        A: Future<Output = Result<(), StorageError>> + Send + 'static,
    {
        self.settings.probe = Some(Probe::custom(probe));
        self
    }

    /// The same with an executor for what a drop cannot wait for: telling the service that a write
    /// stream was given up. Without one the tokio runtime of the moment does it, where the feature
    /// `tokio` is on and there is one; else the service is not told.
    #[must_use]
    pub fn with_executor(mut self, executor: Executor) -> Self {
        self.settings.executor = Some(executor);
        self
    }

    /// The operator inside.
    #[must_use]
    pub const fn operator(&self) -> &Operator {
        &self.operator
    }
}

impl fmt::Debug for OpendalBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpendalBackend")
            .field("scheme", &self.operator.info().scheme())
            .field("settings", &self.settings)
            .finish()
    }
}
