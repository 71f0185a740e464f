//! OpenDAL operators as backends: in memory, in a folder, and as a fake that misbehaves.

mod capabilities;
mod conformance;
mod errors;
mod fake;
mod folder;
mod listing;
mod reading;
mod support;
mod writing;
