//! A NOR flash chip as a backend, on a simulated chip that can lose power anywhere.

mod chip;
mod conformance;
mod cuts;
mod drops;
mod limits;
mod script;
mod turns;
