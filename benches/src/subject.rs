//! The stores and muxes that are measured.

use std::future::Future;

use bytes::Bytes;
use storage_mux::runtime::tokio::TokioClock;
use storage_mux::{
    Backend, Capabilities, LocalStorage, MemoryReader, MemoryStorage, MemoryWriter, Metadata,
    MuxMode, MuxOptions, OpContext, Page, PageRequest, SeededRng, SharedStorage, Storage,
    StorageError, StorageMux, Written,
};
use tokio::runtime::Runtime;
use tokio::task::unconstrained;

/// A mux on tokio.
pub type Mux<S> = StorageMux<S, TokioClock, SeededRng>;

/// The key that is read.
pub const KEY: &str = "pictures/0042";

/// A context with nothing in it.
pub static PLAIN: OpContext = OpContext::new();

/// Keeps a value for the rest of the process, so that cases can borrow it.
pub fn keep<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// A runtime on this thread, with timers.
///
/// # Panics
///
/// Where the machine gives none.
#[must_use]
pub fn runtime() -> &'static Runtime {
    keep(tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime"))
}

/// Runs a future to its end, without tokio's budget in its way.
pub fn drive<T>(runtime: &Runtime, future: impl Future<Output = T>) -> T {
    runtime.block_on(unconstrained(future))
}

/// A store that holds a kibibyte under [`KEY`].
#[must_use]
pub fn memory() -> MemoryStorage {
    let store = MemoryStorage::new();
    let stored = drive(runtime(), Storage::set(&store, KEY, vec![7; 1024].into(), &PLAIN));
    stored.expect("stored");
    store
}

/// A mux over these storages. The weights, where the mode has any, are 1, 2, 3, and so on.
///
/// # Panics
///
/// Where the mode takes no such number of backends.
#[must_use]
pub fn mux<S: LocalStorage>(mode: MuxMode, storages: impl IntoIterator<Item = S>) -> Mux<S> {
    let backends = storages.into_iter().enumerate().map(|(at, storage)| {
        Backend::new(format!("backend-{at}").as_str(), storage).with_weight((at + 1) as f64)
    });
    StorageMux::builder(TokioClock::new(), SeededRng::new(7))
        .backends(backends)
        .options(MuxOptions::new().with_mode(mode))
        .build()
        .expect("a mux")
}

/// A mux over this many handles of one store, of one type.
#[must_use]
pub fn concrete(mode: MuxMode, store: &MemoryStorage, count: usize) -> &'static Mux<MemoryStorage> {
    keep(mux(mode, (0..count).map(|_| store.clone())))
}

/// The same with handles that could be of any type.
#[must_use]
pub fn mixed(mode: MuxMode, store: &MemoryStorage, count: usize) -> &'static Mux<SharedStorage> {
    keep(mux(mode, (0..count).map(|_| SharedStorage::new(store.clone()))))
}

/// A store that shares nothing between threads: it has one value, and that is in the program.
pub struct Frozen;

impl Storage for Frozen {
    type Reader = MemoryReader;
    type Writer = MemoryWriter;

    async fn get(&self, _: &str, _: &OpContext) -> Result<Bytes, StorageError> {
        Ok(Bytes::from_static(&[7; 1024]))
    }

    async fn set(&self, _: &str, _: Bytes, _: &OpContext) -> Result<Written, StorageError> {
        Err(StorageError::unsupported())
    }

    async fn set_partial(
        &self,
        _: &str,
        _: u64,
        _: Bytes,
        _: &OpContext,
    ) -> Result<(), StorageError> {
        Err(StorageError::unsupported())
    }

    async fn has(&self, _: &str, _: &OpContext) -> Result<bool, StorageError> {
        Ok(true)
    }

    async fn delete(&self, _: &str, _: &OpContext) -> Result<(), StorageError> {
        Err(StorageError::unsupported())
    }

    async fn list(&self, _: &str, _: &PageRequest, _: &OpContext) -> Result<Page, StorageError> {
        Err(StorageError::unsupported())
    }

    async fn stat(&self, _: &str, _: &OpContext) -> Result<Metadata, StorageError> {
        Ok(Metadata::new(1024))
    }

    async fn get_stream(&self, _: &str, _: &OpContext) -> Result<MemoryReader, StorageError> {
        Err(StorageError::unsupported())
    }

    async fn set_stream(&self, _: &str, _: &OpContext) -> Result<MemoryWriter, StorageError> {
        Err(StorageError::unsupported())
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::all(1024)
    }

    fn depth(&self) -> usize {
        0
    }
}
