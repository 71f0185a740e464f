//! The shared body on smol, in real time of a few milliseconds.

mod body;

use core::time::Duration;

use storage_mux::Clock;
use storage_mux::runtime::smol::{SmolClock, entropy_seed, spawn_health_checks};

/// An executor that the test's own thread runs.
struct Smol<'a>(&'a smol::Executor<'static>);

impl body::Runtime for Smol<'_> {
    type Clock = SmolClock;

    const UNIT: Duration = Duration::from_millis(2);

    fn clock(&self) -> SmolClock {
        SmolClock::new()
    }

    async fn with_checks<F: Future>(
        &self,
        mux: &body::Checked<SmolClock>,
        scenario: F,
    ) -> F::Output {
        let _checks = spawn_health_checks(self.0, mux);
        scenario.await
    }
}

/// smol's global executor, which runs on threads of its own.
struct Global;

impl body::Runtime for Global {
    type Clock = SmolClock;

    const UNIT: Duration = Duration::from_millis(2);

    fn clock(&self) -> SmolClock {
        SmolClock::new()
    }

    async fn with_checks<F: Future>(
        &self,
        mux: &body::Checked<SmolClock>,
        scenario: F,
    ) -> F::Output {
        let _checks = smol::spawn(mux.health_checks());
        scenario.await
    }
}

macro_rules! claim {
    ($name:ident) => {
        #[test]
        fn $name() {
            let executor = smol::Executor::new();
            smol::block_on(executor.run(body::$name(Smol(&executor))));
        }
    };
}

body::for_each_claim!(claim);

/// Spec: HC-1, HC-3
#[test]
fn the_global_executor_runs_the_checks_as_well() {
    smol::block_on(async {
        body::health_is_checked_once_an_interval_until_the_schedule_is_dropped(Global).await;
        body::no_check_follows_the_close_of_the_mux(Global).await;
    });
}

/// Spec: P-1, P-2
#[test]
fn all_clocks_share_one_epoch_and_seeds_differ() {
    let (one, before) = (SmolClock::new(), SmolClock::new().now());
    let between = one.now();
    assert!(before <= between && between <= SmolClock::default().now());
    assert!(between - before < Duration::from_secs(60), "the epochs lie apart");
    assert_ne!(entropy_seed(), entropy_seed());
}
