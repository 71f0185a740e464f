//! The modes, one file each, through the public API.

#[path = "../support/mod.rs"]
mod support;

mod failover;
