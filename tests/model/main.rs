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

use storage_mux::MuxMode;

/// Cases that failed once: a mode and a seed on each line.
const SEEDS: &str = include_str!("seeds.txt");

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Makes up one case, and prints the fewest steps that still fail where it does.
fn check(mode: MuxMode, seed: u64) {
    let Err(failed) = case::explore(mode, seed) else { return };
    let (setup, actions, failure) = *failed;
    let steps = actions.len();
    let (fewer, failure) = case::shrink(&setup, actions, failure);
    let text: String = fewer.iter().map(|action| format!("    {action:?},\n")).collect();
    panic!(
        "{mode} {seed}: the mux and its model differ, by {} of {steps} steps:\n{setup:?}\n{text}\n{}\n",
        fewer.len(),
        failure.why
    );
}

fn check_all(mode: MuxMode) {
    let first = number("MODEL_SEED").unwrap_or(0);
    (first..first + number("MODEL_CASES").unwrap_or(200)).for_each(|seed| check(mode, seed));
}

#[test]
fn failover_does_what_its_model_says() {
    check_all(MuxMode::Failover);
}

#[test]
fn round_robin_does_what_its_model_says() {
    check_all(MuxMode::RoundRobin);
}

#[test]
fn weighted_does_what_its_model_says() {
    check_all(MuxMode::Weighted);
}

#[test]
fn sticky_by_key_does_what_its_model_says() {
    check_all(MuxMode::StickyByKey);
}

#[test]
fn shield_does_what_its_model_says() {
    check_all(MuxMode::Shield);
}

#[test]
fn mirror_does_what_its_model_says() {
    check_all(MuxMode::Mirror);
}

#[test]
fn cases_that_failed_once_do_not_fail_again() {
    for line in SEEDS.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let mode = words.next().and_then(|mode| mode.parse().ok());
        let seed = words.next().and_then(|seed| seed.parse().ok());
        check(mode.expect("a mode"), seed.expect("a seed"));
    }
}
