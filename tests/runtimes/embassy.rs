//! The shared body on embassy's time, with a driver that is moved by hand.

mod body;

use core::pin::pin;
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Wake, Waker};

use embassy_time::MockDriver;
use storage_mux::runtime::embassy::EmbassyClock;
use storage_mux::{Clock, Instant};

struct Embassy;

impl body::Runtime for Embassy {
    type Clock = EmbassyClock;

    const UNIT: Duration = Duration::from_millis(500);

    fn clock(&self) -> EmbassyClock {
        EmbassyClock
    }
}

/// The driver is one for the whole program, so one test at a time has it.
static TURN: Mutex<()> = Mutex::new(());

/// How far the driver is moved at a time. Divides no unit evenly, so nothing is due on the dot.
const STEP: embassy_time::Duration = embassy_time::Duration::from_micros(700);

/// More time than any claim lets pass.
const MAX_STEPS: u32 = 1_000_000;

#[derive(Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Polls a future whenever it was woken, and moves the driver on whenever it was not.
fn run<F: Future>(future: F) -> F::Output {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    MockDriver::get().reset();
    let flag = Arc::new(Flag::default());
    let waker = Waker::from(flag.clone());
    let mut future = pin!(future);
    let mut steps = 0;
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        while !flag.0.swap(false, Ordering::SeqCst) {
            MockDriver::get().advance(STEP);
            steps += 1;
            assert!(steps < MAX_STEPS, "the future hangs");
        }
    }
}

macro_rules! claim {
    ($name:ident) => {
        #[test]
        fn $name() {
            run(body::$name(Embassy));
        }
    };
}

body::for_each_claim!(claim);

/// Spec: P-1
#[test]
fn time_is_that_of_the_driver_to_the_tick() {
    run(async {
        assert_eq!(EmbassyClock.now(), Instant::ZERO);
        MockDriver::get().advance(embassy_time::Duration::from_micros(1_500_001));
        assert_eq!(EmbassyClock.now(), Instant::from_nanos(1_500_001_000));
    });
}

/// Spec: P-1, HE-6
#[test]
fn time_goes_on_where_its_nanoseconds_are_too_many_to_tell() {
    run(async {
        // A driver of one megahertz overflows a product with a thousand after 584 years.
        MockDriver::get().advance(embassy_time::Duration::from_ticks(u64::MAX / 1_000 + 1));
        assert_eq!(EmbassyClock.now(), Instant::MAX);
        MockDriver::get().advance(embassy_time::Duration::from_ticks(u64::MAX / 2));
        assert_eq!(EmbassyClock.now(), Instant::MAX);
        drop(EmbassyClock.sleep(Duration::MAX));
    });
}

/// Spec: P-1
#[test]
fn a_sleep_is_rounded_up_to_whole_ticks() {
    run(async {
        for (nanos, ticks) in [(1, 1), (999, 1), (1_000, 1), (1_001, 2), (2_000, 2)] {
            let mut sleep = EmbassyClock.sleep(Duration::from_nanos(nanos));
            for _ in 0..ticks {
                assert!(now_or_never(&mut sleep).is_none(), "{nanos} ns end early");
                MockDriver::get().advance(embassy_time::Duration::from_ticks(1));
            }
            assert!(now_or_never(&mut sleep).is_some(), "{nanos} ns end late");
        }
    });
}

fn now_or_never<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    futures_util::FutureExt::now_or_never(future)
}
