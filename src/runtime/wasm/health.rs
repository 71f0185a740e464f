//! Health checks as a task of the JavaScript host's event loop.

use alloc::rc::{Rc, Weak};

use embassy_futures::select::select;
use wasm_bindgen_futures::spawn_local;

use crate::mux::StorageMux;
use crate::port::{Clock, LocalStorage};
use crate::rng::Rng;
use crate::sync::AbortController;

/// A running schedule of health checks. Dropping it stops the checks, before the next event of the
/// page or worker.
///
/// The schedule also ends by itself when the mux is closed or its last handle is dropped.
#[derive(Debug)]
#[must_use = "dropping the guard stops the checks"]
pub struct HealthCheckGuard {
    stop: AbortController,
    task: Weak<()>,
}

impl HealthCheckGuard {
    /// Whether the schedule has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.task.strong_count() == 0
    }
}

impl Drop for HealthCheckGuard {
    fn drop(&mut self) {
        self.stop.abort();
    }
}

/// Spawns [`StorageMux::health_checks`] on the event loop of this page or worker.
///
/// ```no_run
/// use core::time::Duration;
/// use storage_mux::runtime::wasm::{WasmClock, entropy_seed, spawn_health_checks};
/// use storage_mux::{Backend, HealthCheck, MemoryStorage, MuxOptions, SeededRng, StorageMux};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let check = HealthCheck::has("canary");
/// let mux = StorageMux::builder(WasmClock::new(), SeededRng::new(entropy_seed()))
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
    S: LocalStorage + 'static,
    C: Clock + 'static,
    R: Rng + 'static,
{
    let (stop, alive) = (AbortController::new(), Rc::new(()));
    let guard = HealthCheckGuard { stop: stop.clone(), task: Rc::downgrade(&alive) };
    let (stopped, checks) = (stop.signal(), mux.health_checks());
    spawn_local(async move {
        select(stopped.aborted(), checks).await;
        drop(alive);
    });
    guard
}
