//! Foreign stores as backends of a mux. One module a store, each behind the feature of its name.
//!
//! Beside them stands what those with names share: names for keys (`names`), pages out of a listing
//! of any order (`first_keys`), what faults of the system mean (`faults`), and whether a store is
//! there at all (`probe`).

#[cfg(any(feature = "object-store", feature = "opendal"))]
mod faults;
#[cfg(any(feature = "object-store", feature = "opendal"))]
mod first_keys;
#[cfg(feature = "flash")]
mod flash;
#[cfg(any(feature = "object-store", feature = "opendal"))]
mod names;
#[cfg(feature = "object-store")]
mod object_store;
#[cfg(feature = "object-store-013")]
pub mod object_store_013;
#[cfg(feature = "opendal")]
mod opendal;
#[cfg(any(feature = "object-store", feature = "opendal"))]
mod probe;
#[cfg(any(feature = "object-store", feature = "opendal"))]
mod value;
#[cfg(any(feature = "object-store", feature = "opendal"))]
mod version;
#[cfg(all(feature = "web", target_arch = "wasm32", target_os = "unknown"))]
mod web;

#[cfg(feature = "flash")]
pub use self::flash::{FlashError, FlashReader, FlashStorage, FlashWriter};
#[cfg(feature = "object-store")]
pub use self::object_store::{
    MuxObjectStore, ObjectStoreBackend, ObjectStoreReader, ObjectStoreWriter,
};
#[cfg(feature = "opendal")]
pub use self::opendal::{OpendalBackend, OpendalReader, OpendalWriter};
#[cfg(all(feature = "web", target_arch = "wasm32", target_os = "unknown"))]
pub use self::web::{FetchReader, FetchStorage, IndexedDbReader, IndexedDbStorage, WebWriter};
