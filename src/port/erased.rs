//! Storages behind a pointer, to mix kinds of backends in one mux.
//!
//! Each call of an erased storage boxes one future. A mux over one concrete type needs none of it.

use alloc::boxed::Box;
use alloc::rc::Rc;
use core::fmt;
use core::future::Future;
use core::ops::Range;
use core::pin::Pin;

use bytes::Bytes;
use futures_core::Stream;
use futures_sink::Sink;

use super::{
    Capabilities, Condition, LocalStorage, Metadata, OpContext, Page, PageRequest, Storage, Written,
};
use crate::error::StorageError;
use crate::sync::Arc;

/// Declares the object-safe twin of a storage trait.
macro_rules! erased_trait {
    ($(#[$doc:meta])* $vis:vis trait $name:ident: [$($bound:tt)*], $future:ident, $reader:ident, $writer:ident) => {
        $(#[$doc])*
        $vis trait $name: $($bound)* {
            fn get<'a>(&'a self, key: &'a str, cx: &'a OpContext) -> $future<'a, Bytes>;
            fn set<'a>(&'a self, key: &'a str, value: Bytes, cx: &'a OpContext) -> $future<'a, Written>;
            fn set_partial<'a>(&'a self, key: &'a str, offset: u64, bytes: Bytes, cx: &'a OpContext) -> $future<'a, ()>;
            fn has<'a>(&'a self, key: &'a str, cx: &'a OpContext) -> $future<'a, bool>;
            fn delete<'a>(&'a self, key: &'a str, cx: &'a OpContext) -> $future<'a, ()>;
            fn list<'a>(&'a self, prefix: &'a str, page: &'a PageRequest, cx: &'a OpContext) -> $future<'a, Page>;
            fn stat<'a>(&'a self, key: &'a str, cx: &'a OpContext) -> $future<'a, Metadata>;
            fn get_stream<'a>(&'a self, key: &'a str, cx: &'a OpContext) -> $future<'a, $reader>;
            fn set_stream<'a>(&'a self, key: &'a str, cx: &'a OpContext) -> $future<'a, $writer>;
            fn capabilities(&self) -> Capabilities;
            fn depth(&self) -> usize;
            fn get_range<'a>(&'a self, key: &'a str, range: Range<u64>, cx: &'a OpContext) -> $future<'a, Bytes>;
            fn set_if<'a>(&'a self, key: &'a str, value: Bytes, condition: Condition, cx: &'a OpContext) -> $future<'a, Written>;
        }
    };
}

/// Writes the methods of an object-safe twin as boxed calls of a storage trait.
macro_rules! erase {
    ($from:ident, $future:ident, $reader:ident, $writer:ident, |$this:ident| $inner:expr) => {
        fn get<'a>(&'a self, key: &'a str, cx: &'a OpContext) -> $future<'a, Bytes> {
            let $this = self;
            Box::pin($from::get($inner, key, cx))
        }

        fn set<'a>(
            &'a self,
            key: &'a str,
            value: Bytes,
            cx: &'a OpContext,
        ) -> $future<'a, Written> {
            let $this = self;
            Box::pin($from::set($inner, key, value, cx))
        }

        fn set_partial<'a>(
            &'a self,
            key: &'a str,
            offset: u64,
            bytes: Bytes,
            cx: &'a OpContext,
        ) -> $future<'a, ()> {
            let $this = self;
            Box::pin($from::set_partial($inner, key, offset, bytes, cx))
        }

        fn has<'a>(&'a self, key: &'a str, cx: &'a OpContext) -> $future<'a, bool> {
            let $this = self;
            Box::pin($from::has($inner, key, cx))
        }

        fn delete<'a>(&'a self, key: &'a str, cx: &'a OpContext) -> $future<'a, ()> {
            let $this = self;
            Box::pin($from::delete($inner, key, cx))
        }

        fn list<'a>(
            &'a self,
            prefix: &'a str,
            page: &'a PageRequest,
            cx: &'a OpContext,
        ) -> $future<'a, Page> {
            let $this = self;
            Box::pin($from::list($inner, prefix, page, cx))
        }

        fn stat<'a>(&'a self, key: &'a str, cx: &'a OpContext) -> $future<'a, Metadata> {
            let $this = self;
            Box::pin($from::stat($inner, key, cx))
        }

        fn get_stream<'a>(&'a self, key: &'a str, cx: &'a OpContext) -> $future<'a, $reader> {
            let $this = self;
            Box::pin(async move {
                let reader: $reader = Box::pin($from::get_stream($inner, key, cx).await?);
                Ok(reader)
            })
        }

        fn set_stream<'a>(&'a self, key: &'a str, cx: &'a OpContext) -> $future<'a, $writer> {
            let $this = self;
            Box::pin(async move {
                let writer: $writer = Box::pin($from::set_stream($inner, key, cx).await?);
                Ok(writer)
            })
        }

        fn capabilities(&self) -> Capabilities {
            let $this = self;
            $from::capabilities($inner)
        }

        fn depth(&self) -> usize {
            let $this = self;
            $from::depth($inner)
        }

        fn get_range<'a>(
            &'a self,
            key: &'a str,
            range: Range<u64>,
            cx: &'a OpContext,
        ) -> $future<'a, Bytes> {
            let $this = self;
            Box::pin($from::get_range($inner, key, range, cx))
        }

        fn set_if<'a>(
            &'a self,
            key: &'a str,
            value: Bytes,
            condition: Condition,
            cx: &'a OpContext,
        ) -> $future<'a, Written> {
            let $this = self;
            Box::pin($from::set_if($inner, key, value, condition, cx))
        }
    };
}
pub(crate) use erase;

pub(crate) type SendFuture<'a, T> =
    Pin<Box<dyn Future<Output = Result<T, StorageError>> + Send + 'a>>;
pub(crate) type BoxReader = Pin<Box<dyn Stream<Item = Result<Bytes, StorageError>> + Send>>;
pub(crate) type BoxWriter = Pin<Box<dyn Sink<Bytes, Error = StorageError> + Send>>;

type LocalFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StorageError>> + 'a>>;
type LocalReader = Pin<Box<dyn Stream<Item = Result<Bytes, StorageError>>>>;
type LocalWriter = Pin<Box<dyn Sink<Bytes, Error = StorageError>>>;

erased_trait! {
    /// [`Storage`] as a trait object.
    pub(crate) trait Erased: [Send + Sync], SendFuture, BoxReader, BoxWriter
}
erased_trait! {
    /// [`LocalStorage`] as a trait object.
    trait ErasedLocal: [], LocalFuture, LocalReader, LocalWriter
}

struct Leaf<T>(T);

impl<T: Storage<Reader: 'static, Writer: 'static>> Erased for Leaf<T> {
    erase!(Storage, SendFuture, BoxReader, BoxWriter, |this| &this.0);
}

impl<T: LocalStorage<Reader: 'static, Writer: 'static>> ErasedLocal for Leaf<T> {
    erase!(LocalStorage, LocalFuture, LocalReader, LocalWriter, |this| &this.0);
}

/// A storage of any kind, shared between threads: the backend type of a mux on a server.
///
/// Clones share the storage. A mux over `SharedStorage` becomes one itself with `From`, which is
/// how muxes nest.
///
/// ```
/// use storage_mux::{MemoryStorage, SharedStorage};
///
/// let shared = SharedStorage::new(MemoryStorage::new());
/// ```
///
/// A storage that is tied to its thread is refused:
///
/// ```compile_fail
/// use std::rc::Rc;
/// use storage_mux::{MemoryStorage, SharedStorage};
///
/// let shared = SharedStorage::new(Rc::new(MemoryStorage::new()));
/// ```
#[derive(Clone)]
pub struct SharedStorage(Arc<dyn Erased>);

impl SharedStorage {
    /// Erases a storage.
    pub fn new(storage: impl Storage<Reader: 'static, Writer: 'static> + 'static) -> Self {
        Self::from_erased(Leaf(storage))
    }

    pub(crate) fn from_erased(storage: impl Erased + 'static) -> Self {
        // By way of a box: the only coercion that every target's `Arc` offers.
        let boxed: Box<dyn Erased> = Box::new(storage);
        Self(Arc::from(boxed))
    }
}

impl fmt::Debug for SharedStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedStorage").field("depth", &self.0.depth()).finish()
    }
}

/// A storage of any kind within one thread: the backend type of a mux on embedded targets and in
/// the browser. Clones share the storage.
#[derive(Clone)]
pub struct LocalHandle(Rc<dyn ErasedLocal>);

impl LocalHandle {
    /// Erases a storage.
    pub fn new(storage: impl LocalStorage<Reader: 'static, Writer: 'static> + 'static) -> Self {
        Self(Rc::new(Leaf(storage)))
    }
}

impl fmt::Debug for LocalHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalHandle").field("depth", &self.0.depth()).finish()
    }
}

/// Writes the methods of a storage trait as awaited calls of its object-safe twin.
macro_rules! unerase {
    () => {
        async fn get(&self, key: &str, cx: &OpContext) -> Result<Bytes, StorageError> {
            self.0.get(key, cx).await
        }

        async fn set(
            &self,
            key: &str,
            value: Bytes,
            cx: &OpContext,
        ) -> Result<Written, StorageError> {
            self.0.set(key, value, cx).await
        }

        async fn set_partial(
            &self,
            key: &str,
            offset: u64,
            bytes: Bytes,
            cx: &OpContext,
        ) -> Result<(), StorageError> {
            self.0.set_partial(key, offset, bytes, cx).await
        }

        async fn has(&self, key: &str, cx: &OpContext) -> Result<bool, StorageError> {
            self.0.has(key, cx).await
        }

        async fn delete(&self, key: &str, cx: &OpContext) -> Result<(), StorageError> {
            self.0.delete(key, cx).await
        }

        async fn list(
            &self,
            prefix: &str,
            page: &PageRequest,
            cx: &OpContext,
        ) -> Result<Page, StorageError> {
            self.0.list(prefix, page, cx).await
        }

        async fn stat(&self, key: &str, cx: &OpContext) -> Result<Metadata, StorageError> {
            self.0.stat(key, cx).await
        }

        async fn get_stream(
            &self,
            key: &str,
            cx: &OpContext,
        ) -> Result<Self::Reader, StorageError> {
            self.0.get_stream(key, cx).await
        }

        async fn set_stream(
            &self,
            key: &str,
            cx: &OpContext,
        ) -> Result<Self::Writer, StorageError> {
            self.0.set_stream(key, cx).await
        }

        fn capabilities(&self) -> Capabilities {
            self.0.capabilities()
        }

        fn depth(&self) -> usize {
            self.0.depth()
        }

        async fn get_range(
            &self,
            key: &str,
            range: Range<u64>,
            cx: &OpContext,
        ) -> Result<Bytes, StorageError> {
            self.0.get_range(key, range, cx).await
        }

        async fn set_if(
            &self,
            key: &str,
            value: Bytes,
            condition: Condition,
            cx: &OpContext,
        ) -> Result<Written, StorageError> {
            self.0.set_if(key, value, condition, cx).await
        }
    };
}

#[deny(clippy::missing_trait_methods)]
impl Storage for SharedStorage {
    type Reader = BoxReader;
    type Writer = BoxWriter;

    unerase!();
}

#[deny(clippy::missing_trait_methods)]
impl LocalStorage for LocalHandle {
    type Reader = LocalReader;
    type Writer = LocalWriter;

    unerase!();
}
