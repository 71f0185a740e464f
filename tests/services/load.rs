//! Load on the gateway from a process of its own: callers that read and write without rest.
//!
//! `load URL SECONDS CALLERS` prints `requests failures p50_us p99_us max_us`.

use std::env::args;
use std::time::{Duration, Instant};

use reqwest::Client;

const KEYS: u64 = 64;
const VALUE: &[u8] = &[42; 4_096];

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut arguments = args().skip(1);
    let mut next = || arguments.next().expect("load URL SECONDS CALLERS");
    let (url, seconds, callers) = (next(), next(), next());
    let seconds: u64 = seconds.parse().expect("a number of seconds");
    let callers: u64 = callers.parse().expect("a number of callers");
    let end = Instant::now() + Duration::from_secs(seconds);
    let client = Client::builder().no_proxy().build().expect("a client without TLS");
    let tasks: Vec<_> = (0..callers)
        .map(|caller| tokio::spawn(call(client.clone(), url.clone(), caller, end)))
        .collect();
    let (mut latencies, mut failures) = (Vec::new(), 0_u64);
    for task in tasks {
        let (some, failed) = task.await.expect("no caller panics");
        latencies.extend(some);
        failures += failed;
    }
    latencies.sort_unstable();
    // By nearest rank.
    let rank = |percent: usize| latencies[(latencies.len() * percent).div_ceil(100).max(1) - 1];
    println!("{} {failures} {} {} {}", latencies.len(), rank(50), rank(99), rank(100));
}

/// One caller: of five requests one writes.
async fn call(client: Client, url: String, caller: u64, end: Instant) -> (Vec<u128>, u64) {
    let (mut latencies, mut failures) = (Vec::new(), 0);
    let mut step = caller;
    while Instant::now() < end {
        step = step.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let key = format!("{url}/objects/key-{}", (step >> 33) % KEYS);
        let request = match (step >> 50) % 5 {
            0 => client.put(key).body(VALUE),
            _ => client.get(key),
        };
        let begun = Instant::now();
        let answer = request.send().await;
        let whole = match answer {
            Ok(response) if response.status().is_success() => response.bytes().await.is_ok(),
            _ => false,
        };
        latencies.push(begun.elapsed().as_micros());
        failures += u64::from(!whole);
    }
    (latencies, failures)
}
