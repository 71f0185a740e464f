//! Many calls at once while backends come and go.

use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::FutureExt;
use futures_util::future::{join, join_all};
use storage_mux::sim::{FakeClock, Fault};
use storage_mux::{Backend, Clock, MemoryStorage, MuxCode, MuxMode, SeededRng, StorageMux};

use crate::support::{Ends, World, mode, ms};

/// Spec: MU-3, DR-1, DR-4, IS-2
#[test]
fn ten_thousand_calls_in_flight_all_end_and_none_lands_on_a_drained_backend() {
    for each in [MuxMode::Failover, MuxMode::RoundRobin, MuxMode::StickyByKey] {
        let world = World::new(4, mode(each));
        world.put_all("k", "v");
        for (at, store) in world.stores.iter().enumerate() {
            store.set_always(Fault::Delay(ms(10 + at as u64)));
        }
        let drained_at = std::cell::Cell::new(None);
        let calls = join_all((0..10_000_u64).map(|n| {
            let world = &world;
            async move {
                world.clock.sleep(std::time::Duration::from_micros(n)).await;
                world.mux.get("k").await
            }
        }));
        let drain = async {
            world.clock.sleep(ms(3)).await;
            world.mux.remove_backend("a").await.expect("drained");
            drained_at.set(Some(world.stores[0].calls()));
        };
        let (results, ()) = world.run(join(calls, drain));
        assert_eq!(results.len(), 10_000);
        assert!(results.iter().all(Result::is_ok), "{each}");
        assert_eq!(
            Some(world.stores[0].calls()),
            drained_at.get(),
            "{each}: touched after its drain"
        );
        let stats = world.mux.stats();
        assert_eq!(stats.total_calls, 10_000);
        assert!(stats.backends.iter().all(|backend| backend.in_flight == 0));
        let attempts: usize = world.calls().iter().sum();
        assert_eq!(attempts as u64, stats.total_calls + stats.total_failovers, "{each}");
    }
}

/// Case DR-05, EV-06. Spec: MU-3, DR-4, IS-3
#[test]
fn eight_readers_and_a_writer_that_changes_everything_meet_only_values_and_typed_errors() {
    for each in MuxMode::ALL {
        let mux = StorageMux::builder(FakeClock::new(), SeededRng::new(1))
            .backends(
                ["a", "b"].map(|name| Backend::new(name, MemoryStorage::new()).with_weight(1.0)),
            )
            .options(mode(each))
            .build()
            .expect("a mux");
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let _readers_end = Ends(&stop);
            for _ in 0..8 {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        match mux.get("k").now_or_never().expect("memory is ready") {
                            Ok(_) => panic!("nothing was stored"),
                            Err(error) => assert!(
                                error.is_key_not_found() || error.is_mux(MuxCode::AllBackendsDown),
                                "{error}"
                            ),
                        }
                    }
                });
            }
            for round in 0..400_u64 {
                let name = format!("n{round}");
                let backend = Backend::new(name.as_str(), MemoryStorage::new()).with_weight(1.0);
                mux.add_backend(backend).expect("a free name");
                let _ = mux.set_weight(&name, (round % 3) as f64);
                let gone = if round == 0 { "a" } else { &format!("n{}", round - 1) };
                while mux.remove_backend(gone).now_or_never().is_none() {
                    std::hint::spin_loop();
                }
                if round % 50 == 0 && each != MuxMode::Weighted {
                    // Through zero and back.
                    for name in [name.as_str(), "b"] {
                        while mux.drain(name).now_or_never().is_none() {
                            std::hint::spin_loop();
                        }
                    }
                    for name in [name.as_str(), "b"] {
                        let again = Backend::new(name, MemoryStorage::new()).with_weight(1.0);
                        mux.add_backend(again).expect("free again");
                    }
                }
            }
        });
        assert!(mux.stats().backends.iter().all(|backend| backend.in_flight == 0));
    }
}
