//! One epoch for all clocks of a process.

use core::time::Duration;
use std::sync::OnceLock;
use std::time;

use crate::time::Instant;

/// Real time and not a runtime's: one whose time is paused and advanced would put the epoch past
/// the present of all others.
static EPOCH: OnceLock<time::Instant> = OnceLock::new();

/// How far the epoch lies before the first reading. A runtime that was made with its time paused
/// stands at a moment before that reading, and must not stand before the epoch.
const LEAD: Duration = Duration::from_secs(3_600);

/// A moment as time since the epoch, which the first call sets. A deadline means the same to every
/// clock that is read through this.
pub(super) fn since_epoch(moment: time::Instant) -> Instant {
    let epoch = *EPOCH.get_or_init(time::Instant::now);
    match moment.checked_duration_since(epoch) {
        Some(after) => Instant::from_epoch(after) + LEAD,
        None => Instant::from_epoch(LEAD.saturating_sub(epoch.saturating_duration_since(moment))),
    }
}
