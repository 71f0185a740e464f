//! What holds on every runtime, under a JavaScript host.
#![cfg(all(target_arch = "wasm32", target_os = "unknown"))]

#[path = "../runtimes/body.rs"]
mod body;

use core::time::Duration;

use storage_mux::retry::{
    Backoff, CircuitBreaker, CircuitBreakerOptions, CircuitState, RetryError, RetryOptions,
};
use storage_mux::runtime::wasm::{WasmClock, entropy_seed, spawn_health_checks};
use storage_mux::sim::{FakeClock, Fault, FaultStorage};
use storage_mux::{
    Backend, BackendStatus, Clock, MemoryStorage, MuxOptions, SeededRng, StorageError, StorageMux,
};
use wasm_bindgen_test::wasm_bindgen_test;

struct Wasm;

impl body::Runtime for Wasm {
    type Clock = WasmClock;

    const UNIT: Duration = Duration::from_millis(20);

    fn clock(&self) -> WasmClock {
        WasmClock::new()
    }

    async fn with_checks<F: Future>(
        &self,
        mux: &body::Checked<WasmClock>,
        scenario: F,
    ) -> F::Output {
        let _checks = spawn_health_checks(mux);
        scenario.await
    }
}

macro_rules! claim {
    ($name:ident) => {
        #[wasm_bindgen_test]
        async fn $name() {
            body::$name(Wasm).await;
        }
    };
}

body::for_each_claim!(claim);

/// Case TC-08. Spec: P-1, HE-1, HE-4, RT-06, SA-1
///
/// The clock of std panics here, and would do so only once something fails.
#[wasm_bindgen_test]
async fn retries_cooldowns_breakers_and_figures_all_take_their_time_from_the_host() {
    let clock = WasmClock::new();
    let wait = Duration::from_millis(20);
    let store = FaultStorage::new(MemoryStorage::new(), FakeClock::new());
    let retry = RetryOptions::new().with_max_attempts(2).with_backoff(Backoff::constant(wait));
    let mux = StorageMux::builder(clock, SeededRng::new(entropy_seed()))
        .backend(Backend::new("a", store.clone()))
        .options(MuxOptions::new().with_retry(retry).with_cooldown(wait, wait))
        .build()
        .expect("one backend");
    mux.set("k", "v").await.expect("stored");

    store.push(Fault::Fail(StorageError::http(503)));
    let begun = clock.now();
    assert_eq!(mux.get("k").await.expect("the second try"), "v");
    assert!(clock.now().saturating_duration_since(begun) >= Duration::from_millis(1));

    store.set_always(Fault::Fail(StorageError::http(503)));
    mux.get("k").await.expect_err("both tries fail");
    let stats = mux.backend_stats("a").expect("it is there");
    assert_eq!(stats.status, BackendStatus::Down);
    assert!(stats.cooldown_until.is_some() && stats.last_latency.is_some());
    store.set_always(Fault::None);
    clock.sleep(wait * 2).await;
    assert_eq!(mux.get("k").await.expect("the probe"), "v");
    assert_eq!(mux.backend_stats("a").map(|stats| stats.status), Some(BackendStatus::Up));

    let options = CircuitBreakerOptions::new().with_failure_threshold(1).with_timeout(wait);
    let breaker = CircuitBreaker::new(options, clock).expect("options in range");
    let failed = breaker.call(|| async { Err::<(), _>(StorageError::http(500)) }).await;
    assert!(failed.is_err() && breaker.state() == CircuitState::Open);
    let refused = breaker.call(|| async { Ok::<_, StorageError>(()) }).await;
    assert!(matches!(refused, Err(RetryError::CircuitOpen { .. })), "{refused:?}");
    clock.sleep(wait * 2).await;
    breaker.call(|| async { Ok::<_, StorageError>(()) }).await.expect("the trial");
    assert_eq!(breaker.state(), CircuitState::Closed);
}
