//! The cost of a call does not grow with the number of backends.

use std::hint::black_box;

use storage_mux::MuxMode;

use crate::get::repeat;
use crate::harness::{Cost, Group, Row};
use crate::subject::{KEY, concrete, drive, memory, runtime};

const MODES: [(&str, MuxMode); 4] = [
    ("failover", MuxMode::Failover),
    ("round-robin", MuxMode::RoundRobin),
    ("sticky", MuxMode::StickyByKey),
    ("weighted", MuxMode::Weighted),
];

/// The rows of this part.
#[must_use]
pub fn rows(rounds: usize) -> Vec<Row> {
    MODES.into_iter().map(|(name, mode)| of(name, mode, rounds)).collect()
}

fn of(name: &str, mode: MuxMode, rounds: usize) -> Row {
    let runtime = runtime();
    let store = memory();
    let mut group = Group::default();
    for (case, count) in [("few", 3), ("many", 64)] {
        let mux = concrete(mode, &store, count);
        group.case(case, repeat!(runtime, mux.get(KEY)));
    }
    group.measure(rounds).row(
        (&format!("{name} `get` of 64, whole"), Cost::Of("many")),
        ("of 3", Cost::Of("few")),
        1.5,
    )
}
