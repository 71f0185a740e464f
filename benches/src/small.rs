//! The parts one by one: retry, breaker, weighted pick, a latency recorded.

use std::hint::black_box;
use std::time::Duration;

use backon::Retryable;
use failsafe::futures::CircuitBreaker as _;
use rand::distr::Distribution;
use rand_distr::weighted::WeightedAliasIndex;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use storage_mux::SeededRng;
use storage_mux::retry::{CircuitBreaker, CircuitBreakerOptions, RetryOptions, retry};
use storage_mux::runtime::tokio::TokioClock;

use crate::counted::book;
use crate::get::repeat;
use crate::harness::{Cost, Group, Row};
use crate::parts::mode::AliasTable;
use crate::parts::stats::{Counters, Place, Reservoir};
use crate::subject::{drive, keep, runtime};
use crate::sync::Stripe;
use crate::time::Instant;

/// The rows of this part.
#[must_use]
pub fn rows(rounds: usize) -> Vec<Row> {
    let mut rows = retries(rounds);
    rows.extend(breakers(rounds));
    for count in [3, 64, 100, 1_000] {
        rows.extend(picks(count, rounds));
    }
    rows.extend(samples(rounds));
    rows
}

async fn ready() -> Result<u64, u64> {
    Ok(black_box(1))
}

fn retries(rounds: usize) -> Vec<Row> {
    let runtime = runtime();
    let (options, clock, rng) = (RetryOptions::default(), TokioClock::new(), SeededRng::new(1));
    let (options, clock, rng) = (keep(options), keep(clock), keep(rng));
    let mut group = Group::default();
    group.case("run", repeat!(runtime, retry(options, clock, rng).run(|_| ready())));
    group.case("value", repeat!(runtime, retry(options, clock, rng).value(|_| ready())));
    group.case("backon", repeat!(runtime, ready.retry(backon::ExponentialBuilder::default())));
    let measured = group.measure(rounds);
    vec![
        measured.row(
            ("`retry`, first try succeeds, the value", Cost::Of("value")),
            ("backon", Cost::Of("backon")),
            1.0,
        ),
        measured.remark(
            ("the same with attempts and total time", Cost::Of("run")),
            ("backon, which measures nothing", Cost::Of("backon")),
        ),
    ]
}

fn breakers(rounds: usize) -> Vec<Row> {
    let runtime = runtime();
    let ours = CircuitBreaker::new(CircuitBreakerOptions::default(), TokioClock::new());
    let ours = keep(ours.expect("a breaker"));
    let policy = failsafe::failure_policy::consecutive_failures(
        5,
        failsafe::backoff::constant(Duration::from_secs(30)),
    );
    let failsafe = keep(failsafe::Config::new().failure_policy(policy).build());
    let recloser = keep(recloser::AsyncRecloser::from(recloser::Recloser::custom().build()));
    let mut group = Group::default();
    group.case("ours", repeat!(runtime, ours.call(ready)));
    group.case("failsafe", repeat!(runtime, failsafe.call(ready())));
    group.case("recloser", repeat!(runtime, recloser.call(ready())));
    let measured = group.measure(rounds);
    let ours = ("closed breaker, one call", Cost::Of("ours"));
    vec![
        measured.row(ours, ("recloser", Cost::Of("recloser")), 1.0),
        measured.row(ours, ("failsafe, consecutive failures", Cost::Of("failsafe")), 1.0),
    ]
}

fn picks(count: usize, rounds: usize) -> Vec<Row> {
    let weights = move || (0..count).map(|at| (at % 7 + 1) as f64);
    let mut group = Group::default();
    let table = AliasTable::new(weights().enumerate());
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    group.case("pick", move |times| {
        for _ in 0..times {
            black_box(table.pick(rng.next_u64()));
        }
    });
    let index = WeightedAliasIndex::new(weights().collect::<Vec<_>>()).expect("weights");
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    group.case("their pick", move |times| {
        for _ in 0..times {
            black_box(index.sample(&mut rng));
        }
    });
    group.case("build", move |times| {
        for _ in 0..times {
            black_box(AliasTable::new(black_box(weights()).enumerate()));
        }
    });
    group.case("their build", move |times| {
        for _ in 0..times {
            black_box(WeightedAliasIndex::new(black_box(weights()).collect::<Vec<_>>())).ok();
        }
    });
    let measured = group.measure(rounds);
    let theirs = "rand_distr `WeightedAliasIndex<f64>`";
    vec![
        measured.row(
            (&format!("weighted pick of {count}"), Cost::Of("pick")),
            (theirs, Cost::Of("their pick")),
            1.0,
        ),
        measured.remark(
            (&format!("weighted rebuild of {count}"), Cost::Of("build")),
            (theirs, Cost::Of("their build")),
        ),
    ]
}

fn samples(rounds: usize) -> Vec<Row> {
    let latencies = |at: u32| u64::from(at.wrapping_mul(2_654_435_761) >> 12) + 1;
    let lapse = |nanos| Instant::from_nanos(nanos).lapse_since(Instant::ZERO);
    let mut group = Group::default();
    let reservoir: Reservoir = Reservoir::new(1);
    let stripe = Stripe::current();
    group.case("reservoir", move |times| {
        for at in 0..times {
            let here = u64::from(at) + 1_000_000;
            let place = Place { at_least: here, here, serial: at.into(), stripe };
            reservoir.record(place, lapse(latencies(black_box(at))), || here);
        }
    });
    let (counters, reservoir) = (Counters::default(), Reservoir::<256>::new(1));
    group.case("booked", move |times| {
        for at in 0..times {
            book(&counters, &reservoir, Instant::from_nanos(latencies(black_box(at))));
        }
    });
    let histogram = || {
        hdrhistogram::Histogram::<u64>::new_with_bounds(1, 60_000_000_000, 3).expect("a histogram")
    };
    let mut alone = histogram();
    group.case("hdr", move |times| {
        for at in 0..times {
            alone.record(latencies(black_box(at))).expect("within bounds");
        }
    });
    let shared = std::sync::Mutex::new(histogram());
    group.case("hdr locked", move |times| {
        for at in 0..times {
            let mut histogram = shared.lock().expect("not poisoned");
            histogram.record(latencies(black_box(at))).expect("within bounds");
        }
    });
    let measured = group.measure(rounds);
    vec![
        measured.row(
            ("a latency recorded", Cost::Of("reservoir")),
            ("hdrhistogram", Cost::Of("hdr")),
            1.0,
        ),
        measured.row(
            ("outcome counted and latency recorded, by any thread", Cost::Of("booked")),
            ("hdrhistogram behind a `Mutex`", Cost::Of("hdr locked")),
            1.0,
        ),
    ]
}
