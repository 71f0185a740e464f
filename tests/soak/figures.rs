//! What the callers did, and what the process takes.

use std::fmt;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// No call is under way.
const IDLE: u64 = u64::MAX;

pub(crate) struct Figures {
    start: Instant,
    /// When the call of each caller began, in milliseconds.
    begun: Vec<AtomicU64>,
    good: AtomicU64,
    failed: AtomicU64,
    dropped: AtomicU64,
    longest_ms: AtomicU64,
}

impl Figures {
    pub(crate) fn new(callers: usize) -> Self {
        Self {
            start: Instant::now(),
            begun: (0..callers).map(|_| AtomicU64::new(IDLE)).collect(),
            good: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            longest_ms: AtomicU64::new(0),
        }
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).expect("a run of some minutes")
    }

    pub(crate) fn begins(&self, caller: usize) {
        self.begun[caller].store(self.now_ms(), Ordering::SeqCst);
    }

    /// A call has ended well, badly, or was dropped.
    pub(crate) fn ends(&self, caller: usize, well: Option<bool>) {
        let begun = self.begun[caller].swap(IDLE, Ordering::SeqCst);
        self.longest_ms.fetch_max(self.now_ms().saturating_sub(begun), Ordering::SeqCst);
        let counter = match well {
            Some(true) => &self.good,
            Some(false) => &self.failed,
            None => &self.dropped,
        };
        counter.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn calls(&self) -> u64 {
        let all = [&self.good, &self.failed, &self.dropped];
        all.into_iter().map(|each| each.load(Ordering::SeqCst)).sum()
    }

    /// Watches for `length`, and gives by how many KiB memory has grown since a third of it.
    pub(crate) async fn watch(&self, length: Duration, stuck: Duration) -> u64 {
        let ticks = 30;
        let (mut settled, mut last) = (0, 0);
        for tick in 1..=ticks {
            tokio::time::sleep(length / ticks).await;
            let now = self.now_ms();
            for (caller, begun) in self.begun.iter().enumerate() {
                let begun = begun.load(Ordering::SeqCst);
                let age = if begun == IDLE { 0 } else { now.saturating_sub(begun) };
                assert!(u128::from(age) < stuck.as_millis(), "caller {caller} is stuck: {age} ms");
            }
            last = resident_kib();
            if tick == ticks / 3 {
                settled = last;
            }
            println!("{now:>8} ms  {:>10} calls  {last:>8} KiB", self.calls());
        }
        last.saturating_sub(settled)
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let read = |counter: &AtomicU64| counter.load(Ordering::SeqCst);
        write!(
            f,
            "{} calls served, {} failed, {} dropped; the longest took {} ms",
            read(&self.good),
            read(&self.failed),
            read(&self.dropped),
            read(&self.longest_ms)
        )
    }
}

/// What the process has in memory, where the system tells.
fn resident_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.trim().split(' ').next()?.parse().ok());
    number.unwrap_or(0)
}
