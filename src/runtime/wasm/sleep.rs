//! The time and the timers of a JavaScript host.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;

use gloo_timers::future::TimeoutFuture;
use wasm_bindgen::prelude::wasm_bindgen;

use super::timer::next_timer_ms;
use crate::time::Instant;

#[wasm_bindgen]
extern "C" {
    /// Milliseconds since the time origin, with a fraction.
    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    fn performance_now() -> f64;
}

pub(super) fn now() -> Instant {
    let ms = performance_now();
    // Casts saturate and take what is no number for zero. Split, so that neither part is rounded.
    let whole = ms as u64;
    let rest_nanos = ((ms - whole as f64) * 1e6) as u64;
    Instant::from_epoch(Duration::from_millis(whole)) + Duration::from_nanos(rest_nanos)
}

/// The sleep of a [`WasmClock`](super::WasmClock).
///
/// The host's timer is set when the future is first polled, and cleared when it is dropped.
#[derive(Debug)]
#[must_use = "a future does nothing unless it is awaited"]
pub struct Sleep {
    until: Instant,
    timer: Option<TimeoutFuture>,
}

impl Sleep {
    pub(super) const fn until(until: Instant) -> Self {
        Self { until, timer: None }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            // Asked again after each timer: hosts round, and Node may fire a millisecond early.
            let left = self.until - now();
            if left.is_zero() {
                self.timer = None;
                return Poll::Ready(());
            }
            let timer = self.timer.get_or_insert_with(|| TimeoutFuture::new(next_timer_ms(left)));
            ready!(Pin::new(timer).poll(cx));
            self.timer = None;
        }
    }
}
