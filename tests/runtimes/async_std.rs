//! The shared body on async-std, in real time of a few milliseconds.

mod body;

use core::time::Duration;

use storage_mux::runtime::async_std::{AsyncStdClock, entropy_seed, spawn_health_checks};
use storage_mux::{Clock, Instant};

struct AsyncStd;

impl body::Runtime for AsyncStd {
    type Clock = AsyncStdClock;

    const UNIT: Duration = Duration::from_millis(2);

    fn clock(&self) -> AsyncStdClock {
        AsyncStdClock::new()
    }

    async fn with_checks<F: Future>(
        &self,
        mux: &body::Checked<AsyncStdClock>,
        scenario: F,
    ) -> F::Output {
        let _checks = spawn_health_checks(mux);
        scenario.await
    }
}

macro_rules! claim {
    ($name:ident) => {
        #[test]
        fn $name() {
            async_std::task::block_on(body::$name(AsyncStd));
        }
    };
}

body::for_each_claim!(claim);

/// Spec: P-1, P-2
#[test]
fn the_epoch_is_the_making_of_the_clock_and_copies_share_it() {
    let before = std::time::Instant::now();
    let clock = AsyncStdClock::new();
    let (copy, first) = (clock, clock.now());
    let second = copy.now();
    assert!(first <= second);
    assert!(second <= Instant::from_epoch(before.elapsed()), "the epoch lies before its making");
    assert_ne!(entropy_seed(), entropy_seed());
}
