//! The tracing binding against a registry of `tracing-subscriber`.

#[path = "../support/mod.rs"]
mod support;

mod events;
mod spans;
mod watch;
