//! Failures that users of similar systems reported, where no test of a feature has them already: the
//! same scenario on every bundled storage and through a mux of every mode.
//!
//! Every other case stands beside the feature that it is about, as a test whose comment says `Case`
//! and its name; [`index`] holds that none has gone missing.

mod breaker;
mod index;
mod listing;
mod names;
mod partial;
mod statistics;
mod storages;
