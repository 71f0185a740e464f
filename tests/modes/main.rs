//! The modes, one file each, through the public API.

#[path = "../support/mod.rs"]
mod support;

mod cancel;
mod every_mode;
mod failover;
mod fan_out_streams;
mod mirror;
mod mirror_writes;
mod perform;
mod pipe;
mod round_robin;
mod shield;
mod sticky_by_key;
mod streams;
mod weighted;
