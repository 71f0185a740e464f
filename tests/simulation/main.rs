//! Muxes under trouble, from one seed: concurrency, time, nesting, and what is promised end to end.
//!
//! `ci/sim.sh N [FROM]` runs more seeds, optimised. `SIM_SEED=n cargo test --test simulation` runs
//! one and prints its trace.

#[allow(unreachable_pub)]
mod world;

use world::simulate;

/// Seeds that failed once. They are replayed first.
const SEEDS: &str = include_str!("seeds.txt");

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Runs a seed, and once more with its trace where it fails.
fn check(seed: u64) -> world::Report {
    let report = simulate(seed, false);
    if report.violations.is_empty() {
        return report;
    }
    let again = simulate(seed, true);
    let same = if again.hash == report.hash { "" } else { " (and not the same way twice)" };
    panic!(
        "seed {seed} fails{same}:\n  {}\nthe end of its trace:\n{}\nreplay: SIM_SEED={seed} cargo test --test simulation\n",
        again.violations.join("\n  "),
        again.trace.join("\n"),
    );
}

#[test]
fn seeds_that_failed_once_do_not_fail_again() {
    for line in SEEDS.lines().filter(|line| !line.starts_with('#')) {
        check(line.parse().expect("a seed on each line"));
    }
}

#[test]
fn what_is_promised_holds_whatever_goes_wrong() {
    if let Some(seed) = number("SIM_SEED") {
        let report = simulate(seed, true);
        println!("{}\nhash {:016x}", report.trace.join("\n"), report.hash);
        check(seed);
        return;
    }
    let (mut calls, mut failures) = (0, 0);
    let first = number("SIM_FROM").unwrap_or(0);
    for seed in first..first + number("SIM_SEEDS").unwrap_or(500) {
        let report = check(seed);
        calls += report.calls;
        failures += report.failures;
    }
    println!("{calls} calls, of which {failures} of muxes failed");
    assert!(calls > 0 && failures > 0, "a simulation in which nothing fails shows nothing");
}
