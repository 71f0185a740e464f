//! One epoch for all clocks of a process.

use core::time::Duration;
use std::sync::OnceLock;
use std::time;

use crate::time::Instant;

/// How far the epoch lies before the first reading. A runtime that was made with its time paused
/// stands at a moment before that reading, and must not stand before the epoch.
const LEAD: Duration = Duration::from_secs(3_600);

/// What the first reading sets. Of real time and not of a runtime's: one whose time is paused and
/// advanced would put the epoch past the present of all others.
struct Epoch {
    start: time::Instant,
    /// What the start is called: later than zero where a platform, which may count from its own
    /// start, cannot go back that far.
    called: Instant,
}

static EPOCH: OnceLock<Epoch> = OnceLock::new();

impl Epoch {
    fn new() -> Self {
        let now = time::Instant::now();
        match now.checked_sub(LEAD) {
            Some(start) => Self { start, called: Instant::ZERO },
            None => Self { start: now, called: Instant::from_epoch(LEAD) },
        }
    }
}

/// A moment as time since the epoch, which the first call sets. A deadline means the same to every
/// clock that is read through this.
#[inline]
pub(super) fn since_epoch(moment: time::Instant) -> Instant {
    let Epoch { start, called } = EPOCH.get_or_init(Epoch::new);
    match moment.checked_duration_since(*start) {
        Some(after) => *called + after,
        None => {
            let before = start.saturating_duration_since(moment);
            Instant::from_epoch((*called - Instant::ZERO).saturating_sub(before))
        }
    }
}
