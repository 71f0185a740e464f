//! A single-threaded executor on a fake clock: the same seed, the same order, every time.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::task::Wake;
use alloc::vec::Vec;
use core::fmt;
use core::future::Future;
use core::pin::{Pin, pin};
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll, Waker};
use core::time::Duration;

use super::run::MAX_POLLS;
use super::task::{Outcome, Task};
use super::{Dice, FakeClock, Stalled};
use crate::port::Clock;
use crate::sync::{AtomicU64, Lock};
use crate::time::Instant;

/// Set by whoever wakes a future, cleared by its poll.
#[derive(Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

struct Spawned<'a> {
    future: Pin<Box<dyn Future<Output = ()> + 'a>>,
    woken: Arc<Flag>,
    waker: Waker,
    cancelled: Arc<AtomicBool>,
}

impl Spawned<'_> {
    fn is_due(&self) -> bool {
        self.woken.0.load(Ordering::SeqCst) || self.cancelled.load(Ordering::SeqCst)
    }
}

/// Polls any number of tasks on one thread, in an order that is the same in every run, and moves a
/// [`FakeClock`] on to the next timer whenever all of them wait.
///
/// Tasks that are woken at the same moment take turns in the order in which they were spawned;
/// [`with_shuffle`](Self::with_shuffle) draws the order from a seed instead, so that a test over
/// many seeds sees many interleavings. The number of polls is bounded, so a hang is a failure and
/// not a hang. Dropping the executor drops the tasks that have not ended. No other thread may move
/// the same clock meanwhile.
///
/// ```
/// use core::time::Duration;
/// use storage_mux::Clock;
/// use storage_mux::sim::{Executor, FakeClock};
///
/// let clock = FakeClock::new();
/// let executor = Executor::new(&clock);
/// let slow = executor.spawn(async {
///     clock.sleep(Duration::from_secs(2)).await;
///     "slow"
/// });
/// let never = executor.spawn(core::future::pending::<()>());
///
/// executor.run_for(Duration::from_secs(1))?;
/// assert!(!slow.is_over());
/// assert_eq!(executor.run(slow)?, Some("slow"));
/// assert_eq!(clock.now().as_nanos(), 2_000_000_000);
///
/// never.cancel();
/// executor.run_all()?;
/// # Ok::<(), storage_mux::sim::Stalled>(())
/// ```
pub struct Executor<'a> {
    clock: FakeClock,
    shuffle: Option<Dice>,
    max_polls: u64,
    polls: AtomicU64,
    tasks: Lock<Vec<Spawned<'a>>>,
}

impl<'a> Executor<'a> {
    /// An executor without tasks, on the time of `clock`.
    #[must_use]
    pub fn new(clock: &FakeClock) -> Self {
        Self {
            clock: clock.clone(),
            shuffle: None,
            max_polls: MAX_POLLS,
            polls: AtomicU64::new(0),
            tasks: Lock::new(Vec::new()),
        }
    }

    /// Draws from `seed` which of the woken tasks is polled next.
    #[must_use]
    pub fn with_shuffle(mut self, seed: u64) -> Self {
        self.shuffle = Some(Dice::new(seed));
        self
    }

    /// Sets how many polls there may be in all, 10 million by default.
    #[must_use]
    pub const fn with_max_polls(mut self, polls: u64) -> Self {
        self.max_polls = polls;
        self
    }

    /// Takes a future in. It is polled only while one of the methods that run is under way.
    ///
    /// May be called while the executor runs, by a task that can reach it. Dropping the
    /// [`Task`] lets it go on unwatched; [`Task::cancel`] drops the future.
    pub fn spawn<F>(&self, future: F) -> Task<F::Output>
    where
        F: Future<Output: 'a> + 'a,
    {
        let outcome = Arc::new(Outcome::new());
        let cancelled = Arc::new(AtomicBool::new(false));
        let told = outcome.clone();
        let woken = Arc::new(Flag(AtomicBool::new(true)));
        let waker = Waker::from(woken.clone());
        let wake = waker.clone();
        let future = Box::pin(async move { told.end(Some(future.await)) });
        let spawned = Spawned { future, woken, waker, cancelled: cancelled.clone() };
        self.tasks.with(|tasks| tasks.push(spawned));
        Task::new(outcome, cancelled, wake)
    }

    /// Runs until `future` has ended, with all tasks beside it. Whenever everyone waits, the clock
    /// moves on to the next timer.
    ///
    /// # Errors
    ///
    /// [`Stalled`] where nothing could ever wake anyone again, or after too many polls.
    pub fn run<F: Future>(&self, future: F) -> Result<F::Output, Stalled> {
        let mut future = pin!(future);
        let flag = Arc::new(Flag(AtomicBool::new(true)));
        let waker = Waker::from(flag.clone());
        loop {
            if flag.0.swap(false, Ordering::SeqCst) {
                self.count_poll()?;
                if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker))
                {
                    return Ok(output);
                }
            }
            let polled = self.step()?;
            let idle = !polled && !flag.0.load(Ordering::SeqCst);
            if idle && !self.clock.advance_to_next() {
                return Err(self.stalled());
            }
        }
    }

    /// Runs until every task has ended, moving the clock where it must.
    ///
    /// # Errors
    ///
    /// [`Stalled`] where a task remains that nothing could ever wake again, or after too many
    /// polls.
    pub fn run_all(&self) -> Result<(), Stalled> {
        loop {
            self.settle()?;
            if self.tasks() == 0 {
                return Ok(());
            }
            if !self.clock.advance_to_next() {
                return Err(self.stalled());
            }
        }
    }

    /// Runs for `duration`, timer by timer, and leaves the clock at its end. Tasks may remain.
    ///
    /// # Errors
    ///
    /// [`Stalled`] after too many polls.
    pub fn run_for(&self, duration: Duration) -> Result<(), Stalled> {
        let end = self.clock.now() + duration;
        self.settle()?;
        while self.clock.next_timer().is_some_and(|next| next <= end) {
            if !self.clock.advance_to_next() {
                break;
            }
            self.settle()?;
        }
        if end > self.clock.now() && end < Instant::MAX {
            self.clock.jump(end);
        }
        self.settle()
    }

    /// Runs until every task waits. The clock stands still.
    ///
    /// # Errors
    ///
    /// [`Stalled`] after too many polls.
    pub fn settle(&self) -> Result<(), Stalled> {
        while self.step()? {}
        Ok(())
    }

    /// How many tasks have not ended, one that is being polled apart.
    #[must_use]
    pub fn tasks(&self) -> usize {
        self.tasks.with(|tasks| tasks.len())
    }

    /// How many polls there were so far.
    #[must_use]
    pub fn polls(&self) -> u64 {
        self.polls.load(Ordering::SeqCst)
    }

    /// Polls one task that was woken: the next in turn, or one by lot. False where none was.
    fn step(&self) -> Result<bool, Stalled> {
        let Some(mut spawned) = self.tasks.with(|tasks| self.pick(tasks)) else {
            return Ok(false);
        };
        let ended = spawned.cancelled.load(Ordering::SeqCst) || {
            self.count_poll()?;
            spawned.woken.0.store(false, Ordering::SeqCst);
            let mut cx = Context::from_waker(&spawned.waker);
            spawned.future.as_mut().poll(&mut cx).is_ready()
        };
        // A task that has ended is dropped here, outside the lock: that runs foreign code.
        if !ended {
            // To the end of the row, so that one that always wakes itself starves nobody.
            self.tasks.with(|tasks| tasks.push(spawned));
        }
        Ok(true)
    }

    fn pick(&self, tasks: &mut Vec<Spawned<'a>>) -> Option<Spawned<'a>> {
        let mut due = tasks.iter().enumerate().filter(|(_, task)| task.is_due());
        let place = match &self.shuffle {
            None => due.next()?.0,
            Some(dice) => {
                let count = due.clone().count();
                due.nth(dice.index(count)?)?.0
            }
        };
        Some(tasks.remove(place))
    }

    fn count_poll(&self) -> Result<(), Stalled> {
        let before = self.polls.fetch_add(1, Ordering::SeqCst);
        if before < self.max_polls { Ok(()) } else { Err(self.stalled()) }
    }

    fn stalled(&self) -> Stalled {
        Stalled { polls: self.polls() }
    }
}

impl fmt::Debug for Executor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executor")
            .field("tasks", &self.tasks())
            .field("polls", &self.polls())
            .finish_non_exhaustive()
    }
}
