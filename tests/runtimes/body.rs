//! What holds on every runtime, written once and compiled once for each.
//!
//! Where a runtime can pause time, these let seconds pass; where it cannot, a few milliseconds.
//! So nothing here says how fast anything is: a limit is either an hour or what must have passed.
//! What the backends do is on a clock of its own, the *wire*, which the claims move by hand.
//!
//! It needs no std, so that a microcontroller runs it too.
#![allow(dead_code)]

extern crate alloc;

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::future::Future;
use core::pin::pin;
use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;

use futures_util::future::{Either, join, join3, select};
use storage_mux::retry::{Backoff, Jitter, RetryError, RetryOptions, retry};
use storage_mux::sim::{FakeClock, Fault, FaultStorage, Recorder};
use storage_mux::{
    AbortController, Backend, BackendStatus, Clock, HealthCheck, Instant, MemoryStorage, MuxCode,
    MuxMode, MuxOptions, SeededRng, StorageError, StorageMux,
};

/// What a claim asks of a runtime.
pub(crate) trait Runtime {
    type Clock: Clock + Clone + 'static;

    /// The time that a claim lets pass where time must pass.
    const UNIT: Duration;

    fn clock(&self) -> Self::Clock;

    /// Drives `scenario` while the health checks of the mux run, and stops them when it ends. A
    /// runtime that can spawn does so.
    async fn with_checks<F: Future>(&self, mux: &Checked<Self::Clock>, scenario: F) -> F::Output {
        match select(pin!(mux.health_checks()), pin!(scenario)).await {
            Either::Left(((), scenario)) => scenario.await,
            Either::Right((output, _)) => output,
        }
    }
}

/// A mux whose health is checked.
pub(crate) type Checked<C> = StorageMux<MemoryStorage, C, SeededRng>;

type Faulty<C> = StorageMux<FaultStorage<MemoryStorage>, C, SeededRng>;

/// Calls a macro once with the name of each claim.
macro_rules! for_each_claim {
    ($claim:ident) => {
        $claim!(time_never_goes_back);
        $claim!(a_sleep_ends_no_earlier_than_it_should);
        $claim!(durations_too_long_to_tell_mean_never);
        $claim!(a_hung_primary_costs_one_timeout_and_the_second_answers);
        $claim!(the_first_peer_to_answer_wins_the_race_and_the_rest_is_cancelled);
        $claim!(a_retry_waits_between_its_tries);
        $claim!(an_abort_wakes_a_retry_from_its_sleep);
        $claim!(health_is_checked_once_an_interval_until_the_schedule_is_dropped);
        $claim!(no_check_follows_the_close_of_the_mux);
        $claim!(a_drain_waits_for_the_call_under_way);
    };
}
pub(crate) use for_each_claim;

/// Practically never, and yet told: no claim waits for it.
const HOUR: Duration = Duration::from_secs(3_600);

/// Past this something hangs. It does not pass unless something does.
const PATIENCE: Duration = Duration::from_secs(30);

/// Fails where a claim hangs.
async fn within<C: Clock, F: Future>(clock: &C, claim: F) -> F::Output {
    match select(pin!(claim), pin!(clock.sleep(PATIENCE))).await {
        Either::Left((output, _)) => output,
        Either::Right(_) => panic!("nothing has happened for {PATIENCE:?}"),
    }
}

/// The wire, stores on it named a and b that both have the key k, and their mux.
fn world<C: Clock>(
    clock: C,
    options: MuxOptions,
) -> (FakeClock, [FaultStorage<MemoryStorage>; 2], Faulty<C>) {
    let wire = FakeClock::new();
    let stores = [(); 2].map(|()| FaultStorage::new(MemoryStorage::new(), wire.clone()));
    let mux = StorageMux::builder(clock, SeededRng::new(1))
        .backend(Backend::new("a", stores[0].clone()))
        .backend(Backend::new("b", stores[1].clone()))
        .options(options.with_retry(RetryOptions::none()))
        .build()
        .expect("a mux of two stores");
    (wire, stores, mux)
}

async fn fill(stores: &[FaultStorage<MemoryStorage>; 2]) {
    let cx = storage_mux::OpContext::new();
    for (store, value) in stores.iter().zip(["of a", "of b"]) {
        let stored = storage_mux::Storage::set(store.inner(), "k", value.into(), &cx).await;
        stored.expect("memory takes the value");
    }
}

/// Spec: P-1
pub(crate) async fn time_never_goes_back<R: Runtime>(runtime: R) {
    let clock = runtime.clock();
    let mut last = clock.now();
    for _ in 0..1_000 {
        let now = clock.now();
        assert!(now >= last, "{now} comes after {last}");
        last = now;
    }
    within(&clock, clock.sleep(R::UNIT)).await;
    assert!(clock.now() > last, "time stands still");
}

/// Spec: P-1
pub(crate) async fn a_sleep_ends_no_earlier_than_it_should<R: Runtime>(runtime: R) {
    let clock = runtime.clock();
    // Whole milliseconds are what most timers count in, so the others are where they err.
    let odd = R::UNIT + Duration::from_nanos(1);
    for duration in [Duration::ZERO, Duration::from_nanos(1), R::UNIT / 3, R::UNIT, odd] {
        let before = clock.now();
        within(&clock, clock.sleep(duration)).await;
        let passed = clock.now() - before;
        assert!(passed >= duration, "{duration:?} were {passed:?}");
    }
}

/// Spec: P-1, HE-6
pub(crate) async fn durations_too_long_to_tell_mean_never<R: Runtime>(runtime: R) {
    let clock = runtime.clock();
    for long in [Duration::MAX, Duration::from_secs(u64::MAX / 10), Duration::from_secs(u64::MAX)] {
        match select(pin!(clock.sleep(long)), pin!(clock.sleep(R::UNIT))).await {
            Either::Left(_) => panic!("{long:?} are over"),
            Either::Right(((), _)) => {}
        }
        let options = MuxOptions::new().with_backend_timeout(long).with_cooldown(long, long);
        let (wire, stores, mux) = world(clock.clone(), options.with_health_check_interval(long));
        fill(&stores).await;
        stores[0].push(Fault::Delay(Duration::from_secs(1)));
        let (value, ()) = within(&clock, join(mux.get("k"), pass(&clock, &wire, R::UNIT))).await;
        assert_eq!(value.expect("the delay is within the limit"), "of a");
        stores[0].push(Fault::Fail(StorageError::http(503)));
        assert_eq!(within(&clock, mux.get("k")).await.expect("b answers"), "of b");
        assert_eq!(within(&clock, mux.get("k")).await.expect("a rests"), "of b");
    }
}

/// Lets a unit pass on the clock of the runtime, then two seconds on the wire.
async fn pass<C: Clock>(clock: &C, wire: &FakeClock, unit: Duration) {
    clock.sleep(unit).await;
    wire.advance(Duration::from_secs(2));
}

/// Spec: FO-1, FO-4, BH-1
pub(crate) async fn a_hung_primary_costs_one_timeout_and_the_second_answers<R: Runtime>(
    runtime: R,
) {
    let clock = runtime.clock();
    let options = MuxOptions::new().with_backend_timeout(R::UNIT).with_cooldown(HOUR, HOUR);
    let (_, stores, mux) = world(clock.clone(), options);
    fill(&stores).await;
    stores[0].set_always(Fault::Hang);
    let before = clock.now();
    assert_eq!(within(&clock, mux.get("k")).await.expect("b answers"), "of b");
    let passed = clock.now() - before;
    assert!(passed >= R::UNIT, "the timeout fired early, after {passed:?}");
    // The primary rests now: the next call does not wait for it.
    assert_eq!(within(&clock, mux.get("k")).await.expect("b answers"), "of b");
    let stats = mux.stats();
    assert_eq!(stats.backends[0].timeouts, 1);
    assert_eq!(stats.backends[0].status, BackendStatus::Down);
    assert_eq!(stats.backends[0].in_flight, 0);
    assert_eq!((stats.total_failovers, stats.backends[1].hits), (1, 2));
    assert_eq!(stores[0].calls(), 1);
}

/// Spec: MI-1
pub(crate) async fn the_first_peer_to_answer_wins_the_race_and_the_rest_is_cancelled<R: Runtime>(
    runtime: R,
) {
    let clock = runtime.clock();
    let options = MuxOptions::new().with_mode(MuxMode::Mirror).with_backend_timeout(HOUR);
    let (wire, stores, mux) = world(clock.clone(), options);
    fill(&stores).await;
    stores[0].push(Fault::Delay(HOUR));
    stores[1].push(Fault::Delay(Duration::from_secs(1)));
    let before = clock.now();
    let (value, ()) = within(&clock, join(mux.get("k"), pass(&clock, &wire, R::UNIT))).await;
    assert_eq!(value.expect("b answers"), "of b");
    assert!(clock.now() - before >= R::UNIT);
    assert_eq!(wire.waiting(), 0, "the slow peer is still waited for");
    assert_eq!(mux.stats().backends[0].in_flight, 0);
}

fn constant(delay: Duration) -> RetryOptions {
    RetryOptions::new()
        .with_max_attempts(3)
        .with_backoff(Backoff::constant(delay))
        .with_jitter(Jitter::None)
}

/// Spec: RT-01, RT-03
pub(crate) async fn a_retry_waits_between_its_tries<R: Runtime>(runtime: R) {
    let clock = runtime.clock();
    let (options, rng) = (constant(R::UNIT), SeededRng::new(1));
    let run = retry(&options, &clock, &rng).run(|attempt| async move {
        if attempt.number() < 3 { Err("not yet") } else { Ok("value") }
    });
    let done = within(&clock, run).await.expect("the third try succeeds");
    assert_eq!((done.value, done.attempts), ("value", 3));
    assert!(done.total_time >= R::UNIT * 2, "two waits took {:?}", done.total_time);
}

/// Spec: RT-02, AB-1
pub(crate) async fn an_abort_wakes_a_retry_from_its_sleep<R: Runtime>(runtime: R) {
    let clock = runtime.clock();
    let controller = AbortController::new();
    let signal = controller.signal();
    let (options, rng) = (constant(HOUR), SeededRng::new(1));
    let calls = AtomicU32::new(0);
    let run = retry(&options, &clock, &rng).with_signal(&signal).run(|_| {
        calls.fetch_add(1, Ordering::SeqCst);
        async { Err::<(), _>("down") }
    });
    let abort = async {
        clock.sleep(R::UNIT).await;
        controller.abort();
    };
    let before = clock.now();
    let (result, ()) = within(&clock, join(run, abort)).await;
    assert_eq!(result, Err(RetryError::Aborted));
    assert!(clock.now() - before >= R::UNIT, "nothing was slept");
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    assert_eq!(controller.waiters(), 0);
}

/// A mux with one backend, whose first check fails and whose others pass.
fn checked<R: Runtime>(clock: R::Clock) -> (Checked<R::Clock>, Arc<AtomicU32>, Recorder) {
    let (asked, recorder) = (Arc::new(AtomicU32::new(0)), Recorder::new());
    let count = asked.clone();
    let check = HealthCheck::custom(move |_| {
        let first = count.fetch_add(1, Ordering::SeqCst) == 0;
        async move { if first { Err(StorageError::http(503)) } else { Ok(()) } }
    });
    let mux = StorageMux::builder(clock, SeededRng::new(1))
        .backend(Backend::new("a", MemoryStorage::new()).with_health_check(check))
        .options(MuxOptions::new().with_health_check_interval(R::UNIT).with_cooldown(HOUR, HOUR))
        .event_sink(recorder.clone())
        .build()
        .expect("a mux");
    (mux, asked, recorder)
}

/// Waits until `checks` checks have begun.
async fn reached<R: Runtime>(clock: &R::Clock, asked: &AtomicU32, checks: u32) {
    while asked.load(Ordering::SeqCst) < checks {
        clock.sleep(R::UNIT / 2).await;
    }
}

/// No check begins any more. One that had begun on another thread is let go first.
async fn assert_no_more<R: Runtime>(clock: &R::Clock, asked: &AtomicU32) {
    clock.sleep(R::UNIT).await;
    let seen = asked.load(Ordering::SeqCst);
    clock.sleep(R::UNIT * 4).await;
    assert_eq!(asked.load(Ordering::SeqCst), seen, "a check began after the end");
}

/// Spec: HC-1, HC-2, HC-3
pub(crate) async fn health_is_checked_once_an_interval_until_the_schedule_is_dropped<R: Runtime>(
    runtime: R,
) {
    let clock = runtime.clock();
    let (mux, asked, recorder) = checked::<R>(clock.clone());
    let before: Instant = clock.now();
    let scenario = reached::<R>(&clock, &asked, 3);
    within(&clock, runtime.with_checks(&mux, scenario)).await;
    assert!(clock.now() - before >= R::UNIT * 3, "three checks in {:?}", clock.now() - before);
    assert_eq!(
        recorder.topics(),
        ["storage-mux.backend.down", "storage-mux.backend.recovered"],
        "the first check fails and the second passes"
    );
    assert_eq!(mux.stats().backends[0].status, BackendStatus::Up);
    assert_no_more::<R>(&clock, &asked).await;
}

/// Spec: HC-3
pub(crate) async fn no_check_follows_the_close_of_the_mux<R: Runtime>(runtime: R) {
    let clock = runtime.clock();
    let (mux, asked, _) = checked::<R>(clock.clone());
    let scenario = async {
        reached::<R>(&clock, &asked, 1).await;
        mux.close();
        assert_no_more::<R>(&clock, &asked).await;
    };
    within(&clock, runtime.with_checks(&mux, scenario)).await;
}

/// Spec: DR-1, DR-5
pub(crate) async fn a_drain_waits_for_the_call_under_way<R: Runtime>(runtime: R) {
    let clock = runtime.clock();
    let (wire, stores, mux) = world(clock.clone(), MuxOptions::new().with_backend_timeout(HOUR));
    fill(&stores).await;
    stores[0].push(Fault::Delay(Duration::from_secs(1)));
    let order = RefCell::new(Vec::new());
    let call = async {
        let value = mux.get("k").await;
        order.borrow_mut().push("answered");
        value
    };
    let drain = async {
        clock.sleep(R::UNIT).await;
        order.borrow_mut().push("drain begins");
        mux.drain("a").await.expect("a is known");
        order.borrow_mut().push("drained");
    };
    let answer = async {
        clock.sleep(R::UNIT * 3).await;
        // The drain waits: the backend is there, takes no calls, and the next one is asked.
        assert_eq!(mux.stats().backends[0].status, BackendStatus::Draining);
        assert_eq!(mux.get("k").await.expect("b answers"), "of b");
        order.borrow_mut().push("wire moves");
        wire.advance(Duration::from_secs(1));
    };
    let (value, (), ()) = within(&clock, join3(call, drain, answer)).await;
    assert_eq!(value.expect("a answers"), "of a");
    assert_eq!(*order.borrow(), ["drain begins", "wire moves", "answered", "drained"]);
    assert_eq!(mux.stats().backends.len(), 1);
    within(&clock, mux.drain("b")).await.expect("b is idle");
    let down = within(&clock, mux.get("k")).await.expect_err("nobody is left");
    assert!(down.is_mux(MuxCode::AllBackendsDown), "{down:?}");
}
