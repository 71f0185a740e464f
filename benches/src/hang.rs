//! A primary that hangs for two seconds: what each call costs, through the mux and by hand.
//!
//! In real time, on one thread, both callers side by side. Each calls, notes how long it took,
//! pauses, and calls again.

use std::time::{Duration, Instant};

use storage_mux::runtime::tokio::TokioClock;
use storage_mux::sim::{FakeClock, Fault, FaultStorage};
use storage_mux::{Backend, MemoryStorage, MuxOptions, SeededRng, Storage, StorageMux};

use crate::harness::Row;
use crate::subject::{KEY, PLAIN, memory, runtime};

/// How long a backend may take.
pub const TIMEOUT: Duration = Duration::from_millis(250);
/// When the primary begins to hang, and when it is well again.
pub const HANGS: std::ops::Range<Duration> =
    Duration::from_millis(500)..Duration::from_millis(2_500);
/// When the callers stop.
pub const END: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(5);
/// Longer than the primary hangs: no probe meets it hanging.
const COOLDOWN: Duration = Duration::from_secs(2);

/// When a call began, since the start, and how long it took.
pub type Calls = Vec<(Duration, Duration)>;

/// What both callers saw.
pub struct Seen {
    pub mux: Calls,
    pub by_hand: Calls,
}

/// Lets the primary hang, and watches.
#[must_use]
pub fn watch() -> Seen {
    let primaries = || FaultStorage::new(memory(), FakeClock::new());
    let (ours, theirs, stand_in) = (primaries(), primaries(), memory());
    let mux = StorageMux::builder(TokioClock::new(), SeededRng::new(1))
        .backend(Backend::new("primary", ours.clone()))
        .backend(Backend::new("stand-in", FaultStorage::new(stand_in.clone(), FakeClock::new())))
        .options(MuxOptions::new().with_backend_timeout(TIMEOUT).with_cooldown(COOLDOWN, COOLDOWN))
        .build()
        .expect("a mux");
    let weather = async {
        tokio::time::sleep(HANGS.start).await;
        ours.set_always(Fault::Hang);
        theirs.set_always(Fault::Hang);
        tokio::time::sleep(HANGS.end - HANGS.start).await;
        ours.heal();
        theirs.heal();
    };
    runtime().block_on(async {
        let begun = Instant::now();
        let through_mux = call_on(begun, async || mux.get(KEY).await.is_ok());
        let by_hand = call_on(begun, async || by_hand(&theirs, &stand_in).await);
        let (mux, by_hand, ()) = futures::join!(through_mux, by_hand, weather);
        Seen { mux, by_hand }
    })
}

/// What one writes without a library: the primary with a timeout, then the other.
async fn by_hand(primary: &FaultStorage<MemoryStorage>, stand_in: &MemoryStorage) -> bool {
    match tokio::time::timeout(TIMEOUT, Storage::get(primary, KEY, &PLAIN)).await {
        Ok(Ok(_)) => true,
        _ => Storage::get(stand_in, KEY, &PLAIN).await.is_ok(),
    }
}

async fn call_on(begun: Instant, call: impl AsyncFn() -> bool) -> Calls {
    let mut calls = Vec::new();
    while begun.elapsed() < END {
        let called = Instant::now();
        assert!(call().await, "a stand-in was there all the time");
        calls.push((called - begun, called.elapsed()));
        tokio::time::sleep(PAUSE).await;
    }
    calls
}

/// The row of this part.
#[must_use]
pub fn row(seen: &Seen) -> Row {
    let slow = |calls: &Calls| calls.iter().filter(|(_, took)| *took >= TIMEOUT).count();
    let (ours, theirs) = (slow(&seen.mux), slow(&seen.by_hand));
    Row {
        what: "calls that a primary hanging for 2 s held up for a timeout".into(),
        ours: format!("{ours} of {}", seen.mux.len()),
        peer: "a timeout on the primary, then the stand-in, by hand".into(),
        theirs: format!("{theirs} of {}", seen.by_hand.len()),
        ratio: String::new(),
        target: "ours = 1".into(),
        met: Some(ours == 1),
    }
}
