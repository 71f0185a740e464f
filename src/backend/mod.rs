//! Foreign stores as backends of a mux. One module a store, each behind the feature of its name.

#[cfg(feature = "object-store")]
mod object_store;

#[cfg(feature = "object-store")]
pub use self::object_store::{ObjectStoreBackend, ObjectStoreReader, ObjectStoreWriter};
