//! What compiles on which executor: the promise of the two storage traits.

use std::future::Future;
use std::rc::Rc;

use storage_mux::runtime::tokio::TokioClock;
use storage_mux::sim::{FakeClock, run};
use storage_mux::{Backend, LocalHandle, MemoryStorage, SeededRng, SharedStorage, StorageMux};

type ServerMux = StorageMux<SharedStorage, TokioClock, SeededRng>;

fn is_send<T: Send>(value: T) -> T {
    value
}

/// Never called: that it compiles is the claim.
fn every_call_of_a_server_mux_can_be_spawned(mux: &ServerMux) -> [bool; 5] {
    fn sendable(future: impl Future + Send) -> bool {
        drop(future);
        true
    }
    [
        sendable(mux.get("k")),
        sendable(mux.set("k", "v")),
        sendable(mux.list("", &Default::default())),
        sendable(async {
            futures_util::StreamExt::next(&mut mux.get_stream("k").await.ok()?).await
        }),
        sendable(async { futures_util::SinkExt::close(&mut mux.set_stream("k").await?).await }),
    ]
}

/// Spec: P-3, P-4, MX-1
#[tokio::test(flavor = "multi_thread")]
async fn a_tokio_user_spawns_calls_on_a_mux_of_mixed_backends() {
    let clock = TokioClock::new();
    let region = StorageMux::builder(clock, SeededRng::new(1))
        .backend(Backend::new("memory", SharedStorage::new(MemoryStorage::new())))
        .build()
        .expect("an inner mux");
    let mux: ServerMux = StorageMux::builder(clock, SeededRng::new(2))
        .backend(Backend::new("region", SharedStorage::from(region)))
        .backend(Backend::new("plain", SharedStorage::new(MemoryStorage::new())))
        .build()
        .expect("a mux");
    let calls = (0..100).map(|n| {
        let mux = mux.clone();
        tokio::spawn(async move {
            let key = format!("key {n}");
            mux.set(&key, key.clone()).await?;
            mux.get(&key).await
        })
    });
    for (n, call) in calls.collect::<Vec<_>>().into_iter().enumerate() {
        let value = call.await.expect("no panic").expect("stored and found");
        assert_eq!(value, format!("key {n}"));
    }
    assert_eq!(every_call_of_a_server_mux_can_be_spawned(&mux), [true; 5]);
    is_send(mux);
}

/// Spec: P-3, P-4
#[test]
fn a_mux_over_thread_bound_backends_works_on_a_single_threaded_executor() {
    let clock = FakeClock::new();
    let store = Rc::new(MemoryStorage::new());
    let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
        .backend(Backend::new("a", store.clone()))
        .build()
        .expect("a mux over Rc");
    let stored = run(&clock, async {
        mux.set("k", "v").await?;
        mux.get("k").await
    });
    assert_eq!(stored.expect("runs").expect("found"), "v");

    let outer = StorageMux::builder(clock.clone(), SeededRng::new(2))
        .backend(Backend::new("inner", LocalHandle::new(mux)))
        .backend(Backend::new("store", LocalHandle::new(store)))
        .build()
        .expect("a mux of local handles");
    assert_eq!(run(&clock, outer.get("k")).expect("runs").expect("found"), "v");
}
