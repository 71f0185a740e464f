//! The library's private parts, compiled in from its own sources: what is measured is what is
//! shipped, and the library need not show them to anyone for it.

pub(crate) mod mode;
/// Counters and the sample of latencies.
#[allow(dead_code, unreachable_pub, unused_imports)]
#[path = "../../../src/stats/mod.rs"]
pub(crate) mod stats;
