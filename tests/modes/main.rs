//! The modes, one file each, through the public API.

#[path = "../support/mod.rs"]
mod support;

mod failover;
mod perform;
mod round_robin;
mod sticky_by_key;
mod weighted;
