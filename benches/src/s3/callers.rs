//! Callers side by side: throughput and the 99th percentile, with the mux and without.
//!
//! All share one client and so one pool of connections. The sides take turns, each round there and
//! back and from another side on, so that drift hits all of them alike. The bare client has two
//! sides: what they differ by is what the measurement cannot tell.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use object_store::aws::AmazonS3;
use object_store::path::Path;
use object_store::{ObjectStoreExt, PutPayload};
use storage_mux::backend::ObjectStoreBackend;
use storage_mux::{MuxMode, SharedStorage};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use super::{client, runtime};
use crate::harness::{Row, median};
use crate::subject::{Mux, mux};

const CALLERS: usize = 32;

/// How long a side's turn takes at least.
const TURN: Duration = Duration::from_millis(200);

/// How many calls of each caller a turn has at least: the first and the last ones are not among
/// as many others as the rest.
const CALLS_EACH: u32 = 8;

/// The mux and the bare client may differ by 3%.
const LEAST_THROUGHPUT: f64 = 0.97;
const MOST_P99: f64 = 1.03;

#[derive(Clone, Copy)]
enum Verb {
    Get,
    Put,
}

/// A way to the server.
enum Side {
    Bare(AmazonS3),
    Mux(Mux<SharedStorage>),
}

impl Side {
    async fn call(&self, verb: Verb, key: &str, path: &Path, value: &Bytes) {
        match (self, verb) {
            (Self::Bare(store), Verb::Get) => {
                let got = store.get(path).await.expect("an answer");
                same_length(&got.bytes().await.expect("a body"), value);
            }
            (Self::Mux(mux), Verb::Get) => same_length(&mux.get(key).await.expect("a body"), value),
            (Self::Bare(store), Verb::Put) => {
                store.put(path, PutPayload::from(value.clone())).await.expect("stored");
            }
            (Self::Mux(mux), Verb::Put) => {
                mux.set(key, value.clone()).await.expect("stored");
            }
        }
    }
}

fn same_length(got: &Bytes, value: &Bytes) {
    assert_eq!(got.len(), value.len());
}

/// What a side took in all its turns.
#[derive(Default)]
struct Taken {
    /// Seconds of each round, which has two turns.
    seconds: Vec<f64>,
    /// The 99th percentile of each round, in nanoseconds.
    p99s: Vec<f64>,
    /// Nanoseconds of every call.
    latencies: Vec<u64>,
}

/// The rows of this part. Each case is measured for `time`.
#[must_use]
pub fn rows(port: u16, time: Duration) -> Vec<Row> {
    let runtime = runtime();
    let store = client(port);
    let backend = || SharedStorage::new(ObjectStoreBackend::new(store.clone()));
    let failover = mux(MuxMode::Failover, [backend(), backend(), backend()]);
    let sides =
        [Side::Bare(store.clone()), Side::Mux(failover), Side::Bare(store.clone())].map(Arc::new);
    let mut rows = Vec::new();
    for (size, named) in [(4 * 1024, "4 KiB"), (1024 * 1024, "1 MiB")] {
        let value = Bytes::from(vec![7; size]);
        // The puts leave behind what the gets ask for.
        for (verb, called) in [(Verb::Put, "`set`"), (Verb::Get, "`get`")] {
            let case = Case { verb, value: value.clone() };
            rows.extend(case.measure(&runtime, &sides, time).rows(&format!("{called} of {named}")));
        }
    }
    rows
}

struct Case {
    verb: Verb,
    value: Bytes,
}

struct Measured {
    /// Calls of a round.
    calls: u32,
    /// The bare client, the mux, and the bare client once more.
    sides: [Taken; 3],
}

impl Case {
    fn measure(&self, runtime: &Runtime, sides: &[Arc<Side>; 3], time: Duration) -> Measured {
        let turn = |at: usize, calls| runtime.block_on(self.turn(&sides[at], calls));
        // Finds out how many calls fill a turn, and warms everything up on the way.
        let mut calls = CALLERS as u32 * CALLS_EACH;
        while sides.iter().enumerate().any(|(at, _)| turn(at, calls).0 < TURN) {
            calls *= 2;
        }
        let mut taken: [Taken; 3] = Default::default();
        let begun = Instant::now();
        let mut round = 0;
        while begun.elapsed() < time {
            let order = [0, 1, 2].map(|at| (at + round) % 3);
            let mut of_round: [(f64, Vec<u64>); 3] = Default::default();
            for at in order.into_iter().chain(order.into_iter().rev()) {
                let (spent, latencies) = turn(at, calls);
                of_round[at].0 += spent.as_secs_f64();
                of_round[at].1.extend(latencies);
            }
            for (taken, (seconds, latencies)) in taken.iter_mut().zip(of_round) {
                taken.seconds.push(seconds);
                taken.p99s.push(p99(&latencies));
                taken.latencies.extend(latencies);
            }
            round += 1;
        }
        Measured { calls: calls * 2, sides: taken }
    }

    /// All callers together make so many calls. Gives how long that took, and each call.
    async fn turn(&self, side: &Arc<Side>, calls: u32) -> (Duration, Vec<u64>) {
        let left = Arc::new(AtomicU32::new(calls));
        let mut callers = JoinSet::new();
        let begun = Instant::now();
        for caller in 0..CALLERS {
            let (side, left, verb, value) =
                (side.clone(), left.clone(), self.verb, self.value.clone());
            callers.spawn(async move {
                let key = format!("{}/{caller}.bin", value.len());
                let path = Path::from(key.as_str());
                let mut latencies = Vec::new();
                let one_less = |left: u32| left.checked_sub(1);
                while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok() {
                    let begun = Instant::now();
                    side.call(verb, &key, &path, &value).await;
                    latencies.push(begun.elapsed().as_nanos() as u64);
                }
                latencies
            });
        }
        let latencies = callers.join_all().await;
        (begun.elapsed(), latencies.concat())
    }
}

impl Measured {
    /// Throughput and the 99th percentile, each with what the bare client differs by from itself.
    fn rows(&self, what: &str) -> [Row; 3] {
        let what = format!("{CALLERS} callers, {what}, failover of 3");
        let rate = |seconds: f64| format!("{:.0} /s", f64::from(self.calls) / seconds);
        let millis = |nanos: f64| format!("{:.2} ms", nanos / 1e6);
        let [bare, mux, again] = &self.sides;

        let seconds = |taken: &Taken| median(taken.seconds.clone());
        let faster = |ours: &Taken| median(ratios(&bare.seconds, &ours.seconds));
        let throughput = Row {
            what: format!("{what}: throughput"),
            ours: rate(seconds(mux)),
            peer: peer(faster(again)),
            theirs: rate(seconds(bare)),
            ratio: format!("{:.3}", faster(mux)),
            target: format!("≥ {LEAST_THROUGHPUT}"),
            met: Some(faster(mux) >= LEAST_THROUGHPUT),
        };

        let [of_bare, of_mux, of_again] = [bare, mux, again].map(|taken| p99(&taken.latencies));
        let pooled = Row {
            what: format!("{what}: p99 of all calls"),
            ours: millis(of_mux),
            peer: peer(of_again / of_bare),
            theirs: millis(of_bare),
            ratio: format!("{:.3}", of_mux / of_bare),
            target: format!("≤ {MOST_P99}"),
            met: Some(of_mux / of_bare <= MOST_P99),
        };

        let slower = |ours: &Taken| median(ratios(&ours.p99s, &bare.p99s));
        let by_round = Row {
            what: format!("{what}: p99 of a round, median"),
            ours: millis(median(mux.p99s.clone())),
            peer: peer(slower(again)),
            theirs: millis(median(bare.p99s.clone())),
            ratio: format!("{:.3}", slower(mux)),
            target: String::new(),
            met: None,
        };
        [throughput, pooled, by_round]
    }
}

fn peer(against_itself: f64) -> String {
    format!("bare `object_store` client (against itself: {against_itself:.3})")
}

fn ratios(over: &[f64], under: &[f64]) -> Vec<f64> {
    over.iter().zip(under).map(|(over, under)| over / under).collect()
}

fn p99(latencies: &[u64]) -> f64 {
    let mut latencies = latencies.to_vec();
    let at = latencies.len() * 99 / 100;
    *latencies.select_nth_unstable(at).1 as f64
}
