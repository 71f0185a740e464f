//! The shared body on async-std, in real time of a few milliseconds.

mod body;

use core::time::Duration;

use storage_mux::Clock;
use storage_mux::runtime::async_std::{AsyncStdClock, entropy_seed, spawn_health_checks};

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
fn all_clocks_share_one_epoch_and_seeds_differ() {
    let (one, before) = (AsyncStdClock::new(), AsyncStdClock::new().now());
    let between = one.now();
    assert!(before <= between && between <= AsyncStdClock::default().now());
    assert!(between - before < Duration::from_secs(60), "the epochs lie apart");
    assert_ne!(entropy_seed(), entropy_seed());
}
