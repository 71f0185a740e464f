//! What is counted in instructions: small loops, each one operation of the library over and over.
//!
//! Over memory, on one thread, with fixed seeds: two runs differ by nothing that matters.

use std::hint::black_box;

use storage_mux::retry::{CircuitBreaker, CircuitBreakerOptions, RetryOptions, retry};
use storage_mux::runtime::tokio::TokioClock;
use storage_mux::{MuxMode, SeededRng};

use crate::parts::mode::AliasTable;
use crate::parts::stats::{Counters, Outcome, Reservoir};
use crate::subject::{KEY, concrete, drive, memory, mixed, runtime};
use crate::sync::Stripe;
use crate::time::Instant;

/// Does its operation as often as it is told.
pub type Counted = fn(u32);

/// The cases by name.
pub const CASES: [(&str, Counted); 14] = [
    ("failover get, concrete type", |times| gets(MuxMode::Failover, KEY, times)),
    ("failover get, mixed handles", mixed_gets),
    ("failover get, missing key", |times| gets(MuxMode::Failover, "missing", times)),
    ("failover set", |times| sets(MuxMode::Failover, times)),
    ("round-robin get", |times| gets(MuxMode::RoundRobin, KEY, times)),
    ("weighted get", |times| gets(MuxMode::Weighted, KEY, times)),
    ("sticky get", |times| gets(MuxMode::StickyByKey, KEY, times)),
    ("mirror get from 3", |times| gets(MuxMode::Mirror, KEY, times)),
    ("mirror set on 3", |times| sets(MuxMode::Mirror, times)),
    ("shield set on 3", |times| sets(MuxMode::Shield, times)),
    ("retry, first try succeeds", retries),
    ("closed breaker, one call", breaks),
    ("weighted pick of 64", picks),
    ("outcome and latency recorded", records),
];

fn gets(mode: MuxMode, key: &str, times: u32) {
    let mux = concrete(mode, &memory(), 3);
    drive(runtime(), async {
        for _ in 0..times {
            black_box(mux.get(key).await).ok();
        }
    });
}

fn mixed_gets(times: u32) {
    let mux = mixed(MuxMode::Failover, &memory(), 3);
    drive(runtime(), async {
        for _ in 0..times {
            black_box(mux.get(KEY).await).ok();
        }
    });
}

fn sets(mode: MuxMode, times: u32) {
    let mux = concrete(mode, &memory(), 3);
    let value = bytes::Bytes::from_static(&[7; 1024]);
    drive(runtime(), async {
        for _ in 0..times {
            black_box(mux.set(KEY, value.clone()).await).ok();
        }
    });
}

async fn ready() -> Result<u64, u64> {
    Ok(black_box(1))
}

fn retries(times: u32) {
    let (options, clock, rng) = (RetryOptions::default(), TokioClock::new(), SeededRng::new(1));
    drive(runtime(), async {
        for _ in 0..times {
            black_box(retry(&options, &clock, &rng).value(|_| ready()).await).ok();
        }
    });
}

fn breaks(times: u32) {
    let breaker = CircuitBreaker::new(CircuitBreakerOptions::default(), TokioClock::new());
    let breaker = breaker.expect("a breaker");
    drive(runtime(), async {
        for _ in 0..times {
            black_box(breaker.call(ready).await).ok();
        }
    });
}

fn picks(times: u32) {
    let table = AliasTable::new((0..64).map(|at| (at, (at % 7 + 1) as f64)));
    let rng = SeededRng::new(1);
    for _ in 0..times {
        black_box(table.pick(storage_mux::Rng::next_u64(&rng)));
    }
}

fn records(times: u32) {
    let (counters, reservoir) = (Counters::default(), Reservoir::<256>::new(1));
    for at in 0..times {
        let ended = Instant::from_nanos(u64::from(black_box(at)));
        book(&counters, &reservoir, ended);
    }
}

/// An outcome counted and its latency recorded, as an attempt does it when it ends.
pub(crate) fn book(counters: &Counters, reservoir: &Reservoir<256>, now: Instant) {
    let latency = now.lapse_since(Instant::ZERO);
    if let Some(place) = counters.record(Stripe::current(), black_box(Outcome::Ok), latency, now) {
        reservoir.record(place, latency, || counters.before(place));
    }
}
