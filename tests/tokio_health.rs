//! Health checks spawned on tokio, on paused time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use storage_mux::runtime::tokio::{TokioClock, spawn_health_checks};
use storage_mux::{
    Backend, BackendStatus, HealthCheck, MemoryStorage, MuxOptions, SeededRng, SharedStorage,
    StorageError, StorageMux,
};

type Mux = StorageMux<SharedStorage, TokioClock, SeededRng>;

/// A mux whose check fails, and how often it was asked.
fn failing() -> (Mux, Arc<AtomicU32>) {
    let asked = Arc::new(AtomicU32::new(0));
    let count = asked.clone();
    let check = HealthCheck::custom(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        async { Err(StorageError::http(503)) }
    });
    let storage = SharedStorage::new(MemoryStorage::new());
    let mux = StorageMux::builder(TokioClock::new(), SeededRng::new(1))
        .backend(Backend::new("a", storage).with_health_check(check))
        .options(MuxOptions::new().with_health_check_interval(Duration::from_secs(1)))
        .build()
        .expect("a mux");
    (mux, asked)
}

async fn pass(seconds: u64) {
    tokio::time::sleep(Duration::from_millis(seconds * 1_000 + 1)).await;
}

/// Spec: HC-1, HC-3
#[tokio::test(start_paused = true)]
async fn the_checks_run_as_a_task_until_their_guard_is_dropped() {
    let (mux, asked) = failing();
    let guard = spawn_health_checks(&mux);
    pass(3).await;
    assert_eq!(asked.load(Ordering::SeqCst), 3);
    assert_eq!(mux.stats().backends[0].status, BackendStatus::Down);
    drop(guard);
    pass(3).await;
    assert_eq!(asked.load(Ordering::SeqCst), 3);
}

/// Spec: HC-3
#[tokio::test(start_paused = true)]
async fn the_task_ends_with_the_last_handle_of_the_mux_and_with_its_close() {
    for close in [true, false] {
        let (mux, asked) = failing();
        let guard = spawn_health_checks(&mux);
        pass(2).await;
        let kept = close.then(|| mux.clone());
        if close {
            mux.close();
        }
        drop(mux);
        pass(3).await;
        assert_eq!(asked.load(Ordering::SeqCst), 2);
        assert!(guard.is_finished());
        drop(kept);
    }
}
