//! A clock that moves only when it is told to.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;

use crate::port::Clock;
use crate::sync::{Arc, AtomicU64, Lock, Ordering};
use crate::time::{Instant, nanos};

/// A clock that stands still until [`advance`](Self::advance) moves it. Clones share the time.
///
/// It also counts: how often it was read, how many timers were made, how many are waited for.
#[derive(Clone, Debug, Default)]
pub struct FakeClock(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    now: AtomicU64,
    reads: AtomicU64,
    timers_made: AtomicU64,
    /// Who waits, by deadline and, among equals, in the order of asking.
    waiting: Lock<BTreeMap<(u64, u64), Waker>>,
}

impl FakeClock {
    /// A clock at its epoch.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Moves on by `duration` and wakes every timer that this passes, in order.
    pub fn advance(&self, duration: Duration) {
        self.jump(Instant::from_nanos(self.0.now.load(Ordering::SeqCst)) + duration);
    }

    /// Jumps to any instant, also back, and wakes the timers that lie at or before it.
    pub fn jump(&self, to: Instant) {
        self.0.now.store(to.as_nanos(), Ordering::SeqCst);
        let due: Vec<Waker> = self.0.waiting.with(|waiting| {
            let later = waiting.split_off(&(to.as_nanos(), u64::MAX));
            core::mem::replace(waiting, later).into_values().collect()
        });
        due.into_iter().for_each(Waker::wake);
    }

    /// Moves on to the next timer that is waited for. False where there is none to come.
    #[must_use = "false says that no timer is left"]
    pub fn advance_to_next(&self) -> bool {
        let Some(next) = self.next_timer() else { return false };
        let now = Instant::from_nanos(self.0.now.load(Ordering::SeqCst));
        self.jump(next.max(now));
        true
    }

    /// When the next timer is due that is waited for. None where none is, or where it never ends.
    #[must_use]
    pub fn next_timer(&self) -> Option<Instant> {
        let next = self.0.waiting.with(|waiting| waiting.keys().next().map(|(at, _)| *at));
        next.filter(|at| *at < u64::MAX).map(Instant::from_nanos)
    }

    /// How many timers are waited for now.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.0.waiting.with(|waiting| waiting.len())
    }

    /// How many timers were made since the beginning.
    #[must_use]
    pub fn timers_made(&self) -> u64 {
        self.0.timers_made.load(Ordering::SeqCst)
    }

    /// How often the time was read since the beginning, this clock's own methods apart.
    #[must_use]
    pub fn reads(&self) -> u64 {
        self.0.reads.load(Ordering::SeqCst)
    }
}

impl Clock for FakeClock {
    type Sleep = FakeSleep;

    fn now(&self) -> Instant {
        self.0.reads.fetch_add(1, Ordering::SeqCst);
        Instant::from_nanos(self.0.now.load(Ordering::SeqCst))
    }

    fn sleep(&self, duration: Duration) -> FakeSleep {
        let id = self.0.timers_made.fetch_add(1, Ordering::SeqCst);
        let at = self.0.now.load(Ordering::SeqCst).saturating_add(nanos(duration));
        FakeSleep { clock: self.0.clone(), key: (at, id) }
    }
}

/// A timer of a [`FakeClock`].
#[derive(Debug)]
#[must_use = "a future does nothing unless it is awaited"]
pub struct FakeSleep {
    clock: Arc<Inner>,
    key: (u64, u64),
}

impl Future for FakeSleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let (at, _) = self.key;
        let mut old = None;
        let done = self.clock.waiting.with(|waiting| {
            // The end of time never comes: it stands for "never".
            let done = at < u64::MAX && self.clock.now.load(Ordering::SeqCst) >= at;
            if !done {
                old = waiting.insert(self.key, cx.waker().clone());
            }
            done
        });
        drop(old);
        if done { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for FakeSleep {
    fn drop(&mut self) {
        drop(self.clock.waiting.with(|waiting| waiting.remove(&self.key)));
    }
}
