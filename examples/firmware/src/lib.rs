//! A mux on a microcontroller, run in QEMU: what the programs of `src/bin` share.
//!
//! - [`board`]: heap, panics, exit, and how deep heap and stack ever were.
//! - [`report`]: checks that are counted and printed, with the end that follows from them.
//! - `systick`: the time of embassy, where the processor has what it takes.
//! - [`flash`]: the driver of a chip that erases in sectors; [`network`]: one that hangs and fails.
#![no_std]

extern crate alloc;

pub mod board;
pub mod flash;
pub mod network;
pub mod report;
#[cfg(target_has_atomic = "ptr")]
mod systick;

#[cfg(target_has_atomic = "ptr")]
pub use systick::{pend_at_ticks, start as start_time};
