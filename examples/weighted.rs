//! Weighted: a canary that takes one call in ten. Run with `cargo run --example weighted`.

use std::error::Error;

use storage_mux::sim::{FakeClock, run};
use storage_mux::{Backend, MemoryStorage, MuxMode, MuxOptions, SeededRng, StorageMux};

fn main() -> Result<(), Box<dyn Error>> {
    let clock = FakeClock::new();
    let store = MemoryStorage::new();
    let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
        .backend(Backend::new("stable", store.clone()).with_weight(9.0))
        .backend(Backend::new("canary", store).with_weight(1.0))
        .options(MuxOptions::new().with_mode(MuxMode::Weighted))
        .build()?;

    run(&clock, mux.set("k", "v"))??;
    let calls = |count: usize| -> Result<(), Box<dyn Error>> {
        let before: Vec<u64> = mux.stats().backends.iter().map(|backend| backend.hits).collect();
        for _ in 0..count {
            run(&clock, mux.get("k"))??;
        }
        for (backend, before) in mux.stats().backends.iter().zip(before) {
            println!("  {}: {} of {count}", backend.name, backend.hits - before);
        }
        Ok(())
    };
    println!("nine to one");
    calls(10_000)?;
    println!("the canary does well: half of the calls");
    mux.set_weight("canary", 9.0)?;
    calls(10_000)?;
    println!("it did not do well after all: none");
    mux.set_weight("canary", 0.0)?;
    calls(10_000)
}
