//! What would break on a platform without the clock and the threads of std: the paths that a call
//! takes only when something fails.
#![cfg(all(target_arch = "wasm32", target_os = "unknown"))]

use core::time::Duration;
use std::cell::Cell;
use std::rc::Rc;

use storage_mux::backend::IndexedDbStorage;
use storage_mux::retry::{
    Attempt, Backoff, CircuitBreaker, CircuitBreakerOptions, CircuitState, RetryError,
    RetryOptions, retry, with_timeout,
};
use storage_mux::runtime::wasm::{WasmClock, entropy_seed, spawn_health_checks};
use storage_mux::sim::{FakeClock, Fault, FaultStorage};
use storage_mux::{
    Backend, BackendStatus, Clock, HealthCheck, LocalHandle, LocalStorage, MemoryStorage,
    MuxOptions, OpContext, SeededRng, StorageError, StorageMux,
};
use wasm_bindgen_test::wasm_bindgen_test;

const FEW_MS: Duration = Duration::from_millis(5);

fn down() -> Fault {
    Fault::Fail(StorageError::http(503))
}

/// Spec: RC-1, HE-2, HE-4, SA-1
#[wasm_bindgen_test]
async fn a_retry_a_cooldown_a_probe_and_the_statistics_need_no_clock_of_std() {
    let clock = WasmClock::new();
    let store = FaultStorage::new(MemoryStorage::new(), FakeClock::new());
    let retry = RetryOptions::new().with_max_attempts(2).with_backoff(Backoff::exponential(
        Duration::from_millis(1),
        2.0,
        FEW_MS,
    ));
    let mux = StorageMux::builder(clock, SeededRng::new(entropy_seed()))
        .backend(Backend::new("only", store.clone()))
        .options(MuxOptions::new().with_retry(retry).with_cooldown(FEW_MS, FEW_MS))
        .build()
        .expect("a mux");
    mux.set("k", "v").await.expect("stored");

    store.push(down());
    assert_eq!(mux.get("k").await.expect("the second try succeeds"), "v");

    store.set_always(down());
    mux.get("k").await.expect_err("both tries fail");
    assert_eq!(mux.stats().backends[0].status, BackendStatus::Down);
    store.set_always(Fault::None);
    clock.sleep(FEW_MS * 2).await;
    assert_eq!(mux.get("k").await.expect("the probe succeeds"), "v");

    let stats = mux.stats();
    let only = &stats.backends[0];
    assert_eq!((only.status, only.hits, only.errors), (BackendStatus::Up, 3, 1));
    assert_eq!(stats.total_calls, 4);
    assert!(only.last_latency.is_some() && only.p99_latency >= only.p50_latency);
    assert!(only.last_transition.is_some_and(|at| at <= clock.now()));
    assert_eq!(only.in_flight, 0);
}

/// Spec: RT-06
#[wasm_bindgen_test]
async fn a_breaker_opens_waits_and_closes_on_the_time_of_the_host() {
    let clock = WasmClock::new();
    // Open for an hour it refuses, and for a moment it lets through again.
    for timeout in [Duration::from_secs(3_600), FEW_MS] {
        let options = CircuitBreakerOptions::new()
            .with_failure_threshold(1)
            .with_success_threshold(1)
            .with_timeout(timeout);
        let breaker = CircuitBreaker::new(options, clock).expect("legal options");
        let failed = breaker.call(|| async { Err::<(), _>("down") }).await;
        assert_eq!(failed, Err(RetryError::Failed("down")));
        clock.sleep(FEW_MS).await;
        let next = breaker.call(|| async { Ok::<_, &str>(7) }).await;
        if timeout == FEW_MS {
            assert_eq!((next, breaker.state()), (Ok(7), CircuitState::Closed));
        } else {
            assert_eq!(next.expect_err("the circuit is open").code(), "RETRY.CIRCUIT_OPEN");
        }
    }
}

/// Spec: RT-01, RT-05
#[wasm_bindgen_test]
async fn a_stand_alone_retry_and_a_timeout_need_no_clock_of_std() {
    let (clock, rng) = (WasmClock::new(), SeededRng::new(entropy_seed()));
    let options = RetryOptions::new().with_backoff(Backoff::constant(Duration::from_millis(1)));
    let run = retry(&options, &clock, &rng).run(|attempt| async move {
        if attempt.number() < 2 { Err("not yet") } else { Ok(attempt.number()) }
    });
    assert_eq!(run.await.expect("the second try succeeds").value, 2);
    let hangs = std::future::pending::<Result<(), &str>>();
    let timed_out = with_timeout(&clock, FEW_MS, Attempt::default(), hangs).await;
    assert_eq!(timed_out.expect_err("it hangs").code(), "RETRY.TIMEOUT");
}

/// A storage of this thread alone, with a check, under a mux whose checks are spawned.
fn thread_bound() -> (StorageMux<LocalHandle, WasmClock, SeededRng>, FaultStorage<MemoryStorage>) {
    let store = FaultStorage::new(MemoryStorage::new(), FakeClock::new());
    let backend = Backend::new("only", LocalHandle::new(Rc::new(store.clone())));
    let mux = StorageMux::builder(WasmClock::new(), SeededRng::new(1))
        .backend(backend.with_health_check(HealthCheck::has("canary")))
        .options(MuxOptions::new().with_health_check_interval(FEW_MS))
        .build()
        .expect("a mux");
    (mux, store)
}

/// Spec: HC-3
#[wasm_bindgen_test]
async fn checks_of_a_thread_bound_storage_can_be_spawned_and_end_with_their_guard() {
    let (mux, store) = thread_bound();
    let checks = spawn_health_checks(&mux);
    WasmClock::new().sleep(FEW_MS * 6).await;
    assert!(store.calls() >= 1, "no check in six intervals");
    assert!(!checks.is_finished());
    drop(checks);
    let seen = store.calls();
    WasmClock::new().sleep(FEW_MS * 6).await;
    assert_eq!(store.calls(), seen, "a check after the guard is gone");
}

/// Spec: HC-3
#[wasm_bindgen_test]
async fn the_guard_knows_when_the_schedule_has_ended_by_itself() {
    let (mux, _) = thread_bound();
    let checks = spawn_health_checks(&mux);
    mux.close();
    WasmClock::new().sleep(FEW_MS).await;
    assert!(checks.is_finished());

    let (mux, _) = thread_bound();
    let checks = spawn_health_checks(&mux);
    drop(mux);
    WasmClock::new().sleep(FEW_MS).await;
    assert!(checks.is_finished(), "the schedule outlives the last handle");
}

/// Spec: HC-3
#[wasm_bindgen_test]
async fn a_guard_that_is_dropped_lets_go_of_the_check_under_way() {
    let (mux, store) = thread_bound();
    store.set_always(Fault::Hang);
    let checks = spawn_health_checks(&mux);
    let waited = Cell::new(0);
    while store.calls() == 0 && waited.get() < 100 {
        WasmClock::new().sleep(FEW_MS).await;
        waited.set(waited.get() + 1);
    }
    assert_eq!(mux.stats().backends[0].in_flight, 1);
    drop(checks);
    // One turn of the event loop, and no more.
    WasmClock::new().sleep(Duration::from_millis(1)).await;
    assert_eq!(mux.stats().backends[0].in_flight, 0);
}

/// The program of the README.
fn program() -> Result<(), Box<dyn std::error::Error>> {
    use storage_mux::backend::{FetchStorage, IndexedDbStorage};
    use storage_mux::runtime::wasm::{WasmClock, entropy_seed, spawn_health_checks};
    use storage_mux::{Backend, LocalHandle, SeededRng, StorageMux};

    let server = FetchStorage::new("https://files.example/team/");
    let mux = StorageMux::builder(WasmClock::new(), SeededRng::new(entropy_seed()))
        .backend(Backend::new("server", LocalHandle::new(server)))
        .backend(Backend::new("browser", LocalHandle::new(IndexedDbStorage::new("notes"))))
        .build()?;
    let checks = spawn_health_checks(&mux); // until it is dropped
    drop(checks);
    Ok(())
}

/// Spec: P-4
#[wasm_bindgen_test]
fn the_program_of_the_readme_stands_here_and_builds_a_mux() {
    let trimmed = |text: &str| text.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    let readme = include_str!("../../README.md");
    let (_, shown) = readme.split_once("```rs\n").expect("a program for this target");
    let (shown, _) = shown.split_once("```").expect("its end");
    assert!(trimmed(include_str!("platform.rs")).contains(&trimmed(shown)), "{shown}");
    program().expect("a mux");
}

/// Spec: E-1, P-3
#[wasm_bindgen_test]
async fn a_host_without_a_database_says_that_it_has_none() {
    let here = js_sys::eval("typeof indexedDB === 'object'").expect("evaluated").is_truthy();
    let storage = IndexedDbStorage::new("storage-mux platform test");
    let result = storage.set("k", "v".into(), &OpContext::new()).await;
    if here {
        result.expect("this host has one");
    } else {
        assert_eq!(result, Err(StorageError::unsupported()));
    }
}
