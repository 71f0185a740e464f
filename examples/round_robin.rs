//! Round-robin: equal doors to one store. Run with `cargo run --example round_robin`.

use std::error::Error;

use storage_mux::sim::{FakeClock, run};
use storage_mux::{Backend, MemoryStorage, MuxMode, MuxOptions, SeededRng, StorageMux};

fn main() -> Result<(), Box<dyn Error>> {
    let clock = FakeClock::new();
    // Three handles of one store, as three gateways of one cluster would be.
    let store = MemoryStorage::new();
    let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
        .backends(["door 1", "door 2", "door 3"].map(|name| Backend::new(name, store.clone())))
        .options(MuxOptions::new().with_mode(MuxMode::RoundRobin))
        .build()?;

    run(&clock, mux.set("k", "v"))??;
    for _ in 0..8 {
        run(&clock, mux.get("k"))??;
    }
    for backend in mux.stats().backends {
        println!("{}: {} calls", backend.name, backend.hits);
    }
    Ok(())
}
