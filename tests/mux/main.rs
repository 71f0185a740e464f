//! The mux as a whole, one file per concept.

#[path = "../support/mod.rs"]
mod support;

mod abort;
mod build;
mod bulkhead;
mod concurrency;
mod drain;
mod health;
mod health_check;
mod isolation;
mod membership;
mod observe;
mod retry;
mod streams;
