//! How long the next timer of a JavaScript host may be.
//!
//! A host keeps the delay of a timer in a signed 32-bit count of milliseconds. A longer one wraps
//! and fires at once, or after what is left of it: a longer sleep is made of several timers.

use core::time::Duration;

/// The longest timer that fires when it should, in milliseconds: some 24.8 days.
pub(super) const LONGEST_TIMER_MS: u32 = i32::MAX as u32;

/// The delay, in milliseconds, of the next timer of a sleep that has `left` to go.
///
/// Rounded up to whole milliseconds, so that the last timer does not end before the sleep.
pub(super) fn next_timer_ms(left: Duration) -> u32 {
    let whole = left.as_nanos().div_ceil(1_000_000);
    u32::try_from(whole).map_or(LONGEST_TIMER_MS, |ms| ms.min(LONGEST_TIMER_MS))
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    /// The timers of a whole sleep, each as long as the one before left to go.
    fn timers(sleep: Duration) -> Vec<u32> {
        let (mut left, mut timers) = (sleep, Vec::new());
        while !left.is_zero() {
            let ms = next_timer_ms(left);
            left = left.saturating_sub(Duration::from_millis(ms.into()));
            timers.push(ms);
        }
        timers
    }

    /// The bound, written out: what the hosts' `ToInt32` keeps of a positive number.
    const BOUND_MS: u64 = (1 << 31) - 1;

    #[test]
    fn a_sleep_up_to_the_bound_is_one_timer_and_past_it_several() {
        assert_eq!(timers(Duration::from_millis(BOUND_MS - 1)), [0x7fff_fffe]);
        assert_eq!(timers(Duration::from_millis(BOUND_MS)), [0x7fff_ffff]);
        assert_eq!(timers(Duration::from_millis(BOUND_MS + 1)), [0x7fff_ffff, 1]);
    }

    #[test]
    fn the_timers_of_a_long_sleep_add_up_to_the_whole() {
        let days = 25 * 24 * 60 * 60 * 1_000;
        for ms in [BOUND_MS, BOUND_MS + 1, days, (1 << 32) + 5_000, 1 << 40] {
            let timers = timers(Duration::from_millis(ms));
            assert_eq!(timers.iter().map(|ms| u64::from(*ms)).sum::<u64>(), ms);
            assert!(timers.iter().all(|ms| u64::from(*ms) <= BOUND_MS), "{ms}: {timers:?}");
        }
        assert_eq!(timers(Duration::from_millis(days)), [0x7fff_ffff, 12_516_353]);
        assert_eq!(
            timers(Duration::from_millis((1 << 32) + 5_000)),
            [0x7fff_ffff, 0x7fff_ffff, 5_002]
        );
    }

    #[test]
    fn the_longest_sleep_there_is_goes_by_longest_timers() {
        assert_eq!(next_timer_ms(Duration::MAX), 0x7fff_ffff);
        let after = Duration::MAX.saturating_sub(Duration::from_millis(BOUND_MS));
        assert_eq!(next_timer_ms(after), 0x7fff_ffff);
    }

    #[test]
    fn a_part_of_a_millisecond_is_rounded_up_and_nothing_stays_nothing() {
        assert_eq!(next_timer_ms(Duration::ZERO), 0);
        assert_eq!(next_timer_ms(Duration::from_nanos(1)), 1);
        assert_eq!(next_timer_ms(Duration::from_nanos(1_000_000)), 1);
        assert_eq!(next_timer_ms(Duration::from_nanos(1_000_001)), 2);
        let just_short = Duration::from_millis(BOUND_MS) - Duration::from_nanos(1);
        assert_eq!(timers(just_short), [0x7fff_ffff]);
    }
}
