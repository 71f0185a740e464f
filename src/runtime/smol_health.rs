//! Health checks as a task of a smol executor.

use ::async_executor::{Executor, Task};

use crate::mux::StorageMux;
use crate::port::{Clock, Storage};
use crate::rng::Rng;

/// A running schedule of health checks. Dropping it stops the checks.
///
/// The schedule also ends by itself when the mux is closed or its last handle is dropped.
#[derive(Debug)]
#[must_use = "dropping the guard stops the checks"]
pub struct HealthCheckGuard(Task<()>);

impl HealthCheckGuard {
    /// Whether the schedule has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }
}

/// Spawns [`StorageMux::health_checks`] on an executor, which somebody has to run.
///
/// On the global executor of smol, `smol::spawn(mux.health_checks())` does the same: its task, too,
/// stops the checks when it is dropped.
///
/// ```
/// use core::time::Duration;
/// use storage_mux::runtime::smol::{SmolClock, entropy_seed, spawn_health_checks};
/// use storage_mux::{Backend, HealthCheck, MemoryStorage, MuxOptions, SeededRng, StorageMux};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let check = HealthCheck::has("canary");
/// let mux = StorageMux::builder(SmolClock::new(), SeededRng::new(entropy_seed()))
///     .backend(Backend::new("only", MemoryStorage::new()).with_health_check(check))
///     .options(MuxOptions::new().with_health_check_interval(Duration::from_secs(5)))
///     .build()?;
/// let executor = smol::Executor::new();
/// let checks = spawn_health_checks(&executor, &mux);
/// smol::block_on(executor.run(async {
///     // ... serve ...
/// }));
/// drop(checks);
/// # Ok(())
/// # }
/// ```
pub fn spawn_health_checks<S, C, R>(
    executor: &Executor<'_>,
    mux: &StorageMux<S, C, R>,
) -> HealthCheckGuard
where
    S: Storage + 'static,
    C: Clock<Sleep: Send> + Send + Sync + 'static,
    R: Rng + Send + Sync + 'static,
{
    HealthCheckGuard(executor.spawn(mux.health_checks()))
}
