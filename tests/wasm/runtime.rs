//! What holds on every runtime, under a JavaScript host.
#![cfg(all(target_arch = "wasm32", target_os = "unknown"))]

#[path = "../runtimes/body.rs"]
mod body;

use core::time::Duration;

use storage_mux::runtime::wasm::{WasmClock, spawn_health_checks};
use wasm_bindgen_test::wasm_bindgen_test;

struct Wasm;

impl body::Runtime for Wasm {
    type Clock = WasmClock;

    const UNIT: Duration = Duration::from_millis(20);

    fn clock(&self) -> WasmClock {
        WasmClock::new()
    }

    async fn with_checks<F: Future>(
        &self,
        mux: &body::Checked<WasmClock>,
        scenario: F,
    ) -> F::Output {
        let _checks = spawn_health_checks(mux);
        scenario.await
    }
}

macro_rules! claim {
    ($name:ident) => {
        #[wasm_bindgen_test]
        async fn $name() {
            body::$name(Wasm).await;
        }
    };
}

body::for_each_claim!(claim);
