//! Attempts to break the core: rude backends and watchers, dropped futures, races, odd nestings.

#[path = "../support/mod.rs"]
mod support;

mod clockwork;
mod drops;
mod nesting;
mod order;
mod reentrancy;
mod rigged;
mod rude_backends;
mod send;
mod threads;
mod weights;
