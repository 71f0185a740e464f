//! A JavaScript host whose clock and timers a test moves by hand.

use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

#[wasm_bindgen]
extern "C" {
    type Handle;

    #[wasm_bindgen(method)]
    fn fire(this: &Handle, early: f64) -> bool;
    #[wasm_bindgen(method)]
    fn set_now(this: &Handle, now: f64);
    #[wasm_bindgen(method)]
    fn armed(this: &Handle) -> u32;
    #[wasm_bindgen(method)]
    fn delays(this: &Handle) -> Vec<JsValue>;
    #[wasm_bindgen(method)]
    fn restore(this: &Handle);
}

/// While it lives, `performance.now`, `setTimeout` and `clearTimeout` are its own. It keeps a
/// delay as real hosts do, in 32 bits with a sign.
pub struct FakeHost(Handle);

impl FakeHost {
    /// Takes the host's place. One at a time.
    ///
    /// # Panics
    ///
    /// Where the host does not evaluate text.
    #[must_use]
    pub fn install() -> Self {
        let handle = js_sys::eval(include_str!("fake_host.js")).expect("the host evaluates text");
        Self(handle.unchecked_into())
    }

    /// Moves time to the next timer and fires it. False where there is none.
    #[must_use]
    pub fn fire(&self) -> bool {
        self.0.fire(0.0)
    }

    /// The same, with time `early` milliseconds short of the timer's.
    #[must_use]
    pub fn fire_early(&self, early: f64) -> bool {
        self.0.fire(early)
    }

    /// Sets the time, in milliseconds; whatever a number can be.
    pub fn set_now(&self, now: f64) {
        self.0.set_now(now);
    }

    /// How many timers are set.
    #[must_use]
    pub fn armed(&self) -> u32 {
        self.0.armed()
    }

    /// The delay of every timer that was ever asked for.
    ///
    /// # Panics
    ///
    /// Where one is no number.
    #[must_use]
    pub fn delays(&self) -> Vec<f64> {
        self.0.delays().iter().map(|delay| delay.as_f64().expect("a delay is a number")).collect()
    }
}

impl Drop for FakeHost {
    fn drop(&mut self) {
        self.0.restore();
    }
}
