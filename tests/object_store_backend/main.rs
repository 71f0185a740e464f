//! Any `object_store` as a backend: in memory, in a folder, and as a fake that misbehaves.

mod conformance;
mod errors;
mod fake;
mod folder;
mod keys;
mod paging;
mod reading;
mod support;
mod writing;
