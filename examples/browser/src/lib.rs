//! Notes that are kept in the browser and on a server, whichever of the two is there.
//!
//! A mux in mirror mode: a write goes to both, a read is answered by the faster. While the server
//! is away the page works on; the mux leaves the server alone until it is back.

use std::time::Duration;

use storage_mux::backend::{FetchStorage, IndexedDbStorage};
use storage_mux::retry::RetryOptions;
use storage_mux::runtime::wasm::{HealthCheckGuard, WasmClock, entropy_seed, spawn_health_checks};
use storage_mux::{
    Backend, Event, HealthCheck, LocalHandle, MuxMode, MuxOptions, SeededRng, StorageMux,
};
use wasm_bindgen::prelude::{JsError, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    /// The page's own function: something has happened.
    #[wasm_bindgen(js_name = onMuxEvent)]
    fn on_mux_event(topic: &str, event: &str);
}

/// The notes of the page.
#[wasm_bindgen]
pub struct Notes {
    mux: StorageMux<LocalHandle, WasmClock, SeededRng>,
    _checks: HealthCheckGuard,
}

#[wasm_bindgen]
impl Notes {
    /// Opens the notes: in the browser's database, and below an address of the server.
    ///
    /// # Errors
    ///
    /// Where the mux cannot be built.
    #[wasm_bindgen(constructor)]
    pub fn new(address: String) -> Result<Self, JsError> {
        let browser = Backend::new("browser", LocalHandle::new(IndexedDbStorage::new("notes")));
        let server = Backend::new("server", LocalHandle::new(FetchStorage::new(address)))
            .with_health_check(HealthCheck::has("canary"));
        let options = MuxOptions::new()
            .with_mode(MuxMode::Mirror)
            .with_backend_timeout(Duration::from_secs(2))
            .with_health_check_interval(Duration::from_millis(500))
            // A person waits: move on rather than try again.
            .with_retry(RetryOptions::none());
        let mux = StorageMux::builder(WasmClock::new(), SeededRng::new(entropy_seed()))
            .backend(browser)
            .backend(server)
            .options(options)
            .event_sink(|event: &Event| on_mux_event(event.topic(), &format!("{event:?}")))
            .build()?;
        let _checks = spawn_health_checks(&mux);
        Ok(Self { mux, _checks })
    }

    /// Keeps a note.
    ///
    /// # Errors
    ///
    /// Where neither the browser nor the server took it.
    pub async fn save(&self, name: String, text: String) -> Result<(), JsError> {
        self.mux.set(&name, text).await?;
        Ok(())
    }

    /// Reads a note.
    ///
    /// # Errors
    ///
    /// Where neither has it.
    pub async fn load(&self, name: String) -> Result<String, JsError> {
        Ok(String::from_utf8_lossy(&self.mux.get(&name).await?).into_owned())
    }

    /// How the two are: a line each.
    #[must_use]
    pub fn report(&self) -> String {
        let backends = self.mux.stats().backends;
        let lines = backends.iter().map(|backend| {
            let (hits, errors) = (backend.hits, backend.errors);
            format!("{}: {:?}, {hits} answers, {errors} errors\n", backend.name, backend.status)
        });
        lines.collect()
    }
}
