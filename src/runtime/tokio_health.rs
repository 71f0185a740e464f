//! Health checks as a task of the tokio runtime.

use ::tokio::task::JoinHandle;

use crate::mux::StorageMux;
use crate::port::{Clock, Storage};
use crate::rng::Rng;

/// A running schedule of health checks. Dropping it stops the checks.
///
/// The schedule also ends by itself when the mux is closed or its last handle is dropped.
#[derive(Debug)]
#[must_use = "dropping the guard stops the checks"]
pub struct HealthCheckGuard(JoinHandle<()>);

impl HealthCheckGuard {
    /// Whether the schedule has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }
}

impl Drop for HealthCheckGuard {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Spawns [`StorageMux::health_checks`] on the current runtime.
///
/// # Panics
///
/// Outside of a tokio runtime, as `tokio::spawn` does.
///
/// ```
/// use core::time::Duration;
/// use storage_mux::runtime::tokio::{TokioClock, entropy_seed, spawn_health_checks};
/// use storage_mux::{Backend, HealthCheck, MemoryStorage, MuxOptions, SeededRng, StorageMux};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let check = HealthCheck::has("canary");
/// let mux = StorageMux::builder(TokioClock::new(), SeededRng::new(entropy_seed()))
///     .backend(Backend::new("only", MemoryStorage::new()).with_health_check(check))
///     .options(MuxOptions::new().with_health_check_interval(Duration::from_secs(5)))
///     .build()?;
/// let checks = spawn_health_checks(&mux);
/// // ... serve ...
/// drop(checks);
/// # Ok(())
/// # }
/// ```
pub fn spawn_health_checks<S, C, R>(mux: &StorageMux<S, C, R>) -> HealthCheckGuard
where
    S: Storage + 'static,
    C: Clock<Sleep: Send> + Send + Sync + 'static,
    R: Rng + Send + Sync + 'static,
{
    HealthCheckGuard(::tokio::spawn(mux.health_checks()))
}
