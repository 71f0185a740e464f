//! A fair sample of all latencies since the start, in constant memory.

use core::time::Duration;

use crate::rng::{GAMMA, below, mix};
use crate::sync::{AtomicU32, Ordering, Stripe};
use crate::time::Lapse;

/// How many samples a backend keeps.
pub(crate) const SLOTS: usize = 256;

/// Where a record stands among all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// How many were recorded before it, at least: those of the other stripes may be more by now.
    pub(crate) at_least: u64,
    /// How many of its own stripe were recorded before it.
    pub(crate) here: u64,
    /// A number that no other record has.
    pub(crate) serial: u64,
    pub(crate) stripe: Stripe,
}

/// A uniform random sample of everything that was recorded: Algorithm R.
///
/// The sample is over the whole life, not over the recent past. It counts nothing: whoever counts
/// the outcomes knows the place of each. A draw is SplitMix64's output for the serial number of the
/// record, so the generator needs no state of its own and no two records share a draw.
///
/// Records at the very same time may take themselves for earlier than they are. Of the first `N`
/// none is lost for that: each takes a slot that is free.
///
/// Source: J. S. Vitter, "Random sampling with a reservoir", ACM TOMS 11(1), 1985.
#[derive(Debug)]
pub(crate) struct Reservoir<const N: usize = SLOTS> {
    seed: u64,
    slots: [AtomicU32; N],
}

/// Latencies by nearest rank, each one that was really measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Percentiles {
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
}

impl<const N: usize> Reservoir<N> {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, slots: core::array::from_fn(|_| AtomicU32::new(EMPTY)) }
    }

    /// Keeps a latency, or not. `before` tells how many were recorded before it; it is only asked
    /// where that can matter, since it looks at what other threads write.
    ///
    /// A record is kept where its draw falls into the first `N` of as many slots as there are
    /// records. A draw that misses them among few records misses them among more.
    #[inline]
    pub(crate) fn record(&self, place: Place, latency: Lapse, before: impl FnOnce() -> u64) {
        let sample = encode(latency);
        if place.at_least < N as u64 && self.fill(place.at_least, sample) {
            return;
        }
        let draw = mix(self.seed.wrapping_add(place.serial.wrapping_mul(GAMMA)));
        let among = |before: u64| below(draw, before.saturating_add(1).max(N as u64));
        if among(place.at_least) >= N as u64 {
            return;
        }
        // The slot is below N for every record that is kept, so the cast keeps it whole.
        let slot = usize::try_from(among(before())).unwrap_or(usize::MAX);
        if let Some(kept) = self.slots.get(slot) {
            kept.store(sample, Ordering::Relaxed);
        }
    }

    /// Puts one of the first samples into a free slot, its own where that is free. False where none
    /// is: then as many were recorded as there are slots.
    fn fill(&self, first: u64, sample: u32) -> bool {
        let first = usize::try_from(first).unwrap_or(N).min(N);
        let (before, from) = self.slots.split_at(first);
        from.iter().chain(before).any(|slot| {
            let (free, relaxed) = (EMPTY, Ordering::Relaxed);
            slot.compare_exchange(free, sample, relaxed, relaxed).is_ok()
        })
    }

    /// Percentiles of what is kept now; `None` where nothing is.
    pub(crate) fn percentiles(&self) -> Option<Percentiles> {
        let mut samples: heapless::Vec<u32, N> = self
            .slots
            .iter()
            .map(|slot| slot.load(Ordering::Relaxed))
            .filter(|sample| *sample != EMPTY)
            .collect();
        Some(Percentiles {
            p50: nearest_rank(&mut samples, 50)?,
            p99: nearest_rank(&mut samples, 99)?,
        })
    }
}

/// The smallest sample that at least `percent` in a hundred samples do not exceed. Integers only:
/// in floating point 0.07 of 100 is more than 7.
fn nearest_rank(samples: &mut [u32], percent: usize) -> Option<Duration> {
    let rank = (samples.len() * percent).div_ceil(100).max(1);
    if samples.len() < rank {
        return None;
    }
    let (_, sample, _) = samples.select_nth_unstable(rank - 1);
    Some(decode(*sample))
}

/// The slot that holds nothing yet.
const EMPTY: u32 = u32::MAX;
/// Set where the rest counts units of 2^12 ns instead of nanoseconds.
const COARSE: u32 = 1 << 31;
const COARSE_SHIFT: u32 = 12;

/// Four bytes instead of eight: exact nanoseconds up to 2.1 s, then steps of 4 us up to 2.4 h,
/// which then stands for everything longer. Order is kept.
fn encode(latency: Lapse) -> u32 {
    let exact = latency.as_nanos();
    match u32::try_from(exact) {
        Ok(fine) if fine < COARSE => fine,
        _ => {
            let units = u32::try_from(exact >> COARSE_SHIFT).unwrap_or(COARSE);
            COARSE | units.min(COARSE - 2)
        }
    }
}

fn decode(sample: u32) -> Duration {
    if sample < COARSE {
        Duration::from_nanos(u64::from(sample))
    } else {
        Duration::from_nanos(u64::from(sample & !COARSE) << COARSE_SHIFT)
    }
}

#[cfg(all(test, loom))]
mod models;
#[cfg(test)]
mod tests {
    use super::*;

    impl<const N: usize> Reservoir<N> {
        /// As one thread records, which knows of all.
        fn note(&self, before: u64, latency: Duration) {
            let stripe = Stripe::nth(0);
            let place = Place { at_least: before, here: before, serial: before, stripe };
            self.record(place, latency.into(), || before);
        }
    }

    fn of(millis: impl IntoIterator<Item = u64>) -> Reservoir {
        let reservoir = Reservoir::new(1);
        for (place, each) in millis.into_iter().enumerate() {
            reservoir.note(place as u64, Duration::from_millis(each));
        }
        reservoir
    }

    fn rank(millis: u64, percent: usize) -> Option<Duration> {
        let mut samples: alloc::vec::Vec<u32> =
            (1..=millis).map(|each| encode(Duration::from_millis(each).into())).collect();
        nearest_rank(&mut samples, percent)
    }

    /// Spec: SA-2
    #[test]
    fn percentiles_of_nothing_are_none_and_of_one_sample_are_that_sample() {
        assert_eq!(of([]).percentiles(), None);
        let seven = Duration::from_millis(7);
        assert_eq!(of([7]).percentiles(), Some(Percentiles { p50: seven, p99: seven }));
    }

    /// Case SM-04. Spec: SA-2
    #[test]
    fn percentiles_are_by_nearest_rank() {
        let millis = |n| Some(Duration::from_millis(n));
        assert_eq!(
            (rank(20, 50), rank(20, 95), rank(20, 99)),
            (millis(10), millis(19), millis(20))
        );
        assert_eq!((rank(100, 7), rank(100, 55), rank(100, 1)), (millis(7), millis(55), millis(1)));
    }

    /// Spec: SA-2
    #[test]
    fn a_hundred_thousand_records_leave_256_samples_and_the_percentiles_of_their_spread() {
        let reservoir = of((0..100_000).map(|n| n % 1_000));
        let kept =
            reservoir.slots.iter().filter(|slot| slot.load(Ordering::Relaxed) != EMPTY).count();
        assert_eq!(kept, 256);
        assert_eq!(size_of_val(&reservoir.slots), 1_024);
        let percentiles = reservoir.percentiles().unwrap();
        // Five standard errors of a median of 256 uniform samples are 156 of 1000.
        assert!(percentiles.p50.as_millis().abs_diff(500) < 156, "{percentiles:?}");
        assert!(percentiles.p99.as_millis() > 950, "{percentiles:?}");
    }

    /// Case SM-01. Spec: SA-2
    #[test]
    fn each_of_five_values_stays_in_two_slots_two_times_in_five() {
        let mut kept = [0_u32; 5];
        for trial in 0..50_000_u64 {
            let reservoir = Reservoir::<2>::new(mix(trial));
            (0..5).for_each(|value| reservoir.note(value, Duration::from_nanos(value)));
            for slot in &reservoir.slots {
                kept[slot.load(Ordering::Relaxed) as usize] += 1;
            }
        }
        for count in kept {
            assert!(count.abs_diff(20_000) <= 550, "{kept:?}");
        }
    }

    /// A thread that knows of few of the records before it must not keep more than its share.
    ///
    /// Case SM-01. Spec: SA-2
    #[test]
    fn a_record_that_knows_of_half_the_others_is_kept_as_often_as_one_that_knows_of_all() {
        const TRIALS: u64 = 50_000;
        let mut kept = 0_u32;
        let mut asked = 0_u32;
        for trial in 0..TRIALS {
            let reservoir = Reservoir::<2>::new(mix(trial));
            let place = Place { at_least: 9, here: 9, serial: 19, stripe: Stripe::nth(0) };
            reservoir.record(place, Duration::from_nanos(7).into(), || {
                asked += 1;
                19
            });
            kept += u32::from(reservoir.percentiles().is_some());
        }
        // Two slots for the 20th record, one time in ten; asked where two of ten slots are hit, one
        // in five. Five standard errors are 335 and 447.
        assert!(kept.abs_diff(5_000) < 335, "{kept}");
        assert!(asked.abs_diff(10_000) < 447, "{asked}");
    }

    #[test]
    fn the_short_form_keeps_order_and_is_exact_up_to_two_seconds() {
        let exact = Duration::from_nanos(u64::from(COARSE - 1));
        assert_eq!(decode(encode(exact.into())), exact);
        let coarse = exact + Duration::from_nanos(1);
        assert_eq!(decode(encode(coarse.into())), coarse);
        // The 2.4 hours that are promised.
        let long = Duration::from_secs(8_640);
        assert!(long - decode(encode(long.into())) < Duration::from_micros(5));
        assert!(encode(Duration::MAX.into()) < EMPTY);
        assert!(
            encode(exact.into()) < encode(coarse.into())
                && encode(long.into()) < encode(Duration::MAX.into())
        );
    }
}
