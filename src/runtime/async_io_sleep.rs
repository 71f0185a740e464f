//! A timer of async-io, the reactor under smol and under async-std.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;

use ::async_io::Timer;

/// A timer of async-io. It counts from its making; dropping it frees it.
///
/// One that is too long to tell (`Duration::MAX`) never fires.
#[derive(Debug)]
#[must_use = "a future does nothing unless it is awaited"]
pub struct Sleep(Timer);

impl Sleep {
    pub(super) fn new(duration: Duration) -> Self {
        Self(Timer::after(duration))
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.0).poll(cx).map(|_| ())
    }
}
