//! The simulation, for a program and for a WASM host.

#[path = "../../tests/simulation/world/mod.rs"]
pub mod world;

/// The hash of one run, for a host that can call nothing but plain functions.
#[unsafe(no_mangle)]
pub extern "C" fn trace_hash(seed: u64) -> u64 {
    world::simulate(seed, false).hash
}

/// How many promises the run broke.
#[unsafe(no_mangle)]
pub extern "C" fn violations(seed: u64) -> u32 {
    world::simulate(seed, false).violations.len() as u32
}
