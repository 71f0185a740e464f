//! The core on a Cortex-M0 with 16 KiB of RAM and no compare-and-swap.
//!
//! Locks and wide atomics are critical sections here. The board's processor has no SysTick, so
//! time is the library's fake clock, which this program moves on whenever nothing else can happen.
#![no_std]
#![no_main]

extern crate alloc;

use alloc::vec::Vec;
use core::cell::Cell;
use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;

use bytes::Bytes;
use embassy_futures::join::{join, join3};
use firmware::board;
use firmware::report::Report;
use storage_mux::retry::{
    Backoff, CircuitBreaker, CircuitBreakerOptions, CircuitState, Jitter, RetryError, RetryOptions,
    retry,
};
use storage_mux::sim::{FakeClock, Fault, FaultStorage};
use storage_mux::{
    AbortController, Backend, BackendStatus, Clock, ErrorClass, Instant, MemoryStorage, MuxCode,
    MuxMode, MuxOptions, OpContext, SeededRng, StorageError, StorageMux, classify,
};

const HEAP_BYTES: usize = 6 * 1024 + 768;

type Store = FaultStorage<MemoryStorage>;
type Mux = StorageMux<Store, FakeClock, SeededRng>;

#[cortex_m_rt::entry]
fn main() -> ! {
    board::start_heap(HEAP_BYTES);
    let report = Report::new();
    // None of these is inlined: one frame for all would hold the futures of all at once.
    words(&report);
    retries(&report);
    breaker(&report);
    failover(&report);
    spread(&report);
    race(&report);
    drain(&report);
    report.end(HEAP_BYTES, 32)
}

/// Polls a future to its end. Where two polls in a row change nothing, the clock moves on.
fn run<F: Future>(clock: &FakeClock, future: F) -> F::Output {
    let mut future = pin!(future);
    let mut cx = Context::from_waker(Waker::noop());
    loop {
        for _ in 0..2 {
            if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
                return output;
            }
        }
        assert!(clock.advance_to_next(), "the future hangs");
    }
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Stores named a and b that hold `of a` and `of b`, and their mux.
#[inline(never)]
fn world(mode: MuxMode) -> (FakeClock, [Store; 2], Mux) {
    let clock = FakeClock::new();
    let stores = [(); 2].map(|()| FaultStorage::new(MemoryStorage::new(), clock.clone()));
    let cx = OpContext::new();
    for (store, value) in stores.iter().zip(["of a", "of b"]) {
        let stored = run(&clock, storage_mux::Storage::set(store.inner(), "k", value.into(), &cx));
        assert!(stored.is_ok());
    }
    let options = MuxOptions::new()
        .with_mode(mode)
        .with_backend_timeout(millis(50))
        .with_retry(RetryOptions::none());
    let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
        .backend(Backend::new("a", stores[0].clone()).with_weight(1.0))
        .backend(Backend::new("b", stores[1].clone()).with_weight(3.0))
        .options(options)
        .build();
    (clock, stores, mux.unwrap_or_else(|error| panic!("{error}")))
}

/// One read, to its end.
#[inline(never)]
fn get(clock: &FakeClock, mux: &Mux, key: &str) -> Result<Bytes, StorageError> {
    run(clock, mux.get(key))
}

#[inline(never)]
fn words(report: &Report) {
    report.equal("time saturates", Instant::from_nanos(1) + Duration::MAX, Instant::MAX);
    report.equal("503 passes", classify(&StorageError::http(503)), ErrorClass::Transient);
    report.equal("403 does not", classify(&StorageError::http(403)), ErrorClass::Semantic);
    report.equal("a mode is known by name", "weighted".parse(), Ok(MuxMode::Weighted));
    let unknown = "fastest".parse::<MuxMode>().map_err(|error| error.code());
    report.equal("or not", unknown, Err(MuxCode::InvalidMode));
}

#[inline(never)]
fn retries(report: &Report) {
    let (clock, rng) = (FakeClock::new(), SeededRng::new(1));
    let options = RetryOptions::new()
        .with_max_attempts(3)
        .with_backoff(Backoff::exponential(millis(100), 2.0, millis(10_000)))
        .with_jitter(Jitter::None);
    let third = retry(&options, &clock, &rng).run(|attempt| async move {
        if attempt.number() < 3 { Err(()) } else { Ok(attempt.number()) }
    });
    let third = run(&clock, third);
    report.check("the third try succeeds", third.is_ok_and(|done| done.value == 3));
    report.equal("after 100 and 200 ms", clock.now(), Instant::ZERO + millis(300));

    let controller = AbortController::new();
    let signal = controller.signal();
    let fails = retry(&options, &clock, &rng)
        .with_signal(&signal)
        .run(|_| async { Err::<(), &str>("down") });
    let abort = async {
        clock.sleep(millis(10)).await;
        controller.abort();
    };
    let (result, ()) = run(&clock, join(fails, abort));
    report.check("an abort ends a sleep", matches!(result, Err(RetryError::Aborted)));
    report.equal("at once", clock.now(), Instant::ZERO + millis(310));
    report.equal("and nobody waits for it", controller.waiters(), 0);
}

#[inline(never)]
fn breaker(report: &Report) {
    let clock = FakeClock::new();
    let options = CircuitBreakerOptions::new()
        .with_failure_threshold(2)
        .with_success_threshold(1)
        .with_timeout(millis(500));
    let breaker = CircuitBreaker::new(options, clock.clone());
    let breaker = breaker.unwrap_or_else(|error| panic!("{error}"));
    let call = |result: Result<u8, &'static str>| {
        run(&clock, breaker.call(|| async move { result })).map_err(|error| error.code())
    };
    let _ = (call(Err("down")), call(Err("down")));
    report.equal("two failures open it", call(Ok(1)), Err("RETRY.CIRCUIT_OPEN"));
    clock.advance(millis(500));
    report.equal("time lets one try", call(Ok(2)), Ok(2));
    report.equal("which closes it", breaker.state(), CircuitState::Closed);
}

#[inline(never)]
fn failover(report: &Report) {
    let (clock, stores, mux) = world(MuxMode::Failover);
    let get_key = |key| get(&clock, &mux, key);
    let get = || get_key("k");
    report.check("the first is asked", get().is_ok_and(|value| value == "of a"));
    stores[0].set_always(Fault::Hang);
    let before = clock.now();
    report.check("the second stands in", get().is_ok_and(|value| value == "of b"));
    report.equal("after the timeout", clock.now() - before, millis(50));
    report.check("and again", get().is_ok_and(|value| value == "of b"));
    report.equal("without another", clock.now() - before, millis(50));
    let status = |at: usize| mux.stats().backends.get(at).map(|backend| backend.status);
    report.equal("the first is down", status(0), Some(BackendStatus::Down));

    stores[0].set_always(Fault::None);
    clock.advance(Duration::from_secs(2));
    report.check("a probe finds it well", get().is_ok_and(|value| value == "of a"));
    report.equal("so it is up", status(0), Some(BackendStatus::Up));
    let missing = get_key("nothing");
    report.equal("a miss is an answer", missing, Err(StorageError::key_not_found()));

    stores.iter().for_each(|store| store.set_always(Fault::Fail(StorageError::http(500))));
    let down = get().err().is_some_and(|error| error.is_mux(MuxCode::AllBackendsDown));
    report.check("none is left in the end", down);
}

#[inline(never)]
fn spread(report: &Report) {
    report.equal("each has its turn", asked(MuxMode::RoundRobin, 6), [3, 3]);
    let [light, heavy] = asked(MuxMode::Weighted, 16);
    report.check("weights are kept", light.abs_diff(4) <= 3 && light + heavy == 16);
    let sticky = asked(MuxMode::StickyByKey, 6);
    report.check("a key stays", [[6, 0], [0, 6]].contains(&sticky));
}

/// How often each store is asked by so many reads of one key.
#[inline(never)]
fn asked(mode: MuxMode, reads: u32) -> [usize; 2] {
    let (clock, stores, mux) = world(mode);
    (0..reads).for_each(|_| drop(get(&clock, &mux, "k")));
    [stores[0].calls(), stores[1].calls()]
}

#[inline(never)]
fn race(report: &Report) {
    let (clock, stores, mux) = world(MuxMode::Mirror);
    stores[0].push(Fault::Delay(millis(30)));
    stores[1].push(Fault::Delay(millis(5)));
    let value = get(&clock, &mux, "k");
    report.check("the faster peer wins", value.is_ok_and(|value| value == "of b"));
    report.equal("in its own time", clock.now(), Instant::ZERO + millis(5));
    report.equal("the slower is cancelled", clock.waiting(), 0);
}

#[inline(never)]
fn drain(report: &Report) {
    let (clock, stores, mux) = world(MuxMode::Failover);
    stores[0].push(Fault::Delay(millis(20)));
    let ended = Cell::new(Instant::MAX);
    let call = mux.get("k");
    let drain = async {
        clock.sleep(millis(1)).await;
        let drained = mux.drain("a").await;
        ended.set(clock.now());
        drained
    };
    let other = async {
        clock.sleep(millis(2)).await;
        mux.get("k").await
    };
    let (first, drained, second) = run(&clock, join3(call, drain, other));
    report.check("the call under way is served", first.is_ok_and(|value| value == "of a"));
    report.check("the next one goes elsewhere", second.is_ok_and(|value| value == "of b"));
    let gone = drained.is_ok() && ended.get() == Instant::ZERO + millis(20);
    report.check("the drain waits for it", gone && names(&mux) == ["b"]);
}

fn names(mux: &Mux) -> Vec<storage_mux::BackendName> {
    mux.stats().backends.into_iter().map(|backend| backend.name).collect()
}
