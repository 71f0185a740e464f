//! The clock of a JavaScript host.

use core::time::Duration;

use super::sleep::{Sleep, now};
use crate::port::Clock;
use crate::time::Instant;

/// The time of a JavaScript host: `performance.now` and `setTimeout`, of whatever global object
/// there is.
///
/// Its epoch is the time origin of the page or worker, so instants of two workers must not be
/// mixed. Reading it costs a call into the host; the resolution is what the host grants, from five
/// microseconds to a millisecond.
///
/// A sleep stays on its thread, so the calls of a mux with this clock are for `spawn_local`. A
/// timer is whole milliseconds, rounded up, and a host may delay it: by 4 ms where timers nest,
/// by a second and more in a page that nobody sees. A sleep longer than the 24.8 days that a host
/// can count (`Duration::MAX` among them) goes by several timers and never ends early.
#[derive(Clone, Copy, Debug, Default)]
pub struct WasmClock(());

impl WasmClock {
    /// The clock of this page or worker.
    #[must_use]
    pub const fn new() -> Self {
        Self(())
    }
}

impl Clock for WasmClock {
    type Sleep = Sleep;

    fn now(&self) -> Instant {
        now()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        Sleep::until(now() + duration)
    }
}
