//! The library's private parts, compiled in from its own sources: what is measured is what is
//! shipped, and the library need not show them to anyone for it.

pub(crate) mod mode;
/// The sample of latencies.
#[allow(dead_code, unreachable_pub)]
#[path = "../../../src/stats/reservoir.rs"]
pub(crate) mod reservoir;
