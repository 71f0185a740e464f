//! A seed of chance from the cryptography of a JavaScript host.

use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(catch, js_namespace = crypto, js_name = getRandomValues)]
    fn get_random_values(into: &mut [u8]) -> Result<(), JsValue>;

    /// A number in `0.0..1.0`.
    #[wasm_bindgen(js_namespace = Math)]
    fn random() -> f64;
}

/// A seed that differs from call to call and from page to page, out of `crypto.getRandomValues`.
///
/// Where the host has no such function (Node 18) it is the fraction of `Math.random`. Good enough
/// to spread retries and picks; not for secrets.
///
/// ```no_run
/// use storage_mux::SeededRng;
/// use storage_mux::runtime::wasm::entropy_seed;
///
/// let rng = SeededRng::new(entropy_seed());
/// # let _ = rng;
/// ```
#[must_use]
pub fn entropy_seed() -> u64 {
    let mut seed = [0; 8];
    match get_random_values(&mut seed) {
        Ok(()) => u64::from_le_bytes(seed),
        Err(_) => random().to_bits(),
    }
}
