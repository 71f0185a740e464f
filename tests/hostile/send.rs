//! Whatever a server does with a mux can move between its threads.

use std::future::Future;

use storage_mux::sim::FakeClock;
use storage_mux::{
    Backend, Condition, MemoryStorage, OpContext, PageRequest, SeededRng, SharedStorage, StorageMux,
};

type ServerMux = StorageMux<SharedStorage, FakeClock, SeededRng>;

fn sendable(future: impl Future + Send) -> usize {
    drop(future);
    1
}

fn lives_anywhere<T: Send + Sync + 'static>(_: &T) -> usize {
    1
}

/// Spec: P-3, P-4
#[test]
fn every_operation_under_a_context_can_be_spawned_and_so_can_drains_and_checks() {
    let mux: ServerMux = StorageMux::builder(FakeClock::new(), SeededRng::new(1))
        .backend(Backend::new("a", SharedStorage::new(MemoryStorage::new())))
        .build()
        .expect("a mux");
    let (cx, page) = (OpContext::new(), PageRequest::default());
    let with = mux.with(&cx);
    let count = [
        sendable(with.get("k")),
        sendable(with.set("k", "v")),
        sendable(with.set_partial("k", 0, "v")),
        sendable(with.has("k")),
        sendable(with.delete("k")),
        sendable(with.list("", &page)),
        sendable(with.stat("k")),
        sendable(with.get_range("k", 0..1)),
        sendable(with.set_if("k", "v", Condition::Absent)),
        sendable(with.drain("k")),
        sendable(with.remove_backend("k")),
        sendable(mux.drain("k")),
        sendable(mux.health_checks()),
        sendable(async {
            let mut stream = with.get_stream("k").await.ok()?;
            futures_util::StreamExt::next(&mut stream).await
        }),
        sendable(async {
            let mut sink = with.set_stream("k").await?;
            futures_util::SinkExt::send(&mut sink, "v".into()).await?;
            futures_util::SinkExt::close(&mut sink).await
        }),
        lives_anywhere(&mux),
        lives_anywhere(&mux.stats()),
    ];
    assert_eq!(count.iter().sum::<usize>(), 17);
    fn spawned(future: impl Future + Send + 'static) {
        drop(future);
    }
    spawned(mux.health_checks());
}
