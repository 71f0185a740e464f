//! A mux against a model of it.

mod action;
mod attempt;
mod call;
mod case;
mod checks;
mod compare;
mod draw;
mod fail;
mod fan_out;
mod generate;
mod leave;
mod member;
mod model;
mod modes;
mod reader;
mod real;
mod store;
mod watch;
mod world;
mod writer;

/// The seeds that failed once, each on a line of its own.
const SEEDS: &str = include_str!("seeds.txt");

fn check(seed: u64) -> usize {
    let (setup, actions, failure) = match case::explore(seed) {
        Ok(steps) => return steps,
        Err(failed) => failed,
    };
    let steps = actions.len();
    let (fewer, failure) = case::shrink(&setup, actions, failure);
    panic!(
        "seed {seed}: the mux and its model differ; {} of {steps} steps are enough:\n{setup:?}\n{}\n{}",
        fewer.len(),
        fewer.iter().map(|action| format!("    {action:?},\n")).collect::<String>(),
        failure.why
    );
}

#[test]
fn the_mux_does_what_the_model_says() {
    let cases: u64 = std::env::var("MODEL_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    let start: u64 = std::env::var("MODEL_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    for seed in start..start + cases {
        check(seed);
    }
}

#[test]
fn seeds_that_failed_once_do_not_fail_again() {
    for line in SEEDS.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let seed = line.split_whitespace().next().and_then(|seed| seed.parse().ok());
        check(seed.expect("a seed"));
    }
}
