//! Active health checks: a schedule on the injected clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_util::future::{join, select};
use futures_util::{FutureExt, pin_mut};
use storage_mux::sim::{FakeClock, Fault, FaultStorage, Recorder, run};
use storage_mux::{
    Backend, BackendStatus, Clock, Event, HealthCheck, Instant, MemoryStorage, MuxCode, SeededRng,
    StorageError, StorageMux,
};

use crate::support::{Store, TestMux, ms, plain};

struct Checked {
    clock: FakeClock,
    recorder: Recorder,
    store: Store,
    mux: TestMux,
}

fn checked(interval: Duration) -> Checked {
    let clock = FakeClock::new();
    let recorder = Recorder::new();
    let store = FaultStorage::new(MemoryStorage::new(), clock.clone());
    let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
        .backend(Backend::new("a", store.clone()).with_health_check(HealthCheck::has("canary")))
        .options(plain().with_health_check_interval(interval))
        .event_sink(recorder.clone())
        .build()
        .expect("a mux");
    Checked { clock, recorder, store, mux }
}

impl Checked {
    /// Runs the checks until `time` has passed.
    fn for_a_time(&self, time: Duration) {
        let (checks, end) = (self.mux.health_checks(), self.clock.sleep(time));
        pin_mut!(checks, end);
        run(&self.clock, select(checks, end)).expect("runs");
    }

    fn status(&self) -> BackendStatus {
        self.mux.stats().backends[0].status
    }
}

/// Spec: HC-1, EV-1
#[test]
fn a_failing_check_takes_the_backend_down_with_its_code_as_the_cause() {
    let world = checked(ms(1_000));
    world.store.push(Fault::Fail(StorageError::http(503)));
    world.for_a_time(ms(1_500));
    assert_eq!((world.store.calls(), world.status()), (1, BackendStatus::Down));
    let events = world.recorder.events();
    let [Event::BackendDown { name, cause, code }] = &events[..] else { panic!("{events:?}") };
    assert_eq!((name.as_str(), *code), ("a", "STORAGE_MUX.HEALTHCHECK_FAILED"));
    let mux = cause.as_mux().expect("a mux error");
    assert_eq!(mux.code(), MuxCode::HealthcheckFailed);
    assert_eq!(mux.cause(), Some(&StorageError::http(503)));
    assert_eq!(world.mux.stats().total_calls, 0, "a check is no call");
}

/// Spec: HC-1
#[test]
fn a_check_that_hangs_fails_at_the_backend_timeout_and_its_signal_aborts() {
    let world = checked(ms(500));
    world.store.keep_signals();
    world.store.push(Fault::Hang);
    world.for_a_time(ms(1_600));
    assert_eq!(world.recorder.topics()[0], "storage-mux.backend.down");
    assert!(world.store.signals()[0].is_aborted());
    let error = world.mux.stats().backends[0].last_error.clone().expect("an error");
    let cause = error.as_mux().and_then(|mux| mux.cause()).expect("a cause");
    assert!(cause.is_mux(MuxCode::BackendTimeout));
}

/// Case HC-07. Spec: HC-2
#[test]
fn a_passing_check_brings_a_backend_back_at_once_its_cooldown_notwithstanding() {
    let world = checked(ms(300));
    world.store.push(Fault::Fail(StorageError::http(503)));
    run(&world.clock, world.mux.has("k")).expect("runs").expect_err("down");
    assert_eq!(world.mux.stats().backends[0].cooldown_until, Some(Instant::from_epoch(ms(1_000))));
    world.for_a_time(ms(300));
    assert_eq!(world.status(), BackendStatus::Up);
    let recovered = Event::BackendRecovered { name: "a".into(), down_for: ms(300) };
    assert_eq!(world.recorder.events().last(), Some(&recovered));
}

/// Case HC-06. Spec: HC-2
#[test]
fn a_check_that_fails_revives_nobody() {
    let world = checked(ms(300));
    world.store.set_always(Fault::Fail(StorageError::http(503)));
    run(&world.clock, world.mux.has("k")).expect("runs").expect_err("down");
    world.for_a_time(ms(1_500));
    assert_eq!(world.status(), BackendStatus::Down);
    assert_eq!(world.recorder.topics(), ["storage-mux.backend.down"]);
}

/// Spec: HE-5, HC-2
#[test]
fn a_check_that_is_answered_no_has_been_answered() {
    let world = checked(ms(300));
    world.store.set_always(Fault::Fail(StorageError::http(403)));
    world.for_a_time(ms(1_000));
    assert_eq!(world.status(), BackendStatus::Up);
}

/// Case HC-09. Spec: HC-1
#[test]
fn a_clock_that_jumps_causes_one_check_and_no_burst() {
    let world = checked(ms(1_000));
    let checks = world.mux.health_checks();
    pin_mut!(checks);
    assert!(checks.as_mut().now_or_never().is_none());
    world.clock.advance(ms(60_000));
    for _ in 0..10 {
        assert!(checks.as_mut().now_or_never().is_none());
    }
    assert_eq!(world.store.calls(), 1);
    world.clock.advance(ms(1_000));
    assert!(checks.as_mut().now_or_never().is_none());
    assert_eq!(world.store.calls(), 2);
}

/// Case HC-09. Spec: HC-1
#[test]
fn a_slow_check_is_not_joined_by_another_of_its_backend() {
    let world = checked(ms(100));
    world.store.set_always(Fault::Delay(ms(350)));
    world.for_a_time(ms(1_050));
    // Starts at 100, 500 and 900: each at the first tick after the one before has ended.
    assert_eq!(world.store.calls(), 3);
}

/// Case HC-12. Spec: HC-3
#[test]
fn closing_or_dropping_the_mux_stops_the_checks_for_good() {
    for drop_it in [false, true] {
        let Checked { clock, store, mux, .. } = checked(ms(1_000));
        let checks = mux.health_checks();
        let mut kept = Some(mux);
        let stop = async {
            clock.sleep(ms(2_500)).await;
            if drop_it {
                kept = None;
            } else if let Some(mux) = &kept {
                mux.close();
            }
        };
        run(&clock, join(checks, stop)).expect("the schedule ends by itself");
        assert_eq!(clock.now(), Instant::from_epoch(ms(2_500)));
        assert_eq!(store.calls(), 2);
        if let Some(mux) = kept {
            mux.health_checks().now_or_never().expect("a closed mux has no schedule");
            assert_eq!(run(&clock, mux.has("k")).expect("runs"), Ok(false), "calls go on");
        }
        assert_eq!(clock.waiting(), 0);
    }
}

/// Case HC-12. Spec: HC-3
#[test]
fn a_check_under_way_ends_with_the_mux_and_lets_go_of_the_backend() {
    let Checked { clock, store, mux, .. } = checked(ms(1_000));
    store.keep_signals();
    store.set_always(Fault::Hang);
    let held = Arc::new(());
    let witness = Arc::downgrade(&held);
    let checks = mux.health_checks();
    let stop = async {
        clock.sleep(ms(1_500)).await;
        drop((mux, held));
    };
    run(&clock, join(checks, stop)).expect("ends");
    assert!(store.signals()[0].is_aborted());
    assert!(witness.upgrade().is_none());
    assert_eq!(clock.waiting(), 0);
}

/// Spec: HC-1
#[test]
fn without_an_interval_or_without_a_check_nothing_is_asked() {
    let clock = FakeClock::new();
    let store = FaultStorage::new(MemoryStorage::new(), clock.clone());
    let off = StorageMux::builder(clock.clone(), SeededRng::new(1))
        .backend(Backend::new("a", store.clone()).with_health_check(HealthCheck::has("k")))
        .build()
        .expect("a mux");
    off.health_checks().now_or_never().expect("there is nothing to run");
    let unchecked = StorageMux::builder(clock.clone(), SeededRng::new(1))
        .backend(Backend::new("a", store.clone()))
        .options(plain().with_health_check_interval(ms(10)))
        .build()
        .expect("a mux");
    let (checks, end) = (unchecked.health_checks(), clock.sleep(ms(100)));
    pin_mut!(checks, end);
    run(&clock, select(checks, end)).expect("runs");
    assert_eq!(store.calls(), 0);
}

/// Spec: HC-1, HC-2
#[test]
fn a_check_may_be_a_function_of_ones_own() {
    let clock = FakeClock::new();
    let asked = Arc::new(AtomicU32::new(0));
    let count = asked.clone();
    let check = HealthCheck::custom(move |_| {
        let nth = count.fetch_add(1, Ordering::SeqCst);
        async move { if nth == 0 { Err(StorageError::http(500)) } else { Ok(()) } }
    });
    let recorder = Recorder::new();
    let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
        .backend(Backend::new("a", MemoryStorage::new()).with_health_check(check))
        .options(plain().with_health_check_interval(ms(100)))
        .event_sink(recorder.clone())
        .build()
        .expect("a mux");
    let (checks, end) = (mux.health_checks(), clock.sleep(ms(250)));
    pin_mut!(checks, end);
    run(&clock, select(checks, end)).expect("runs");
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    assert_eq!(recorder.topics(), ["storage-mux.backend.down", "storage-mux.backend.recovered"]);
}

/// Spec: DR-1, HC-1
#[test]
fn a_drain_waits_for_a_check_under_way_and_no_check_comes_after() {
    let world = checked(ms(100));
    world.store.set_always(Fault::Delay(ms(50)));
    let drain = async {
        world.clock.sleep(ms(120)).await;
        world.mux.drain("a").await.expect("drained");
        assert_eq!(world.clock.now(), Instant::from_epoch(ms(150)));
        world.clock.sleep(ms(1_000)).await;
        world.mux.close();
    };
    run(&world.clock, join(world.mux.health_checks(), drain)).expect("runs");
    assert_eq!(world.store.calls(), 1);
}
