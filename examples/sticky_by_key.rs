//! Sticky by key: each key has a home. Run with `cargo run --example sticky_by_key`.

use std::error::Error;

use storage_mux::sim::{FakeClock, run};
use storage_mux::{Backend, MemoryStorage, MuxMode, MuxOptions, SeededRng, StorageMux};

fn main() -> Result<(), Box<dyn Error>> {
    let clock = FakeClock::new();
    let caches = [MemoryStorage::new(), MemoryStorage::new(), MemoryStorage::new()];
    let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
        .backends(
            ["a", "b", "c"]
                .into_iter()
                .zip(&caches)
                .map(|(name, cache)| Backend::new(name, cache.clone())),
        )
        .options(MuxOptions::new().with_mode(MuxMode::StickyByKey))
        .build()?;

    for user in 0..12 {
        run(&clock, mux.set(&format!("user {user}"), "profile"))??;
    }
    for (name, cache) in ["a", "b", "c"].into_iter().zip(&caches) {
        println!("{name} holds {:?}", cache.keys());
    }
    println!("b is drained: its keys move, and some of the others too");
    run(&clock, mux.drain("b"))??;
    for user in 0..12 {
        let key = format!("user {user}");
        if run(&clock, mux.get(&key))?.is_err() {
            println!("  {key} is not found where it is looked for now");
        }
    }
    Ok(())
}
