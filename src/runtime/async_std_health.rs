//! Health checks as a task of async-std.

use ::async_std::task;
use embassy_futures::select::select;

use crate::mux::StorageMux;
use crate::port::{Clock, Storage};
use crate::rng::Rng;
use crate::sync::AbortController;

/// A running schedule of health checks. Dropping it stops the checks.
///
/// The schedule also ends by itself when the mux is closed or its last handle is dropped.
#[derive(Debug)]
#[must_use = "dropping the guard stops the checks"]
pub struct HealthCheckGuard(AbortController);

impl Drop for HealthCheckGuard {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Spawns [`StorageMux::health_checks`] on the global executor.
///
/// ```
/// use core::time::Duration;
/// use storage_mux::runtime::async_std::{AsyncStdClock, entropy_seed, spawn_health_checks};
/// use storage_mux::{Backend, HealthCheck, MemoryStorage, MuxOptions, SeededRng, StorageMux};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let check = HealthCheck::has("canary");
/// let mux = StorageMux::builder(AsyncStdClock::new(), SeededRng::new(entropy_seed()))
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
    let guard = AbortController::new();
    let dropped = guard.signal();
    let checks = mux.health_checks();
    // A handle of async-std detaches when it is dropped, and cancels only where one can await.
    task::spawn(async move {
        select(dropped.aborted(), checks).await;
    });
    HealthCheckGuard(guard)
}
