//! Figures that cannot be: no sample, one, extreme ones, and readers in between.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use futures_util::FutureExt;
use storage_mux::retry::RetryOptions;
use storage_mux::sim::{FakeClock, Fault, FaultStorage, run};
use storage_mux::{
    Backend, BackendStats, Clock, Instant, MemoryStorage, MuxOptions, SeededRng, StorageMux,
};

type Store = FaultStorage<MemoryStorage>;

/// A mux over one store whose calls take as long as is asked for. Nothing cuts them short.
struct World {
    clock: FakeClock,
    store: Store,
    mux: StorageMux<Store, FakeClock, SeededRng>,
}

impl World {
    fn new() -> Self {
        let clock = FakeClock::new();
        let store = FaultStorage::new(MemoryStorage::new(), clock.clone());
        let options =
            MuxOptions::new().with_retry(RetryOptions::none()).with_backend_timeout(Duration::MAX);
        let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
            .backend(Backend::new("a", store.clone()))
            .options(options)
            .build()
            .expect("one backend");
        Self { clock, store, mux }
    }

    fn takes(&self, latency: Duration) {
        self.store.push(Fault::Delay(latency));
        let had = run(&self.clock, self.mux.has("k")).expect("it ends");
        assert_eq!(had, Ok(false));
    }

    fn stats(&self) -> BackendStats {
        self.mux.stats().backends.swap_remove(0)
    }

    /// Last, median and 99th percentile.
    fn latencies(&self) -> [Option<Duration>; 3] {
        let stats = self.stats();
        [stats.last_latency, stats.p50_latency, stats.p99_latency]
    }
}

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Case SM-04. Spec: SA-1, SA-2
#[test]
fn percentiles_are_samples_by_nearest_rank() {
    let twenty = World::new();
    (1..=20).for_each(|each| twenty.takes(ms(each)));
    assert_eq!(twenty.latencies(), [20, 10, 20].map(|each| Some(ms(each))));

    let hundred = World::new();
    (1..=100).rev().for_each(|each| hundred.takes(ms(each)));
    assert_eq!(hundred.latencies(), [1, 50, 99].map(|each| Some(ms(each))));
}

/// A clock that moves by one to nine milliseconds whenever it is read, so that threads can share it
/// and nobody has to move it on.
#[derive(Clone, Default)]
struct Ticking(Arc<AtomicU64>);

impl Clock for Ticking {
    type Sleep = std::future::Pending<()>;

    fn now(&self) -> Instant {
        let reads = self.0.fetch_add(1, Ordering::SeqCst);
        // Nine reads take 45 ms, in steps that no order of the threads makes alike.
        let within = [0, 1, 8, 10, 17, 20, 26, 30, 35][(reads % 9) as usize];
        Instant::from_nanos((reads / 9 * 45 + within) * 1_000_000)
    }

    fn sleep(&self, _: Duration) -> Self::Sleep {
        std::future::pending()
    }
}

/// Case SM-04, while others record. Spec: SA-2
#[test]
fn the_median_never_exceeds_the_99th_percentile_while_others_record() {
    let mux = StorageMux::builder(Ticking::default(), SeededRng::new(1))
        .backend(Backend::new("a", MemoryStorage::new()))
        .build()
        .expect("one backend");
    let mut reads = 0_u64;
    thread::scope(|scope| {
        let writers = [(); 2].map(|()| {
            scope.spawn(|| {
                for _ in 0..3_000 {
                    assert_eq!(mux.has("k").now_or_never(), Some(Ok(false)));
                    thread::yield_now();
                }
            })
        });
        // Ends with the writers, also where one of them has failed.
        while !writers.iter().all(thread::ScopedJoinHandle::is_finished) {
            let stats = mux.stats().backends.swap_remove(0);
            if let (Some(median), Some(high)) = (stats.p50_latency, stats.p99_latency) {
                assert!(ms(1) <= median && median <= high, "{median:?} {high:?}");
                reads += 1;
            }
        }
    });
    assert!(reads > 0, "the reader must have read something");
    assert_eq!(mux.stats().backends[0].hits + mux.stats().backends[0].misses, 6_000);
}

/// Case SM-07. Spec: SA-1, SA-2
///
/// That counters wrap and that the longest latency is told is shown where they are kept.
#[test]
fn no_start_value_shows_and_no_extreme_breaks_a_figure() {
    assert_eq!(World::new().latencies(), [None; 3]);

    let instant = World::new();
    instant.takes(Duration::ZERO);
    assert_eq!(instant.latencies(), [Some(Duration::ZERO); 3]);

    let five = World::new();
    five.takes(ms(5));
    assert_eq!(five.latencies(), [Some(ms(5)); 3]);

    let long = World::new();
    long.takes(ms(5));
    let ages = Duration::from_nanos(u64::MAX / 2);
    long.takes(ages);
    let [last, median, high] = long.latencies().map(|each| each.expect("two samples"));
    // A latency is told whole for 584 years; the samples of a percentile stop at hours.
    assert_eq!(last, ages);
    assert_eq!(median, ms(5));
    assert!(high > Duration::from_secs(2 * 3_600), "{high:?}");
}
