//! How long a failed backend rests.

use core::time::Duration;

/// The bounds of a cooldown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cooldown {
    /// The first cooldown.
    pub(crate) base: Duration,
    /// The longest that failures alone can cause.
    pub(crate) cap: Duration,
}

impl Cooldown {
    /// The doublings after which a cooldown grows no more.
    const MAX_DOUBLINGS: u32 = 6;

    /// The cooldown after a failure that `failures_before` others came right before, and at least
    /// what the backend itself asked for: its word stands above our cap.
    pub(crate) fn after(self, failures_before: u32, retry_after: Option<Duration>) -> Duration {
        let doublings = failures_before.min(Self::MAX_DOUBLINGS);
        let grown = self.base.saturating_mul(1 << doublings).min(self.cap);
        grown.max(retry_after.unwrap_or(Duration::ZERO))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Spec: HE-2
    #[test]
    fn it_doubles_with_each_failure_six_times_and_never_passes_the_cap() {
        let free = Cooldown { base: SECOND, cap: Duration::MAX };
        let seconds: [u64; 9] = core::array::from_fn(|n| free.after(n as u32, None).as_secs());
        assert_eq!(seconds, [1, 2, 4, 8, 16, 32, 64, 64, 64]);
        let capped = Cooldown { base: SECOND, cap: 5 * SECOND };
        assert_eq!(capped.after(2, None), 4 * SECOND);
        assert_eq!(capped.after(3, None), 5 * SECOND);
        assert_eq!(capped.after(20, None), 5 * SECOND);
    }

    /// Spec: HE-2
    #[test]
    fn what_the_backend_asked_for_is_the_least_even_above_the_cap() {
        let cooldown = Cooldown { base: SECOND, cap: 5 * SECOND };
        assert_eq!(cooldown.after(0, Some(SECOND / 2)), SECOND);
        assert_eq!(cooldown.after(0, Some(3 * SECOND)), 3 * SECOND);
        assert_eq!(cooldown.after(9, Some(90 * SECOND)), 90 * SECOND);
    }

    /// Spec: HE-6
    #[test]
    fn a_base_that_would_overflow_saturates() {
        let endless = Cooldown { base: Duration::MAX, cap: Duration::MAX };
        assert_eq!(endless.after(u32::MAX, None), Duration::MAX);
    }
}
