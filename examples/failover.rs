//! Failover: a primary with a stand-in. Run with `cargo run --example failover`.

use std::error::Error;
use std::time::Duration;

use storage_mux::sim::{FakeClock, Fault, FaultStorage, run};
use storage_mux::{Backend, Event, MemoryStorage, SeededRng, StorageError, StorageMux};

fn main() -> Result<(), Box<dyn Error>> {
    let clock = FakeClock::new();
    let primary = FaultStorage::new(MemoryStorage::new(), clock.clone());
    let stand_in = FaultStorage::new(MemoryStorage::new(), clock.clone());
    let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
        .backend(Backend::new("primary", primary.clone()))
        .backend(Backend::new("stand-in", stand_in))
        .event_sink(|event: &Event| println!("  event: {}", event.topic()))
        .build()?;

    run(&clock, mux.set("before", "1"))??;
    println!("the primary goes away");
    primary.set_always(Fault::Fail(StorageError::http(503)));
    run(&clock, mux.set("during", "2"))??;

    println!("the primary comes back, and its cooldown passes");
    primary.set_always(Fault::None);
    clock.advance(Duration::from_secs(1));
    println!("before: {:?}", run(&clock, mux.get("before"))??);
    // What failover does not promise: the primary never saw this write.
    match run(&clock, mux.get("during"))? {
        Err(missing) => println!("during: {missing}"),
        Ok(value) => println!("during: {value:?}"),
    }
    for backend in mux.stats().backends {
        println!(
            "{}: {} hits, {} misses, {} errors",
            backend.name, backend.hits, backend.misses, backend.errors
        );
    }
    Ok(())
}
