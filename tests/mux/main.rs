//! The mux as a whole, one file per concept.

#[path = "../support/mod.rs"]
mod support;

mod abort;
mod build;
mod bulkhead;
mod health;
mod isolation;
mod observe;
mod retry;
mod streams;
