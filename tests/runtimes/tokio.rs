//! The shared body on tokio, in paused time.

mod body;

use core::time::Duration;

use storage_mux::runtime::tokio::{TokioClock, spawn_health_checks};

struct Tokio;

impl body::Runtime for Tokio {
    type Clock = TokioClock;

    const UNIT: Duration = Duration::from_millis(500);

    fn clock(&self) -> TokioClock {
        TokioClock::new()
    }

    async fn with_checks<F: Future>(
        &self,
        mux: &body::Checked<TokioClock>,
        scenario: F,
    ) -> F::Output {
        let _checks = spawn_health_checks(mux);
        scenario.await
    }
}

macro_rules! claim {
    ($name:ident) => {
        #[tokio::test(start_paused = true)]
        async fn $name() {
            body::$name(Tokio).await;
        }
    };
}

body::for_each_claim!(claim);
