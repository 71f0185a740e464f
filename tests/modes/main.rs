//! The modes, one file each, through the public API.

#[path = "../support/mod.rs"]
mod support;

mod failover;
mod mirror;
mod mirror_writes;
mod perform;
mod round_robin;
mod shield;
mod sticky_by_key;
mod weighted;
