//! Values that are written by every call, one share for each of a few threads.
//!
//! Two processors that write the same cache line wait for one another, however weak the ordering.
//! With a share of its own a thread writes what no other one does, and a reader adds them up.

use crate::sync::Ordering;

/// How many shares threads have for themselves.
#[cfg(all(feature = "std", not(loom)))]
const OWN: usize = 8;
/// None where there is one thread, or no way to tell threads apart.
#[cfg(not(all(feature = "std", not(loom))))]
const OWN: usize = 0;

/// How many shares the others have in common, each of them one.
#[cfg(all(feature = "std", not(loom)))]
const COMMON: usize = 8;
#[cfg(not(any(feature = "std", loom)))]
const COMMON: usize = 1;
/// As many as it takes to model more than one.
#[cfg(loom)]
const COMMON: usize = 2;

/// How many shares there are: those of single threads, then the common ones.
pub(crate) const STRIPES: usize = OWN + COMMON;

/// Which share a thread writes. Whoever counts in keeps it, to count out in the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stripe(u8);

impl Stripe {
    /// That of this thread, from when it first asks until it ends: its own where one is left then,
    /// else a common one.
    #[cfg(all(feature = "std", not(loom)))]
    #[inline]
    pub(crate) fn current() -> Self {
        Self(own::number())
    }

    /// The common one, where threads cannot be told apart.
    #[cfg(any(not(feature = "std"), loom))]
    pub(crate) const fn current() -> Self {
        Self(0)
    }

    /// Whether a thread has it for itself.
    const fn is_own(self) -> bool {
        self.0 as usize + COMMON < STRIPES
    }

    /// The share of this number, counted around.
    #[cfg(test)]
    pub(crate) const fn nth(at: u32) -> Self {
        // Less than 256, so the cast keeps it whole.
        Self((at % STRIPES as u32) as u8)
    }

    /// A number below [`STRIPES`] that is zero for `home` itself.
    pub(crate) const fn relative_to(self, home: Self) -> u64 {
        (self.0 ^ home.0) as u64
    }
}

/// The numbers of threads.
#[cfg(all(feature = "std", not(loom)))]
mod own {
    use core::cell::Cell;

    use super::{COMMON, OWN};
    use crate::sync::{AtomicU32, Ordering};

    /// A bit for each number that a thread has for itself.
    static TAKEN: AtomicU32 = AtomicU32::new(0);
    /// How many threads came when none was left.
    static LATECOMERS: AtomicU32 = AtomicU32::new(0);

    /// The number of a thread that has not asked yet.
    const NONE: u8 = u8::MAX;

    std::thread_local! {
        static NUMBER: Cell<u8> = const { Cell::new(NONE) };
        static LEASE: Lease = const { Lease(Cell::new(NONE)) };
    }

    /// Gives a thread's own number back when the thread ends. It knows the number itself: on some
    /// platforms the other one is gone before it.
    struct Lease(Cell<u8>);

    impl Drop for Lease {
        fn drop(&mut self) {
            let number = self.0.get();
            if usize::from(number) < OWN {
                // Destructors that come after may still count, but no longer alone.
                NUMBER.try_with(|kept| kept.set(common())).ok();
                // Whoever takes it next sees all that was written under it.
                TAKEN.fetch_and(!(1 << number), Ordering::Release);
            }
        }
    }

    /// The number of this thread.
    #[inline]
    pub(super) fn number() -> u8 {
        match NUMBER.get() {
            NONE => take(),
            number => number,
        }
    }

    #[cold]
    fn take() -> u8 {
        // A thread that is ending could not give one back.
        let leased = LEASE.try_with(|lease| {
            if lease.0.get() == NONE {
                lease.0.set(lowest_free().unwrap_or(NONE));
            }
            lease.0.get()
        });
        let number = leased.ok().filter(|number| *number != NONE).unwrap_or_else(common);
        NUMBER.set(number);
        number
    }

    fn lowest_free() -> Option<u8> {
        let free = |taken: u32| (!taken).trailing_zeros();
        let take = |taken| (free(taken) < OWN as u32).then(|| taken | 1 << free(taken));
        let before = TAKEN.fetch_update(Ordering::Acquire, Ordering::Relaxed, take).ok()?;
        u8::try_from(free(before)).ok()
    }

    fn common() -> u8 {
        let turn = LATECOMERS.fetch_add(1, Ordering::Relaxed) % COMMON as u32;
        // Far below 256, so the cast keeps it whole.
        (OWN as u32 + turn) as u8
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

/// Counts up in the share of this thread, and tells which that is; wraps after 2^64.
impl Striped<crate::sync::AtomicU64> {
    #[inline]
    pub(crate) fn count(&self) -> Stripe {
        let stripe = Stripe::current();
        let share = self.of(stripe);
        if stripe.is_own() {
            // This thread's own: nobody else writes it, so nothing can come in between.
            share.store(share.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        } else {
            share.fetch_add(1, Ordering::Relaxed);
        }
        stripe
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

    /// A thread that tells its stripe and lives until it is told to end.
    fn thread() -> (Stripe, std::sync::mpsc::Sender<()>, std::thread::JoinHandle<()>) {
        let (tell, told) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            tell.send([Stripe::current(), Stripe::current()]).unwrap();
            ended.recv().unwrap_err();
        });
        let [first, second] = told.recv().unwrap();
        assert_eq!(first, second, "a thread keeps its stripe");
        (first, end, thread)
    }

    #[test]
    fn no_two_threads_at_a_time_have_the_same_stripe_unless_it_is_a_common_one() {
        // Threads of other tests have stripes too, so how many are left is not known.
        for _ in 0..3 {
            let threads: alloc::vec::Vec<_> = (0..2 * STRIPES).map(|_| thread()).collect();
            let all = threads.iter().map(|(stripe, ..)| stripe);
            let own: alloc::vec::Vec<_> =
                all.filter(|stripe| stripe.is_own()).map(|stripe| stripe.0).collect();
            let mut apart = own.clone();
            apart.sort_unstable();
            apart.dedup();
            assert_eq!(apart.len(), own.len(), "{own:?}");
            assert!(own.len() < threads.len(), "there are not that many");
            for (_, end, thread) in threads {
                drop(end);
                thread.join().unwrap();
            }
        }
    }

    #[test]
    fn a_thread_that_ends_gives_its_stripe_back() {
        // Far more threads than stripes, one after the other: each would find none left otherwise.
        let own = (0..20 * STRIPES).filter(|_| {
            let (stripe, end, thread) = thread();
            drop(end);
            thread.join().unwrap();
            stripe.is_own()
        });
        assert!(own.count() > STRIPES, "other tests hold no more than a few at a time");
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
        let all_there = std::sync::Barrier::new(2 * STRIPES);
        let crowded = OWN as u8;
        // Whoever has a stripe alone counts a little; those of one common stripe for as long as it
        // takes to get in each other's way, which Miri sees at once.
        let count = || {
            let stripe = Stripe::current();
            all_there.wait();
            let times = match (stripe.is_own(), stripe.0 == crowded) {
                (true, _) => 1_000,
                (false, true) if cfg!(miri) => 50,
                (false, true) => 2_000_000,
                (false, false) => 0,
            };
            (0..times).for_each(|_| _ = striped.count());
            times
        };
        let counted: u64 = std::thread::scope(|scope| {
            let threads: [_; 2 * STRIPES] = core::array::from_fn(|_| scope.spawn(count));
            threads.map(|thread| thread.join().unwrap()).iter().sum()
        });
        assert_eq!(striped.sum(), counted);
    }

    #[test]
    fn a_thread_counts_to_its_very_end() {
        static COUNTED: std::sync::LazyLock<Striped<AtomicU64>> =
            std::sync::LazyLock::new(Striped::default);

        /// Counts in a destructor, before or after the number of the thread is given back.
        struct Late;

        impl Drop for Late {
            fn drop(&mut self) {
                (0..100).for_each(|_| _ = COUNTED.count());
            }
        }

        std::thread_local! {
            static FIRST: Late = const { Late };
            static LAST: Late = const { Late };
        }

        std::thread::scope(|scope| {
            for _ in 0..2 * STRIPES {
                scope.spawn(|| {
                    FIRST.with(|_| ());
                    COUNTED.count();
                    LAST.with(|_| ());
                });
            }
        });
        // The scope ends with the closures, and not with what threads do after them.
        let due = 2 * STRIPES as u64 * 201;
        while COUNTED.sum() < due {
            std::thread::yield_now();
        }
        assert_eq!(COUNTED.sum(), due);
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
