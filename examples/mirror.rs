//! Mirror: peers of equal rank, the fastest answers. Run with `cargo run --example mirror`.

use std::error::Error;
use std::time::Duration;

use storage_mux::sim::{FakeClock, Fault, FaultStorage, run};
use storage_mux::{Backend, Clock, MemoryStorage, MuxMode, MuxOptions, SeededRng, StorageMux};

fn main() -> Result<(), Box<dyn Error>> {
    let clock = FakeClock::new();
    let far = FaultStorage::new(MemoryStorage::new(), clock.clone());
    let near = FaultStorage::new(MemoryStorage::new(), clock.clone());
    far.set_always(Fault::Delay(Duration::from_millis(30)));
    near.set_always(Fault::Delay(Duration::from_millis(5)));
    let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
        .backend(Backend::new("far", far))
        .backend(Backend::new("near", near.clone()))
        .options(MuxOptions::new().with_mode(MuxMode::Mirror))
        .build()?;

    let timed = |what: &str, start| println!("{what}: {:?}", clock.now() - start);
    let start = clock.now();
    run(&clock, mux.set("k", "v"))??;
    timed("a write waits for both", start);
    let start = clock.now();
    run(&clock, mux.get("k"))??;
    timed("a read waits for the faster", start);
    near.set_always(Fault::Hang);
    let start = clock.now();
    run(&clock, mux.get("k"))??;
    timed("with the faster one hung it waits for the other", start);
    for backend in mux.stats().backends {
        println!("{}: {} answers, {} dropped", backend.name, backend.hits, backend.cancelled);
    }
    Ok(())
}
