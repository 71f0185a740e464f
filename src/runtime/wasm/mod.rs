//! WASM in a browser's page or worker, in Node and the like: the host's timers as a
//! [`Clock`](crate::Clock), a seed for the default generator, and health checks beside everything
//! else.
//!
//! For `wasm32-unknown-unknown` alone; on other targets this module is empty.
//!
//! ```
//! # #[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
//! # async fn example() {
//! use core::time::Duration;
//! use storage_mux::Clock;
//! use storage_mux::runtime::wasm::WasmClock;
//!
//! let clock = WasmClock::new();
//! let before = clock.now();
//! clock.sleep(Duration::from_secs(2)).await;
//! assert!(clock.now() - before >= Duration::from_secs(2));
//! # }
//! ```

#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
mod clock;
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
mod entropy;
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
mod health;
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
mod sleep;
// Plain arithmetic, which is tested on the host as well.
#[cfg(any(test, all(target_arch = "wasm32", target_os = "unknown")))]
mod timer;

#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
pub use self::{
    clock::WasmClock,
    entropy::entropy_seed,
    health::{HealthCheckGuard, spawn_health_checks},
    sleep::Sleep,
};
// Promises of the host as futures, for the storages of the host.
#[cfg(all(feature = "web", target_arch = "wasm32", target_os = "unknown"))]
pub(crate) use ::wasm_bindgen_futures::{JsFuture, future_to_promise};
