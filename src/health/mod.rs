//! Whether a backend is fit to be asked: up, or down until a cooldown has passed and a probe has
//! succeeded.
//!
//! - [`Cooldown`]: how long a failed backend rests.
//! - `transition`: the state machine, pure, with `now` as an argument.
//! - [`Health`]: that machine shared between calls. A call on a healthy backend reads one atomic
//!   word and takes no lock.

mod cooldown;
#[cfg(all(test, loom))]
mod models;
mod probe;
mod transition;

pub(crate) use cooldown::Cooldown;
pub(crate) use probe::Health;
pub(crate) use transition::{Observation, Stamp, Standing, Transition};
