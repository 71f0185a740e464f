//! The operations of a mux: as plain calls, with a context, and as a storage.

use alloc::boxed::Box;
use core::fmt;
use core::future::Future;
use core::ops::Range;

use bytes::Bytes;

use super::StorageMux;
use crate::drive::{
    Call, Delete, Get, GetRange, GetStream, Has, List, MuxReader, MuxWriter, Set, SetIf,
    SetPartial, SetStream, Stat, perform,
};
use crate::error::StorageError;
use crate::port::{
    BoxReader, BoxWriter, Capabilities, Clock, Condition, Erased, LocalStorage, Metadata,
    OpContext, Page, PageRequest, SendFuture, SharedStorage, Written, erase,
};
use crate::rng::Rng;

/// The context of a plain call.
pub(super) static PLAIN: OpContext = OpContext::new();

/// Writes the operations as inherent methods, each under the context that `$cx` gives.
macro_rules! plain_calls {
    (|$this:ident| $mux:expr, $cx:expr) => {
        /// Reads a whole value.
        ///
        /// # Errors
        ///
        /// `KEY_NOT_FOUND`, `INVALID_KEY`, `UNSUPPORTED` and other answers of a backend as they
        /// are; `BACKEND_ABORTED` where the caller gave up; `ALL_BACKENDS_DOWN` where no backend
        /// could answer. All operations share these errors.
        pub fn get(&self, key: &str) -> impl Future<Output = Result<Bytes, StorageError>> {
            let $this = self;
            LocalStorage::get($mux, key, $cx)
        }

        /// Replaces a whole value. It is converted at once, and stored when the future is polled.
        ///
        /// # Errors
        ///
        /// As for `get`.
        pub fn set(
            &self,
            key: &str,
            value: impl Into<Bytes>,
        ) -> impl Future<Output = Result<Written, StorageError>> {
            let $this = self;
            LocalStorage::set($mux, key, value.into(), $cx)
        }

        /// Overwrites a part of a value from `offset` on.
        ///
        /// # Errors
        ///
        /// As for `get`.
        pub fn set_partial(
            &self,
            key: &str,
            offset: u64,
            bytes: impl Into<Bytes>,
        ) -> impl Future<Output = Result<(), StorageError>> {
            let $this = self;
            LocalStorage::set_partial($mux, key, offset, bytes.into(), $cx)
        }

        /// Whether the key has a value.
        ///
        /// # Errors
        ///
        /// As for `get`, `KEY_NOT_FOUND` apart.
        pub fn has(&self, key: &str) -> impl Future<Output = Result<bool, StorageError>> {
            let $this = self;
            LocalStorage::has($mux, key, $cx)
        }

        /// Removes a value. Succeeds where there is none.
        ///
        /// # Errors
        ///
        /// As for `get`, `KEY_NOT_FOUND` apart.
        pub fn delete(&self, key: &str) -> impl Future<Output = Result<(), StorageError>> {
            let $this = self;
            LocalStorage::delete($mux, key, $cx)
        }

        /// Lists a page of the keys that start with `prefix`, sorted.
        ///
        /// # Errors
        ///
        /// As for `get`, `KEY_NOT_FOUND` apart.
        pub fn list(
            &self,
            prefix: &str,
            page: &PageRequest,
        ) -> impl Future<Output = Result<Page, StorageError>> {
            let $this = self;
            LocalStorage::list($mux, prefix, page, $cx)
        }

        /// What is known of a value without reading it.
        ///
        /// # Errors
        ///
        /// As for `get`.
        pub fn stat(&self, key: &str) -> impl Future<Output = Result<Metadata, StorageError>> {
            let $this = self;
            LocalStorage::stat($mux, key, $cx)
        }

        /// Opens a value for reading chunk by chunk.
        ///
        /// # Errors
        ///
        /// As for `get`.
        pub fn get_stream(
            &self,
            key: &str,
        ) -> impl Future<Output = Result<MuxReader<S, C, R>, StorageError>> {
            let $this = self;
            LocalStorage::get_stream($mux, key, $cx)
        }

        /// Opens a value for writing chunk by chunk. It becomes visible at close.
        ///
        /// Pass many chunks with `SinkExt::feed`: `SinkExt::send` flushes each, which a store that
        /// sends several parts at once answers only when all of them are through.
        ///
        /// # Errors
        ///
        /// As for `get`, `KEY_NOT_FOUND` apart.
        pub fn set_stream(
            &self,
            key: &str,
        ) -> impl Future<Output = Result<MuxWriter<S, C, R>, StorageError>> {
            let $this = self;
            LocalStorage::set_stream($mux, key, $cx)
        }

        /// Reads a part of a value.
        ///
        /// # Errors
        ///
        /// As for `get`, and HTTP 416 for a start at or past the end.
        pub fn get_range(
            &self,
            key: &str,
            range: Range<u64>,
        ) -> impl Future<Output = Result<Bytes, StorageError>> {
            let $this = self;
            LocalStorage::get_range($mux, key, range, $cx)
        }

        /// Replaces a value if a condition holds.
        ///
        /// # Errors
        ///
        /// As for `get`, `KEY_NOT_FOUND` apart, and HTTP 412 where the condition does not hold.
        pub fn set_if(
            &self,
            key: &str,
            value: impl Into<Bytes>,
            condition: Condition,
        ) -> impl Future<Output = Result<Written, StorageError>> {
            let $this = self;
            LocalStorage::set_if($mux, key, value.into(), condition, $cx)
        }
    };
}

/// The operations with an empty context. See [`StorageMux::with`] for the others.
impl<S: LocalStorage, C: Clock, R: Rng> StorageMux<S, C, R> {
    plain_calls!(|this| this, &PLAIN);

    /// The same operations under a context: an abort signal, a deadline, a parent span.
    ///
    /// ```
    /// # use storage_mux::sim::{FakeClock, run};
    /// # use storage_mux::{Backend, MemoryStorage, SeededRng, StorageMux};
    /// use storage_mux::{AbortController, MuxCode, OpContext};
    ///
    /// # let clock = FakeClock::new();
    /// # let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
    /// #     .backend(Backend::new("only", MemoryStorage::new()))
    /// #     .build()?;
    /// let controller = AbortController::new();
    /// let cx = OpContext::new().with_signal(controller.signal());
    /// controller.abort();
    /// let refused = run(&clock, mux.with(&cx).get("k"))?;
    /// assert!(refused.is_err_and(|error| error.is_mux(MuxCode::BackendAborted)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn with<'a>(&'a self, cx: &'a OpContext) -> With<'a, S, C, R> {
        With { mux: self, cx }
    }
}

/// A mux under a context: what [`StorageMux::with`] gives.
pub struct With<'a, S, C, R> {
    pub(super) mux: &'a StorageMux<S, C, R>,
    pub(super) cx: &'a OpContext,
}

impl<S: LocalStorage, C: Clock, R: Rng> With<'_, S, C, R> {
    plain_calls!(|this| this.mux, this.cx);
}

impl<S, C, R> fmt::Debug for With<'_, S, C, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("With").field("mux", self.mux).field("cx", self.cx).finish()
    }
}

/// A mux is a storage. Every operation goes through its mode.
#[deny(clippy::missing_trait_methods)]
impl<S: LocalStorage, C: Clock, R: Rng> LocalStorage for StorageMux<S, C, R> {
    type Reader = MuxReader<S, C, R>;
    type Writer = MuxWriter<S, C, R>;

    fn get(&self, key: &str, cx: &OpContext) -> impl Future<Output = Result<Bytes, StorageError>> {
        perform(&self.engine, Get { key }, cx)
    }

    fn set(
        &self,
        key: &str,
        value: Bytes,
        cx: &OpContext,
    ) -> impl Future<Output = Result<Written, StorageError>> {
        perform(&self.engine, Set { key, value }, cx)
    }

    fn set_partial(
        &self,
        key: &str,
        offset: u64,
        bytes: Bytes,
        cx: &OpContext,
    ) -> impl Future<Output = Result<(), StorageError>> {
        perform(&self.engine, SetPartial { key, offset, bytes }, cx)
    }

    fn has(&self, key: &str, cx: &OpContext) -> impl Future<Output = Result<bool, StorageError>> {
        perform(&self.engine, Has { key }, cx)
    }

    fn delete(&self, key: &str, cx: &OpContext) -> impl Future<Output = Result<(), StorageError>> {
        perform(&self.engine, Delete { key }, cx)
    }

    fn list(
        &self,
        prefix: &str,
        page: &PageRequest,
        cx: &OpContext,
    ) -> impl Future<Output = Result<Page, StorageError>> {
        perform(&self.engine, List { prefix, page }, cx)
    }

    fn stat(
        &self,
        key: &str,
        cx: &OpContext,
    ) -> impl Future<Output = Result<Metadata, StorageError>> {
        perform(&self.engine, Stat { key }, cx)
    }

    async fn get_stream(&self, key: &str, cx: &OpContext) -> Result<Self::Reader, StorageError> {
        let request = GetStream { key };
        let call = Call::start(&self.engine, &request, cx)?;
        call.open_reader(&self.engine, &request).await
    }

    async fn set_stream(&self, key: &str, cx: &OpContext) -> Result<Self::Writer, StorageError> {
        let request = SetStream { key };
        let call = Call::start(&self.engine, &request, cx)?;
        call.open_writer(&self.engine, &request).await
    }

    fn capabilities(&self) -> Capabilities {
        // As of the joining of each backend: asking them now would never end for a mux that is a
        // backend of itself. A call asks those that are muxes once more.
        self.engine.rosters.load().capabilities()
    }

    fn depth(&self) -> usize {
        self.engine.rosters.load().depth().saturating_add(1)
    }

    fn get_range(
        &self,
        key: &str,
        range: Range<u64>,
        cx: &OpContext,
    ) -> impl Future<Output = Result<Bytes, StorageError>> {
        perform(&self.engine, GetRange { key, range }, cx)
    }

    fn set_if(
        &self,
        key: &str,
        value: Bytes,
        condition: Condition,
        cx: &OpContext,
    ) -> impl Future<Output = Result<Written, StorageError>> {
        perform(&self.engine, SetIf { key, value, condition }, cx)
    }
}

impl<C, R> Erased for StorageMux<SharedStorage, C, R>
where
    C: Clock<Sleep: Send> + Send + Sync + 'static,
    R: Rng + Send + Sync + 'static,
{
    erase!(LocalStorage, SendFuture, BoxReader, BoxWriter, |this| this);
}

/// A mux over shared storages is a shared storage: this is how muxes nest on a server.
impl<C, R> From<StorageMux<SharedStorage, C, R>> for SharedStorage
where
    C: Clock<Sleep: Send> + Send + Sync + 'static,
    R: Rng + Send + Sync + 'static,
{
    fn from(mux: StorageMux<SharedStorage, C, R>) -> Self {
        Self::from_erased(mux)
    }
}
