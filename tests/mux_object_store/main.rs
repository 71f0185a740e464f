//! A mux as an `object_store::ObjectStore`: the suite of that crate in every mode, and what the
//! suite does not look at.

mod eager;
mod errors;
mod listing;
mod meddler;
mod paths;
mod reading;
mod suite;
mod support;
mod uploads;
mod writing;
