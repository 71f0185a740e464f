//! The public suite on a mux that is not at its best: a backend that fails throughout, backends of
//! different speed, and a nested pair with both.

use std::time::Duration;

use storage_mux::conformance;
use storage_mux::retry::RetryOptions;
use storage_mux::sim::{FakeClock, Fault, FaultStorage, run};
use storage_mux::{
    Backend, BackendStatus, LocalStorage, MemoryStorage, MuxMode, MuxOptions, SeededRng,
    SharedStorage, StorageError, StorageMux,
};

const NAMES: [&str; 3] = ["a", "b", "c"];
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

type Store = FaultStorage<MemoryStorage>;

/// Modes that spread one set of keys get three handles of one store.
fn stores(mode: MuxMode, clock: &FakeClock) -> [Store; 3] {
    let spreads = [MuxMode::RoundRobin, MuxMode::Weighted, MuxMode::StickyByKey].contains(&mode);
    let one = MemoryStorage::new();
    NAMES.map(|_| {
        let storage = if spreads { one.clone() } else { MemoryStorage::new() };
        FaultStorage::new(storage, clock.clone())
    })
}

/// A mux whose backends, once down, stay down for longer than a suite takes.
fn mux<S: LocalStorage>(
    mode: MuxMode,
    clock: &FakeClock,
    storages: impl IntoIterator<Item = S>,
) -> StorageMux<S, FakeClock, SeededRng> {
    let named = NAMES.into_iter().zip(storages);
    let options =
        MuxOptions::new().with_mode(mode).with_retry(RetryOptions::none()).with_cooldown(DAY, DAY);
    StorageMux::builder(clock.clone(), SeededRng::new(3))
        .backends(named.map(|(name, storage)| Backend::new(name, storage).with_weight(1.0)))
        .options(options)
        .build()
        .expect("a mux over three stores")
}

#[track_caller]
fn holds_every_rule(clock: &FakeClock, storage: &impl LocalStorage, what: &str) {
    let found = run(clock, conformance::run(storage)).expect("no call hangs");
    if let Err(failures) = found {
        panic!("{what}: {failures}");
    }
}

fn fails(store: &Store) {
    store.set_always(Fault::Fail(StorageError::http(503)));
}

/// Spec: CF-2, FO-1, RR-2, WT-1, ST-2, SH-2, MI-1
#[test]
fn a_mux_with_one_backend_down_holds_every_rule_in_every_mode() {
    for mode in MuxMode::ALL {
        for down in 0..3 {
            if mode == MuxMode::Shield && down == 0 {
                // Without its origin a shield cannot write, as it must not.
                continue;
            }
            let clock = FakeClock::new();
            let stores = stores(mode, &clock);
            let mux = mux(mode, &clock, stores.clone());
            fails(&stores[down]);
            for _ in 0..100 {
                let _ = run(&clock, mux.list("", &Default::default()));
                let _ = run(&clock, mux.delete("take-down"));
            }
            // Under failover the suite itself finds out, where anyone asks it at all.
            let known = mux.stats().backends[down].status == BackendStatus::Down;
            assert!(known || mode == MuxMode::Failover, "{mode} without {down}");
            holds_every_rule(&clock, &mux, &format!("{mode} without {down}"));
        }
    }
}

/// Spec: CF-2, SM-2, MI-1, MI-3, SH-3
#[test]
fn a_mux_of_backends_of_different_speed_holds_every_rule_in_every_mode() {
    for mode in MuxMode::ALL {
        for waits in [[1, 20, 300], [300, 1, 20]] {
            let clock = FakeClock::new();
            let stores = stores(mode, &clock);
            for (store, wait) in stores.iter().zip(waits) {
                store.set_always(Fault::Delay(Duration::from_millis(wait)));
            }
            let mux = mux(mode, &clock, stores);
            holds_every_rule(&clock, &mux, &format!("{mode} at {waits:?}"));
            let stats = mux.stats();
            assert_eq!((stats.total_failovers, stats.total_fanout_partials), (0, 0), "{mode}");
            assert!(stats.backends.iter().all(|each| each.in_flight == 0), "{mode}");
        }
    }
}

/// Spec: CF-2, IN-1
#[test]
fn failover_of_two_mirrors_holds_every_rule_with_one_mirror_lame_and_one_gone() {
    let clock = FakeClock::new();
    let gone = stores(MuxMode::Mirror, &clock);
    gone.iter().for_each(fails);
    let lame = stores(MuxMode::Mirror, &clock);
    fails(&lame[1]);
    let mirror =
        |stores: &[Store; 3]| mux(MuxMode::Mirror, &clock, stores.clone().map(SharedStorage::new));
    let (gone, lame) = (mirror(&gone), mirror(&lame));
    run(&clock, lame.delete("take-down")).expect("ends").expect("two of three are well");
    let nested = [gone.clone(), lame.clone()].map(SharedStorage::from);
    let nested = mux(MuxMode::Failover, &clock, nested);
    holds_every_rule(&clock, &nested, "failover of two mirrors");
    assert!(gone.stats().backends.iter().all(|each| each.status == BackendStatus::Down));
    assert_eq!(nested.stats().total_failovers, 1, "one call finds out for all");
}
