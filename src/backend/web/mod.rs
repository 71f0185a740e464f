//! Storages of a JavaScript host: the browser's database, and whatever answers to `fetch`.
//!
//! - [`IndexedDbStorage`]: values in the browser, through IndexedDB.
//! - [`FetchStorage`]: values behind HTTP, through `fetch`.
//! - `bytes`, `faults`, `work`, `writer`: what the two share.

mod bytes;
mod faults;
mod fetch;
mod indexed_db;
mod work;
mod writer;

pub use self::fetch::{FetchReader, FetchStorage};
pub use self::indexed_db::{IndexedDbReader, IndexedDbStorage};
pub use self::writer::WebWriter;
