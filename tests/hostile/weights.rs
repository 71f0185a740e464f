//! Weights of which nothing is left.

use storage_mux::sim::{FakeClock, FaultStorage, run};
use storage_mux::{Backend, MemoryStorage, MuxCode, MuxMode, SeededRng, StorageMux};

use crate::support::{TestMux, mode};

fn mux(weights: &[(&str, f64)]) -> (FakeClock, TestMux) {
    let clock = FakeClock::new();
    let backends = weights.iter().map(|(name, weight)| backend(&clock, name, *weight));
    let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
        .backends(backends.collect::<Vec<_>>())
        .options(mode(MuxMode::Weighted))
        .build()
        .expect("a mux");
    (clock, mux)
}

fn backend(clock: &FakeClock, name: &str, weight: f64) -> Backend<crate::support::Store> {
    let store = FaultStorage::new(MemoryStorage::new(), clock.clone());
    Backend::new(name, store).with_weight(weight)
}

/// Case SEL-02. Spec: WT-3
#[test]
fn the_weight_of_a_backend_that_drains_does_not_count_for_the_sum() {
    let (clock, mux) = mux(&[("a", 1.0), ("b", 1.0)]);
    let stream = run(&clock, async {
        mux.set("k", "v").await.expect("stored");
        mux.set_stream("s").await.expect("open")
    })
    .expect("ready");
    let busy = if mux.stats().backends[0].in_flight == 1 { "a" } else { "b" };
    let other = if busy == "a" { "b" } else { "a" };
    assert!(futures_util::FutureExt::now_or_never(mux.drain(busy)).is_none(), "in flight");
    let error = mux.set_weight(other, 0.0).expect_err("nobody would be left");
    assert_eq!(error.code(), MuxCode::InvalidWeight);
    drop(stream);
    run(&clock, mux.get("nothing")).expect("ready").expect_err("but it was asked");
    assert_eq!(mux.backend_stats(other).expect("it stays").misses, 1);
}

/// Case SEL-02. Spec: WT-3, DR-5
#[test]
fn a_first_backend_of_weight_zero_is_refused_once_all_others_are_gone() {
    let (clock, mux) = mux(&[("a", 1.0), ("b", 0.0)]);
    run(&clock, mux.remove_backend("a")).expect("ready").expect("removed");
    let down = run(&clock, mux.get("k")).expect("ready").expect_err("nobody has a weight");
    assert!(down.is_mux(MuxCode::AllBackendsDown), "{down}");
    let error = mux.add_backend(backend(&clock, "c", 0.0)).expect_err("the sum stays zero");
    assert_eq!(error.code(), MuxCode::InvalidWeight);
    assert_eq!(mux.stats().backends.len(), 1);
    mux.add_backend(backend(&clock, "c", 5e-324)).expect("the smallest weight there is");
    run(&clock, mux.set("k", "v")).expect("ready").expect("stored");
}
