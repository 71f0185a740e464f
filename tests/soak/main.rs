//! A thousand callers, six modes, bad weather and membership that never rests, on real threads and
//! real time: memory stays flat, no call is stuck, the books balance.
//!
//! Three seconds by default; `SOAK_SECONDS=600` for as long as it takes to believe it.

mod caller;
mod figures;
mod mutator;
mod weather;

use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use storage_mux::retry::{Backoff, RetryOptions};
use storage_mux::runtime::tokio::TokioClock;
use storage_mux::{Backend, MuxMode, MuxOptions, SeededRng, StorageMux};

use figures::Figures;
use weather::Weather;

type Mux = StorageMux<Weather, TokioClock, SeededRng>;

const CALLERS: usize = 1_000;
const BACKENDS: [&str; 4] = ["a", "b", "c", "d"];
/// What one attempt may take.
const ATTEMPT: Duration = Duration::from_millis(40);
/// What no call may take: four attempts of two tries, waits, and a machine that is busy besides.
const STUCK: Duration = Duration::from_secs(20);
/// What memory may grow by once everything has been used: allocators keep some.
const SLACK_KIB: u64 = 16 * 1_024;

fn options(mode: MuxMode) -> MuxOptions {
    let retry = RetryOptions::none()
        .with_max_attempts(2)
        .with_backoff(Backoff::constant(Duration::from_millis(1)));
    MuxOptions::new()
        .with_mode(mode)
        .with_retry(retry)
        .with_backend_timeout(ATTEMPT)
        .with_cooldown(Duration::from_millis(5), Duration::from_millis(50))
}

fn mux(mode: MuxMode, seed: u64) -> Mux {
    let backends = BACKENDS
        .into_iter()
        .zip(seed..)
        .map(|(name, seed)| Backend::new(name, Weather::new(seed)).with_weight(1.0));
    StorageMux::builder(TokioClock::new(), SeededRng::new(seed))
        .backends(backends)
        .options(options(mode))
        .build()
        .expect("four backends")
}

/// Spec: MU-1, MU-2, MU-3, AB-5, BH-1, SA-1
#[test]
fn a_thousand_callers_in_bad_weather_leak_nothing_and_are_never_stuck() {
    let seconds = env::var("SOAK_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(3);
    let seed = env::var("SOAK_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(20_261_130);
    println!("{CALLERS} callers for {seconds} s; SOAK_SEED={seed}");
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .expect("a runtime")
        .block_on(soak(Duration::from_secs(seconds), seed));
}

async fn soak(length: Duration, seed: u64) {
    let muxes: Vec<Mux> = MuxMode::ALL.into_iter().zip(seed..).map(|(m, s)| mux(m, s)).collect();
    let over = Arc::new(AtomicBool::new(false));
    let figures = Arc::new(Figures::new(CALLERS));
    let mut tasks = Vec::new();
    for caller in 0..CALLERS {
        let mux = muxes[caller % muxes.len()].clone();
        tasks.push(tokio::spawn(caller::run(mux, caller, seed, figures.clone(), over.clone())));
    }
    for (mux, seed) in muxes.iter().zip(seed..) {
        tasks.push(tokio::spawn(mutator::run(mux.clone(), seed, over.clone())));
    }
    let grown = figures.watch(length, STUCK).await;
    over.store(true, Ordering::SeqCst);
    for task in tasks {
        let ended = tokio::time::timeout(STUCK, task).await.expect("no task is stuck");
        ended.expect("no task panics");
    }
    println!("{figures}");
    assert!(figures.calls() > CALLERS as u64, "every caller got through");
    assert!(grown <= SLACK_KIB, "memory has grown by {grown} KiB");
    for mux in &muxes {
        let stats = mux.stats();
        println!(
            "{}: {} calls, {} failovers",
            stats.mode, stats.total_calls, stats.total_failovers
        );
        assert!(stats.total_calls > 0, "{}", stats.mode);
        for backend in &stats.backends {
            assert_eq!(backend.in_flight, 0, "{} {}", stats.mode, backend.name);
        }
    }
}
