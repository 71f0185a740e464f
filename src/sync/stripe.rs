//! Values that are written by every call, one share for each of a few threads.
//!
//! Two processors that write the same cache line wait for one another, however weak the ordering.
//! With a share of its own a thread writes what no other one does, and a reader adds them up.

use crate::sync::Ordering;

/// How many shares there are. More threads than that meet again, a few in each.
#[cfg(all(feature = "std", not(loom)))]
pub(crate) const STRIPES: usize = 8;
/// One thread, or no way to tell threads apart.
#[cfg(not(any(feature = "std", loom)))]
pub(crate) const STRIPES: usize = 1;
/// As many as it takes to model more than one.
#[cfg(loom)]
pub(crate) const STRIPES: usize = 2;

/// Which share a thread writes. Whoever counts in keeps it, to count out in the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stripe(u8);

impl Stripe {
    /// That of this thread: threads get theirs in turn, when they first ask.
    #[cfg(all(feature = "std", not(loom)))]
    pub(crate) fn current() -> Self {
        use core::cell::Cell;

        use crate::sync::AtomicU32;

        const NONE: u8 = u8::MAX;
        static NEXT: AtomicU32 = AtomicU32::new(0);
        std::thread_local! {
            static OWN: Cell<u8> = const { Cell::new(NONE) };
        }
        OWN.with(|own| {
            if own.get() == NONE {
                own.set(Self::nth(NEXT.fetch_add(1, Ordering::Relaxed)).0);
            }
            Self(own.get())
        })
    }

    /// The first, where threads cannot be told apart.
    #[cfg(any(not(feature = "std"), loom))]
    pub(crate) const fn current() -> Self {
        Self(0)
    }

    /// The share of the thread that came as number `at`.
    #[cfg_attr(not(feature = "std"), allow(dead_code))]
    pub(crate) const fn nth(at: u32) -> Self {
        // Less than 256, so the cast keeps it whole.
        Self((at % STRIPES as u32) as u8)
    }

    /// A number below [`STRIPES`] that is zero for `home` itself.
    pub(crate) const fn relative_to(self, home: Self) -> u64 {
        (self.0 ^ home.0) as u64
    }
}

/// On cache lines of its own. Two of them, as processors fetch lines in pairs. Where there is one
/// stripe there is nobody to stay away from.
#[cfg_attr(feature = "std", repr(align(128)))]
#[derive(Debug, Default)]
pub(crate) struct Apart<T>(pub(crate) T);

/// A share of a value for each stripe.
#[derive(Debug)]
pub(crate) struct Striped<T>([Apart<T>; STRIPES]);

impl<T: Default> Default for Striped<T> {
    fn default() -> Self {
        Self(core::array::from_fn(|_| Apart(T::default())))
    }
}

impl<T> Striped<T> {
    /// The share of a stripe.
    pub(crate) fn of(&self, stripe: Stripe) -> &T {
        // Every stripe was made below the length.
        &self.0.get(usize::from(stripe.0)).unwrap_or(&self.0[0]).0
    }

    /// All shares.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|share| &share.0)
    }
}

/// Counts up in the share of this thread; wraps after 2^64.
impl Striped<crate::sync::AtomicU64> {
    pub(crate) fn count(&self) {
        self.of(Stripe::current()).fetch_add(1, Ordering::Relaxed);
    }

    /// What all have counted together.
    pub(crate) fn sum(&self) -> u64 {
        self.iter().fold(0, |sum, share| sum.wrapping_add(share.load(Ordering::Relaxed)))
    }
}

#[cfg(all(test, feature = "std", not(loom)))]
mod tests {
    use super::*;
    use crate::sync::AtomicU64;

    #[test]
    fn threads_take_turns_and_each_keeps_its_stripe() {
        let next = || std::thread::spawn(|| [Stripe::current(), Stripe::current()]);
        let taken: alloc::vec::Vec<_> = (0..STRIPES)
            .map(|_| {
                let [first, second] = next().join().unwrap();
                assert_eq!(first, second);
                first
            })
            .collect();
        // Threads of other tests take turns too, so not all are seen here.
        assert!(taken.iter().any(|stripe| *stripe != taken[0]), "{taken:?}");
    }

    #[test]
    fn shares_lie_on_cache_lines_of_their_own() {
        let striped = Striped::<AtomicU64>::default();
        let places: alloc::vec::Vec<_> =
            striped.iter().map(|share| core::ptr::from_ref(share).addr()).collect();
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= 128), "{places:?}");
    }

    #[test]
    fn what_threads_count_apart_adds_up() {
        let striped = Striped::<AtomicU64>::default();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1_000).for_each(|_| striped.count()));
            }
        });
        assert_eq!(striped.sum(), 4_000);
    }

    #[test]
    fn a_stripe_is_told_from_every_other_one_seen_from_any_home() {
        for home in (0..STRIPES as u32).map(Stripe::nth) {
            let mut seen: alloc::vec::Vec<_> =
                (0..STRIPES as u32).map(|at| Stripe::nth(at).relative_to(home)).collect();
            assert_eq!(home.relative_to(home), 0);
            seen.sort_unstable();
            assert_eq!(seen, (0..STRIPES as u64).collect::<alloc::vec::Vec<_>>());
        }
    }
}
