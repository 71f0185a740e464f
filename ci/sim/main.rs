//! Runs seeds and says which failed: `sim COUNT [FROM]`, `sim hashes COUNT`, `sim trace SEED`.

use std::process::ExitCode;

use storage_mux_sim::world::simulate;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse::<u64>().ok());
    match arguments.first().map(String::as_str) {
        Some("hashes") => {
            for seed in 0..number(1).unwrap_or(50) {
                println!("{seed} {:016x}", simulate(seed, false).hash);
            }
            ExitCode::SUCCESS
        }
        Some("trace") => trace(number(1).unwrap_or(0)),
        _ => many(number(0).unwrap_or(1_000), number(1).unwrap_or(0)),
    }
}

fn trace(seed: u64) -> ExitCode {
    let report = simulate(seed, true);
    println!("{}", report.trace.join("\n"));
    println!("hash {:016x}, {} calls", report.hash, report.calls);
    for violation in &report.violations {
        println!("!!! {violation}");
    }
    if report.violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn many(count: u64, from: u64) -> ExitCode {
    let (mut failed, mut calls, mut failures) = (0_u64, 0, 0);
    for seed in from..from + count {
        let report = simulate(seed, false);
        calls += report.calls;
        failures += report.failures;
        if let Some(first) = report.violations.first() {
            failed += 1;
            println!("seed {seed}: {first} ({} in all)", report.violations.len());
            if std::env::var_os("SIM_FAIL_FAST").is_some() {
                return ExitCode::FAILURE;
            }
        }
    }
    println!(
        "{count} seeds from {from}: {failed} failed; {calls} calls, {failures} of muxes ended without a value"
    );
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
