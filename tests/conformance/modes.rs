//! The public suite on a mux: it is itself a storage, in every mode.

use storage_mux::conformance::{self, Failures, Report};
use storage_mux::sim::{FakeClock, run};
use storage_mux::{
    Backend, LocalHandle, LocalStorage, MemoryStorage, MuxMode, MuxOptions, SeededRng,
    SharedStorage, StorageMux,
};

type MemoryMux<S = MemoryStorage> = StorageMux<S, FakeClock, SeededRng>;

const NAMES: [&str; 3] = ["a", "b", "c"];

/// Modes that spread one set of keys over their backends need one store behind all of them. Sticky
/// is one of them for its listings: they belong to no key and ask whichever backend comes next.
fn spreads(mode: MuxMode) -> bool {
    matches!(mode, MuxMode::RoundRobin | MuxMode::Weighted | MuxMode::StickyByKey)
}

fn backends(mode: MuxMode) -> [MemoryStorage; 3] {
    let one = MemoryStorage::new();
    NAMES.map(|_| if spreads(mode) { one.clone() } else { MemoryStorage::new() })
}

fn mux<S: LocalStorage>(mode: MuxMode, clock: &FakeClock, backends: Vec<S>) -> MemoryMux<S> {
    let named = NAMES.into_iter().zip(backends);
    StorageMux::builder(clock.clone(), SeededRng::new(11))
        .backends(named.map(|(name, storage)| Backend::new(name, storage).with_weight(1.0)))
        .options(MuxOptions::new().with_mode(mode))
        .build()
        .expect("three backends")
}

#[track_caller]
fn suite_on(clock: &FakeClock, storage: &impl LocalStorage, what: &str) -> Report {
    let found: Result<Report, Failures> =
        run(clock, conformance::run(storage)).expect("no call of a healthy mux hangs");
    found.unwrap_or_else(|failures| panic!("{what}: {failures}"))
}

/// Spec: CF-2, MX-1
#[test]
fn a_mux_of_memory_storages_holds_every_rule_in_every_mode() {
    for mode in MuxMode::ALL {
        let clock = FakeClock::new();
        let stores = backends(mode);
        let report = suite_on(&clock, &mux(mode, &clock, stores.to_vec()), mode.as_str());
        // Mirrors cannot decide a conditional write: no one of them has the last word.
        let skipped = report
            .skipped()
            .iter()
            .all(|rule| rule.id().starts_with("if-") || rule.id().starts_with("version-"));
        assert_eq!(!report.skipped().is_empty(), mode == MuxMode::Mirror, "{mode}");
        assert!(skipped, "{mode}: {:?}", report.skipped());
        for store in stores {
            assert!(store.is_empty(), "{mode} leaves {:?}", store.keys());
        }
    }
}

/// Spec: CF-2, IN-1
#[test]
fn failover_of_two_mirrors_holds_every_rule() {
    let clock = FakeClock::new();
    let mirror = || {
        let stores = backends(MuxMode::Mirror).into_iter().map(SharedStorage::new).collect();
        SharedStorage::from(mux(MuxMode::Mirror, &clock, stores))
    };
    let nested = mux(MuxMode::Failover, &clock, vec![mirror(), mirror()]);
    suite_on(&clock, &nested, "failover of two mirrors");
}

/// Spec: CF-2, P-4
#[test]
fn a_mux_of_local_handles_holds_every_rule() {
    let clock = FakeClock::new();
    let stores = backends(MuxMode::Failover).into_iter().map(LocalHandle::new).collect();
    suite_on(&clock, &mux(MuxMode::Failover, &clock, stores), "failover of local handles");
}
