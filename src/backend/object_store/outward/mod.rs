//! A storage of ours as an `object_store::ObjectStore`: the way out.
//!
//! [`MuxObjectStore`] is the store. Beside it stand what it is made of: the trait itself
//! (`store`), conditional and partial reads (`reading`, `section`), conditional writes and copies
//! (`writing`), uploads in parts (`upload`, `queue`), listings (`listing`), and what our errors
//! mean there (`errors`). All of it is translation; what to do about a failure is decided below.
//!
//! It is compiled once for each version of `object_store` that the crate knows. So what belongs to
//! that crate is taken from `api`, which is the module beside this one in each of the two places.

mod errors;
mod listing;
mod queue;
mod reading;
mod section;
mod store;
mod upload;
mod writing;

use core::fmt;

use super::api::{self, Extensions};
use crate::mux::StorageMux;
use crate::port::{Clock, OpContext, SharedStorage};
use crate::rng::Rng;
use crate::sync::AbortSignal;

/// How the errors of this store name it.
const STORE: &str = "storage-mux";

/// What is read into memory at once by default: 64 MiB.
const WHOLE_BYTES: u64 = 64 * 1024 * 1024;

/// How many keys a page of a listing has by default.
const PAGE_KEYS: usize = 1_000;

/// A mux, or any [`Storage`](crate::Storage), as an `object_store::ObjectStore`. Clones share it.
///
/// Whatever takes an `Arc<dyn ObjectStore>` takes this, and so gets failover, mirroring and the
/// rest by the change of one line.
///
/// ```
/// use std::sync::Arc;
///
/// use object_store::memory::InMemory;
/// use object_store::path::Path;
/// use object_store::{ObjectStore, ObjectStoreExt};
/// use storage_mux::backend::{MuxObjectStore, ObjectStoreBackend};
/// use storage_mux::sim::FakeClock; // on a server: runtime::tokio::TokioClock
/// use storage_mux::{Backend, SeededRng, SharedStorage, StorageMux};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let bucket = |store| {
///     let backend = ObjectStoreBackend::new(store).with_plain_names();
///     SharedStorage::new(backend.with_conditional_writes(true).with_sorted_listing(true))
/// };
/// let mux = StorageMux::builder(FakeClock::new(), SeededRng::new(1))
///     .backend(Backend::new("near", bucket(InMemory::new())))
///     .backend(Backend::new("far", bucket(InMemory::new())))
///     .build()?;
///
/// let store: Arc<dyn ObjectStore> = Arc::new(MuxObjectStore::from(mux));
/// store.put(&Path::from("photos/1.jpg"), "...".into()).await?;
/// assert_eq!(store.get(&Path::from("photos/1.jpg")).await?.bytes().await?, "...");
/// # Ok(())
/// # }
/// ```
///
/// # Paths and keys
///
/// The key of a path is its text, just as it is: `a/b%2Fc` is the key `a/b%2Fc`. Over backends
/// with [plain names](crate::backend::ObjectStoreBackend::with_plain_names) a path so leads to the object
/// of the same path in the bucket, and a listing shows what the bucket itself would show: use
/// plain names for buckets that others read or write. Without them `%` stands escaped in the
/// bucket. A key that is no path (`a//b`, `../x`) cannot be named here and is not listed.
///
/// # What comes from where
///
/// - The entity tag and the version of an object are those of [`Version`](crate::Version), and
///   lead back to it. Size, time and tag come from `stat` and `list`. A backend that knows no time
///   gives 1970-01-01, and conditions on the time are not supported there.
/// - A read is a `stat`, which decides on the conditions, and then a `get`, a `get_range` or, past
///   1 MiB, a `get_stream`. If somebody writes in between, the tag may be older than the value but
///   never newer, so that an update by it fails as it must. A read that asks for a tag or a version
///   looks again when it has the value, and begins anew where that has changed.
/// - A range is one `get_range` up to [a limit](Self::with_max_whole_bytes), and a stream whose
///   beginning is thrown away past it.
/// - An upload is one write stream. A part is taken once the stream has room for it, and the
///   parts are written in the order in which they were handed over, whichever of them is awaited
///   first; so memory holds the parts that nobody has awaited yet and no more. Dropped or aborted,
///   nothing becomes visible. A completed upload tells no tag.
/// - It lists by pages too (`PaginatedListStore`), by plain prefixes and with any delimiter.
/// - A copy reads and writes here: no backend copies by itself. A rename is a copy and a delete,
///   so both names can be there for a while.
/// - An [`AbortSignal`] among the extensions of the options gives the call up.
///
/// # What it does not have
///
/// - `PutMode` other than `Overwrite`, and copies that must not overwrite, need `set_if`; where
///   the storage lacks it (as a mux in mirror mode does) the answer is `NotImplemented`.
/// - Attributes are refused with `NotImplemented`. Tags and other extensions are ignored, as
///   `object_store` asks.
/// - Versions other than the present one are `NotSupported`.
/// - Of backends that hold copies, each has tags of its own. Where reads go to more than one of
///   them (mirror mode, or after a failover), a tag that one gave means nothing to another.
///
/// # Errors
///
/// `KEY_NOT_FOUND` is `NotFound`, `UNSUPPORTED` is `NotSupported`, HTTP 304, 401, 403, 404 and 412
/// are `NotModified`, `Unauthenticated`, `PermissionDenied`, `NotFound` and `Precondition`; an
/// expired credential is `Unauthenticated`. All else is `Generic`. The [`StorageError`] is always
/// the source, so its code and that of a mux can be asked for.
///
/// [`StorageError`]: crate::StorageError
#[derive(Clone)]
pub struct MuxObjectStore {
    storage: SharedStorage,
    whole_bytes: u64,
    page_keys: usize,
}

impl MuxObjectStore {
    /// A store over a mux, or over any storage: `MuxObjectStore::new(SharedStorage::new(storage))`.
    pub fn new(storage: impl Into<SharedStorage>) -> Self {
        Self { storage: storage.into(), whole_bytes: WHOLE_BYTES, page_keys: PAGE_KEYS }
    }

    /// The same with another limit, in bytes, on what is read into memory at once: by default
    /// 64 MiB. A longer range is cut out of a stream, and a longer value cannot be copied under
    /// the condition that nothing is overwritten.
    #[must_use]
    pub const fn with_max_whole_bytes(mut self, bytes: u64) -> Self {
        self.whole_bytes = bytes;
        self
    }

    /// The same with another number of keys in each page that a listing asks for: by default 1000,
    /// at least one.
    #[must_use]
    pub const fn with_page_keys(mut self, keys: usize) -> Self {
        self.page_keys = if keys == 0 { 1 } else { keys };
        self
    }

    /// The storage inside.
    #[must_use]
    pub const fn storage(&self) -> &SharedStorage {
        &self.storage
    }
}

impl<C, R> From<StorageMux<SharedStorage, C, R>> for MuxObjectStore
where
    C: Clock<Sleep: Send> + Send + Sync + 'static,
    R: Rng + Send + Sync + 'static,
{
    fn from(mux: StorageMux<SharedStorage, C, R>) -> Self {
        Self::new(mux)
    }
}

impl From<SharedStorage> for MuxObjectStore {
    fn from(storage: SharedStorage) -> Self {
        Self::new(storage)
    }
}

impl fmt::Display for MuxObjectStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MuxObjectStore")
    }
}

impl fmt::Debug for MuxObjectStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MuxObjectStore")
            .field("storage", &self.storage)
            .field("whole_bytes", &self.whole_bytes)
            .field("page_keys", &self.page_keys)
            .finish()
    }
}

/// The context of a call with these extensions.
fn context(extensions: &Extensions) -> OpContext {
    match extensions.get::<AbortSignal>() {
        Some(signal) => OpContext::new().with_signal(signal.clone()),
        None => OpContext::new(),
    }
}
