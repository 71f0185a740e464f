//! Timers of the wasm binding: never early, never longer than a host can count, never left behind.
#![cfg(all(target_arch = "wasm32", target_os = "unknown"))]

use core::future::Future;
use core::pin::{Pin, pin};
use core::task::{Context, Waker};
use core::time::Duration;

use futures_util::future::{Either, select};
use storage_mux::runtime::wasm::{WasmClock, entropy_seed};
use storage_mux::{Clock, Instant};
use storage_mux_wasm_tests::FakeHost;
use wasm_bindgen_test::wasm_bindgen_test;

/// The longest delay that hosts count right: the greatest signed 32-bit integer.
const BOUND_MS: u64 = (1 << 31) - 1;
const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

fn poll(sleep: Pin<&mut impl Future<Output = ()>>) -> bool {
    sleep.poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

fn assert_countable(host: &FakeHost) {
    for delay in host.delays() {
        assert!((0.0..=BOUND_MS as f64).contains(&delay), "a timer of {delay} ms");
    }
}

/// Case TC-06. Spec: P-1
#[wasm_bindgen_test]
fn a_sleep_of_any_length_ends_at_its_time_by_timers_that_the_host_can_count() {
    let lengths = [
        0,
        1,
        BOUND_MS - 1,
        BOUND_MS,
        BOUND_MS + 1,
        25 * DAY_MS,
        (1 << 32) - 1,
        1 << 32,
        (1 << 32) + 5_000,
        1_000 * DAY_MS,
    ];
    for ms in lengths {
        let host = FakeHost::install();
        let clock = WasmClock::new();
        let mut sleep = pin!(clock.sleep(Duration::from_millis(ms)));
        while !poll(sleep.as_mut()) {
            assert!(host.fire(), "{ms} ms: the sleep waits and no timer is set");
        }
        assert_eq!(clock.now(), Instant::from_epoch(Duration::from_millis(ms)));
        let delays = host.delays();
        assert_countable(&host);
        assert_eq!(delays.iter().sum::<f64>(), ms as f64, "{delays:?}");
        assert_eq!(delays.len() as u64, ms.div_ceil(BOUND_MS), "{delays:?}");
        assert_eq!(host.armed(), 0);
    }
}

/// Case TC-06. Spec: P-1, HE-6
#[wasm_bindgen_test]
fn the_longest_sleep_there_is_goes_on_through_decades() {
    let host = FakeHost::install();
    let clock = WasmClock::new();
    let mut sleep = pin!(clock.sleep(Duration::MAX));
    for _ in 0..500 {
        assert!(!poll(sleep.as_mut()));
        assert!(host.fire());
    }
    assert!(clock.now() > Instant::from_epoch(Duration::from_millis(30 * 365 * DAY_MS)));
    assert_countable(&host);
}

/// Spec: P-1
#[wasm_bindgen_test]
fn a_timer_that_fires_early_is_followed_by_another() {
    let host = FakeHost::install();
    let clock = WasmClock::new();
    let mut sleep = pin!(clock.sleep(Duration::from_millis(20)));
    assert!(!poll(sleep.as_mut()));
    assert!(host.fire_early(0.75));
    assert!(!poll(sleep.as_mut()), "over after {}", clock.now());
    assert!(host.fire());
    assert!(poll(sleep.as_mut()));
    assert_eq!(host.delays(), [20.0, 1.0]);
}

/// Spec: P-1
#[wasm_bindgen_test]
fn part_of_a_millisecond_is_a_whole_one_to_the_host() {
    let host = FakeHost::install();
    let clock = WasmClock::new();
    let mut sleep = pin!(clock.sleep(Duration::from_micros(1_001)));
    assert!(!poll(sleep.as_mut()));
    assert_eq!(host.delays(), [2.0]);
}

/// Spec: P-1
#[wasm_bindgen_test]
fn a_sleep_counts_from_the_call_and_not_from_the_first_poll() {
    let host = FakeHost::install();
    let clock = WasmClock::new();
    let mut sleep = pin!(clock.sleep(Duration::from_millis(20)));
    host.set_now(19.0);
    assert!(!poll(sleep.as_mut()));
    assert_eq!(host.delays(), [1.0]);
    host.set_now(20.0);
    assert!(poll(sleep.as_mut()), "the time is there, though no timer has fired");
    assert_eq!(host.armed(), 0, "the timer outlives the sleep");
}

/// Spec: P-1
#[wasm_bindgen_test]
fn a_sleep_that_is_dropped_clears_its_timer_and_one_that_is_not_polled_sets_none() {
    let host = FakeHost::install();
    let clock = WasmClock::new();
    let unpolled = clock.sleep(Duration::from_secs(1));
    assert_eq!(host.armed(), 0);
    drop(unpolled);
    for length in [Duration::from_secs(1), Duration::MAX] {
        let mut sleep = Box::pin(clock.sleep(length));
        assert!(!poll(sleep.as_mut()));
        assert!(!poll(sleep.as_mut()), "polled twice, it still has one timer");
        assert_eq!(host.armed(), 1);
        drop(sleep);
        assert_eq!(host.armed(), 0);
    }
}

/// Spec: P-1, HE-6
#[wasm_bindgen_test]
fn a_host_whose_time_makes_no_sense_gets_no_senseless_timer() {
    for nonsense in [f64::NAN, -5.0, f64::INFINITY, f64::NEG_INFINITY, f64::MAX] {
        let host = FakeHost::install();
        let clock = WasmClock::new();
        host.set_now(nonsense);
        let started = clock.now();
        let mut sleep = pin!(clock.sleep(Duration::from_secs(60)));
        poll(sleep.as_mut());
        // Time jumps back, then far ahead.
        host.set_now(0.0);
        poll(sleep.as_mut());
        host.set_now(nonsense);
        poll(sleep.as_mut());
        assert_countable(&host);
        assert!(started <= clock.now());
    }
}

/// Spec: P-1
#[wasm_bindgen_test]
async fn a_timer_past_the_bound_does_not_fire_on_the_real_host() {
    let clock = WasmClock::new();
    for ms in [BOUND_MS, BOUND_MS + 1, 25 * DAY_MS, 1 << 32, (1 << 32) + 5_000] {
        let long = pin!(clock.sleep(Duration::from_millis(ms)));
        let short = pin!(clock.sleep(Duration::from_millis(30)));
        assert!(matches!(select(long, short).await, Either::Right(_)), "{ms} ms are over");
    }
    let long = pin!(clock.sleep(Duration::MAX));
    let short = pin!(clock.sleep(Duration::from_millis(30)));
    assert!(matches!(select(long, short).await, Either::Right(_)), "for ever is over");
}

/// Spec: P-2
#[wasm_bindgen_test]
fn seeds_come_from_the_entropy_of_the_host_and_differ() {
    let seeds: Vec<u64> = (0..64).map(|_| entropy_seed()).collect();
    assert!((1..seeds.len()).all(|at| !seeds[..at].contains(&seeds[at])));
    let (ones, zeros) = seeds.iter().fold((0, 0), |(o, z), seed| (o | seed, z | !seed));
    // That one of 64 bits is the same in 64 draws has a chance of 2^-57.
    let spread = (ones, zeros) == (u64::MAX, u64::MAX);
    let strong = js_sys::eval("typeof globalThis.crypto === 'object'").expect("evaluated");
    assert_eq!(spread, strong.is_truthy(), "cryptography fills all bits, a fraction does not");
}
