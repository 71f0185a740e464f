//! The storage traits: one for a single thread, one for many.

use core::future::{Future, ready};
use core::ops::Range;

use bytes::Bytes;
use futures_core::Stream;
use futures_sink::Sink;

use super::{Capabilities, Condition, Metadata, OpContext, Page, PageRequest, Written};
use crate::error::StorageError;

/// An async storage of keys and values, with no `Send` asked for.
///
/// This is the trait that a mux is made of and that it implements. On a multi-threaded executor
/// implement [`Storage`] instead: everything that is `Storage` is `LocalStorage`. Import only one
/// of the two where you call methods; their names are the same.
///
/// # What every implementor must do
///
/// [`conformance::run`](crate::conformance::run) checks these rules on any storage.
///
/// - `get`, `stat`, `get_stream` and `get_range` of a missing key fail with `KEY_NOT_FOUND`;
///   `has` answers `false`; `delete` succeeds.
/// - `set` replaces the whole value. An empty value is a value.
/// - An empty key, a key with a NUL and a key past [`Capabilities::max_key_bytes`] fail with
///   `INVALID_KEY` ([`validate_key`](crate::validate_key) does it). Keys are never normalised.
/// - An operation that is missing from [`capabilities`](Self::capabilities) fails with
///   `UNSUPPORTED`.
/// - A failed operation leaves the stored value as it was, or as it was wanted.
/// - Dropping a future stops the operation. A write may or may not have happened by then, but
///   never by half.
///
/// Implementors may differ in their limits, in whether they know versions and times, and in how
/// they cut a stream into chunks.
pub trait LocalStorage {
    /// The stream of [`get_stream`](Self::get_stream). After an error it ends.
    type Reader: Stream<Item = Result<Bytes, StorageError>> + Unpin;
    /// The sink of [`set_stream`](Self::set_stream).
    type Writer: Sink<Bytes, Error = StorageError> + Unpin;

    /// Reads a whole value.
    fn get(&self, key: &str, cx: &OpContext) -> impl Future<Output = Result<Bytes, StorageError>>;

    /// Replaces a whole value.
    fn set(
        &self,
        key: &str,
        value: Bytes,
        cx: &OpContext,
    ) -> impl Future<Output = Result<Written, StorageError>>;

    /// Overwrites `bytes.len()` bytes from `offset` on. What lies past the end is created, with
    /// zero bytes between; so is a missing key. No bytes extend nothing, whatever the offset, and
    /// create an empty value where the key is missing.
    fn set_partial(
        &self,
        key: &str,
        offset: u64,
        bytes: Bytes,
        cx: &OpContext,
    ) -> impl Future<Output = Result<(), StorageError>>;

    /// Whether the key has a value.
    fn has(&self, key: &str, cx: &OpContext) -> impl Future<Output = Result<bool, StorageError>>;

    /// Removes a value. Succeeds where there is none.
    fn delete(&self, key: &str, cx: &OpContext) -> impl Future<Output = Result<(), StorageError>>;

    /// Lists the keys that start with `prefix`, a plain string prefix, sorted by their bytes.
    /// The empty prefix lists all; where nothing matches the page is empty.
    fn list(
        &self,
        prefix: &str,
        page: &PageRequest,
        cx: &OpContext,
    ) -> impl Future<Output = Result<Page, StorageError>>;

    /// What is known of a value without reading it.
    fn stat(
        &self,
        key: &str,
        cx: &OpContext,
    ) -> impl Future<Output = Result<Metadata, StorageError>>;

    /// Opens a value for reading chunk by chunk.
    fn get_stream(
        &self,
        key: &str,
        cx: &OpContext,
    ) -> impl Future<Output = Result<Self::Reader, StorageError>>;

    /// Opens a value for writing chunk by chunk. It becomes visible when the sink is closed, whole,
    /// and not at all when the sink is dropped before.
    fn set_stream(
        &self,
        key: &str,
        cx: &OpContext,
    ) -> impl Future<Output = Result<Self::Writer, StorageError>>;

    /// What this storage can do.
    fn capabilities(&self) -> Capabilities;

    /// How many muxes are nested in this storage: zero for a storage that is none.
    fn depth(&self) -> usize;

    /// Reads a part of a value. The end is clamped to the size, a start at or past the size fails
    /// with HTTP 416, and a range that ends before it starts is empty.
    ///
    /// Provided: answers `UNSUPPORTED`.
    fn get_range(
        &self,
        key: &str,
        range: Range<u64>,
        cx: &OpContext,
    ) -> impl Future<Output = Result<Bytes, StorageError>> {
        let _ = (key, range, cx);
        ready(Err(StorageError::unsupported()))
    }

    /// Replaces a value if `condition` holds, else fails with HTTP 412. Atomic: of several at
    /// once, one wins.
    ///
    /// Provided: answers `UNSUPPORTED`.
    fn set_if(
        &self,
        key: &str,
        value: Bytes,
        condition: Condition,
        cx: &OpContext,
    ) -> impl Future<Output = Result<Written, StorageError>> {
        let _ = (key, value, condition, cx);
        ready(Err(StorageError::unsupported()))
    }
}

/// An async storage whose futures may move between threads: [`LocalStorage`] for multi-threaded
/// executors, with the same rules. Import only one of the two where you call methods.
pub trait Storage: Send + Sync {
    /// See [`LocalStorage::Reader`].
    type Reader: Stream<Item = Result<Bytes, StorageError>> + Unpin + Send;
    /// See [`LocalStorage::Writer`].
    type Writer: Sink<Bytes, Error = StorageError> + Unpin + Send;

    /// See [`LocalStorage::get`].
    fn get(
        &self,
        key: &str,
        cx: &OpContext,
    ) -> impl Future<Output = Result<Bytes, StorageError>> + Send;

    /// See [`LocalStorage::set`].
    fn set(
        &self,
        key: &str,
        value: Bytes,
        cx: &OpContext,
    ) -> impl Future<Output = Result<Written, StorageError>> + Send;

    /// See [`LocalStorage::set_partial`].
    fn set_partial(
        &self,
        key: &str,
        offset: u64,
        bytes: Bytes,
        cx: &OpContext,
    ) -> impl Future<Output = Result<(), StorageError>> + Send;

    /// See [`LocalStorage::has`].
    fn has(
        &self,
        key: &str,
        cx: &OpContext,
    ) -> impl Future<Output = Result<bool, StorageError>> + Send;

    /// See [`LocalStorage::delete`].
    fn delete(
        &self,
        key: &str,
        cx: &OpContext,
    ) -> impl Future<Output = Result<(), StorageError>> + Send;

    /// See [`LocalStorage::list`].
    fn list(
        &self,
        prefix: &str,
        page: &PageRequest,
        cx: &OpContext,
    ) -> impl Future<Output = Result<Page, StorageError>> + Send;

    /// See [`LocalStorage::stat`].
    fn stat(
        &self,
        key: &str,
        cx: &OpContext,
    ) -> impl Future<Output = Result<Metadata, StorageError>> + Send;

    /// See [`LocalStorage::get_stream`].
    fn get_stream(
        &self,
        key: &str,
        cx: &OpContext,
    ) -> impl Future<Output = Result<Self::Reader, StorageError>> + Send;

    /// See [`LocalStorage::set_stream`].
    fn set_stream(
        &self,
        key: &str,
        cx: &OpContext,
    ) -> impl Future<Output = Result<Self::Writer, StorageError>> + Send;

    /// See [`LocalStorage::capabilities`].
    fn capabilities(&self) -> Capabilities;

    /// See [`LocalStorage::depth`].
    fn depth(&self) -> usize;

    /// See [`LocalStorage::get_range`]. Provided: answers `UNSUPPORTED`.
    fn get_range(
        &self,
        key: &str,
        range: Range<u64>,
        cx: &OpContext,
    ) -> impl Future<Output = Result<Bytes, StorageError>> + Send {
        let _ = (key, range, cx);
        ready(Err(StorageError::unsupported()))
    }

    /// See [`LocalStorage::set_if`]. Provided: answers `UNSUPPORTED`.
    fn set_if(
        &self,
        key: &str,
        value: Bytes,
        condition: Condition,
        cx: &OpContext,
    ) -> impl Future<Output = Result<Written, StorageError>> + Send {
        let _ = (key, value, condition, cx);
        ready(Err(StorageError::unsupported()))
    }
}

/// Writes every method of one storage trait as a call of the same method of another, so that no
/// wrapper can forget one.
macro_rules! forward_storage {
    ($to:ident, |$this:ident| $inner:expr) => {
        fn get(
            &self,
            key: &str,
            cx: &OpContext,
        ) -> impl Future<Output = Result<Bytes, StorageError>> {
            let $this = self;
            $to::get($inner, key, cx)
        }

        fn set(
            &self,
            key: &str,
            value: Bytes,
            cx: &OpContext,
        ) -> impl Future<Output = Result<Written, StorageError>> {
            let $this = self;
            $to::set($inner, key, value, cx)
        }

        fn set_partial(
            &self,
            key: &str,
            offset: u64,
            bytes: Bytes,
            cx: &OpContext,
        ) -> impl Future<Output = Result<(), StorageError>> {
            let $this = self;
            $to::set_partial($inner, key, offset, bytes, cx)
        }

        fn has(
            &self,
            key: &str,
            cx: &OpContext,
        ) -> impl Future<Output = Result<bool, StorageError>> {
            let $this = self;
            $to::has($inner, key, cx)
        }

        fn delete(
            &self,
            key: &str,
            cx: &OpContext,
        ) -> impl Future<Output = Result<(), StorageError>> {
            let $this = self;
            $to::delete($inner, key, cx)
        }

        fn list(
            &self,
            prefix: &str,
            page: &PageRequest,
            cx: &OpContext,
        ) -> impl Future<Output = Result<Page, StorageError>> {
            let $this = self;
            $to::list($inner, prefix, page, cx)
        }

        fn stat(
            &self,
            key: &str,
            cx: &OpContext,
        ) -> impl Future<Output = Result<Metadata, StorageError>> {
            let $this = self;
            $to::stat($inner, key, cx)
        }

        fn get_stream(
            &self,
            key: &str,
            cx: &OpContext,
        ) -> impl Future<Output = Result<Self::Reader, StorageError>> {
            let $this = self;
            $to::get_stream($inner, key, cx)
        }

        fn set_stream(
            &self,
            key: &str,
            cx: &OpContext,
        ) -> impl Future<Output = Result<Self::Writer, StorageError>> {
            let $this = self;
            $to::set_stream($inner, key, cx)
        }

        fn capabilities(&self) -> Capabilities {
            let $this = self;
            $to::capabilities($inner)
        }

        fn depth(&self) -> usize {
            let $this = self;
            $to::depth($inner)
        }

        fn get_range(
            &self,
            key: &str,
            range: Range<u64>,
            cx: &OpContext,
        ) -> impl Future<Output = Result<Bytes, StorageError>> {
            let $this = self;
            $to::get_range($inner, key, range, cx)
        }

        fn set_if(
            &self,
            key: &str,
            value: Bytes,
            condition: Condition,
            cx: &OpContext,
        ) -> impl Future<Output = Result<Written, StorageError>> {
            let $this = self;
            $to::set_if($inner, key, value, condition, cx)
        }
    };
}

#[deny(clippy::missing_trait_methods)]
impl<T: Storage> LocalStorage for T {
    type Reader = T::Reader;
    type Writer = T::Writer;

    forward_storage!(Storage, |this| this);
}

/// A storage may be shared by reference count between threads.
#[deny(clippy::missing_trait_methods)]
impl<T: Storage> Storage for crate::sync::Arc<T> {
    type Reader = T::Reader;
    type Writer = T::Writer;

    forward_storage!(Storage, |this| &**this);
}

/// A local storage may be shared by reference count within its thread.
#[deny(clippy::missing_trait_methods)]
impl<T: LocalStorage> LocalStorage for alloc::rc::Rc<T> {
    type Reader = T::Reader;
    type Writer = T::Writer;

    forward_storage!(LocalStorage, |this| &**this);
}
