//! Two threads on one mux: what they do together over what one does alone.
//!
//! On a machine with other work on it two threads may not get two processors at once. So the best
//! of many rounds stands, on both sides, and the same is told of two threads that share nothing.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use storage_mux::MuxMode;

use crate::harness::Row;
use crate::subject::{Frozen, KEY, Mux, drive, keep, mux};

/// How many calls a thread makes: well below a time slice.
const CALLS: u32 = 4_000;

/// The rows of this part.
#[must_use]
pub fn rows(rounds: usize) -> Vec<Row> {
    let new = || keep(mux(MuxMode::Failover, [Frozen, Frozen, Frozen]));
    let (shared, other) = (new(), new());
    let mut best = [f64::INFINITY; 3];
    for _ in 0..rounds {
        for (best, muxes) in
            best.iter_mut().zip([&[shared][..], &[shared, shared], &[shared, other]])
        {
            *best = best.min(calls(muxes));
        }
    }
    let [alone, together, apart] = best;
    let (together, apart) = (2.0 * alone / together, 2.0 * alone / apart);
    vec![Row {
        what: "throughput of two threads on one mux".into(),
        ours: format!("{together:.2} of one thread's"),
        peer: "two threads on a mux each".into(),
        theirs: format!("{apart:.2} of one thread's"),
        ratio: format!("{:.2}", together / apart),
        target: "ours ≥ 1.8".into(),
        met: Some(together >= 1.8),
    }]
}

/// Seconds from the first start to the last end of a thread for each mux.
fn calls(muxes: &[&'static Mux<Frozen>]) -> f64 {
    let missing = Arc::new(AtomicUsize::new(muxes.len()));
    let threads: Vec<_> = muxes
        .iter()
        .map(|mux| {
            let (mux, missing) = (*mux, missing.clone());
            std::thread::spawn(move || {
                let mut begun = Instant::now();
                let runtime = tokio::runtime::Builder::new_current_thread().build();
                drive(&runtime.expect("a runtime"), async {
                    // By spinning: whoever sleeps here starts late.
                    missing.fetch_sub(1, Ordering::SeqCst);
                    while missing.load(Ordering::SeqCst) > 0 {
                        std::hint::spin_loop();
                    }
                    begun = Instant::now();
                    for _ in 0..CALLS {
                        black_box(mux.get(KEY).await).expect("an answer");
                    }
                });
                (begun, Instant::now())
            })
        })
        .collect();
    let spans: Vec<_> = threads.into_iter().map(|thread| thread.join().expect("ended")).collect();
    let begun = spans.iter().map(|(begun, _)| *begun).min();
    let ended = spans.iter().map(|(_, ended)| *ended).max();
    match (begun, ended) {
        (Some(begun), Some(ended)) => (ended - begun).as_secs_f64(),
        _ => f64::INFINITY,
    }
}
