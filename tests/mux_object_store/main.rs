//! A mux as an `object_store::ObjectStore`: the suite of that crate in every mode, and what the
//! suite does not look at.

mod suite;
mod support;
