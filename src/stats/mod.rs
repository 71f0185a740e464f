//! What is counted: outcomes per backend, calls per mux, and a fair sample of latencies.
//!
//! All of it is atomics, so counting takes no lock and loses nothing.

mod counters;
mod reservoir;

pub(crate) use counters::{Counters, Totals};
pub(crate) use reservoir::{Place, Reservoir, SLOTS};

/// How an attempt ended, as the statistics and the spans see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Answered.
    Ok,
    /// Answered that the key holds nothing.
    Miss,
    /// Answered with another error that stands.
    Semantic,
    /// Failed in a way that may pass.
    Transient,
    /// Did not answer in time.
    Timeout,
    /// Given up by the caller, or dropped.
    Abort,
}

impl Outcome {
    /// The value of the span attribute `mux.outcome`: a wire contract.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Miss | Self::Semantic => "semantic",
            Self::Transient => "transient",
            Self::Timeout => "timeout",
            Self::Abort => "abort",
        }
    }
}
