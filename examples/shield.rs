//! Shield: one origin, mirrors that stand in for it. Run with `cargo run --example shield`.

use std::error::Error;

use storage_mux::sim::{FakeClock, Fault, FaultStorage, run};
use storage_mux::{
    Backend, Event, MemoryStorage, MuxMode, MuxOptions, SeededRng, StorageError, StorageMux,
};

fn main() -> Result<(), Box<dyn Error>> {
    let clock = FakeClock::new();
    let origin = FaultStorage::new(MemoryStorage::new(), clock.clone());
    let mirror = FaultStorage::new(MemoryStorage::new(), clock.clone());
    let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
        .backend(Backend::new("origin", origin.clone()))
        .backend(Backend::new("mirror", mirror.clone()))
        .options(MuxOptions::new().with_mode(MuxMode::Shield))
        .event_sink(|event: &Event| {
            if let Event::FanoutPartial { failed, .. } = event {
                println!("  event: {failed:?} lacks the write");
            }
        })
        .build()?;

    println!("a write goes to both");
    run(&clock, mux.set("k", "v1"))??;
    println!("the mirror is down: the write stands on the origin");
    mirror.set_always(Fault::Fail(StorageError::http(503)));
    run(&clock, mux.set("k", "v2"))??;
    mirror.set_always(Fault::None);

    println!("the origin is down: the mirror answers, with what it has");
    origin.set_always(Fault::Fail(StorageError::http(503)));
    println!("k: {:?}", run(&clock, mux.get("k"))??);
    println!("and a write is refused, since the origin decides");
    match run(&clock, mux.set("k", "v3"))? {
        Err(error) => println!("  {error}"),
        Ok(_) => println!("  stored"),
    }
    Ok(())
}
