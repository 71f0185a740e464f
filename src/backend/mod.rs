//! Foreign stores as backends of a mux. One module a store, each behind the feature of its name.
//!
//! Beside them stands what they share: names for keys (`names`), pages out of a listing of any
//! order (`first_keys`), what faults of the system mean (`faults`), and whether a store is there
//! at all (`probe`).

mod faults;
mod first_keys;
mod names;
#[cfg(feature = "object-store")]
mod object_store;
mod probe;
mod value;
mod version;

#[cfg(feature = "object-store")]
pub use self::object_store::{
    MuxObjectStore, ObjectStoreBackend, ObjectStoreReader, ObjectStoreWriter,
};
