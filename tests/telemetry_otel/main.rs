//! The OpenTelemetry binding against the SDK, with its exporters in memory.

#[path = "../support/mod.rs"]
mod support;

mod ends;
mod hooked;
mod metrics;
mod off;
mod parents;
mod scene;
mod spans;
