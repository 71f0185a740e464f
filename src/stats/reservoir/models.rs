//! Every order in which recorders and a reader can meet in a small reservoir.

use loom::thread;

use super::*;
use crate::sync::Arc;

const fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// Spec: SA-2, IS-2
#[test]
fn two_recorders_lose_no_record_and_a_reader_meets_only_what_was_recorded() {
    loom::model(|| {
        let reservoir = Arc::new(Reservoir::<2>::new(1));
        let recorders = [1, 9].map(|latency| {
            let reservoir = reservoir.clone();
            thread::spawn(move || reservoir.record(millis(latency)))
        });
        if let Some(Percentiles { p50, p99 }) = reservoir.percentiles() {
            assert!([millis(1), millis(9)].contains(&p50) && [p50, millis(9)].contains(&p99));
        }
        recorders.into_iter().for_each(|recorder| recorder.join().unwrap());
        // Had both taken the same slot, one of the two would be gone.
        assert_eq!(reservoir.percentiles(), Some(Percentiles { p50: millis(1), p99: millis(9) }));
        assert_eq!(reservoir.recorded.load(Ordering::Relaxed), 2);
    });
}

/// Spec: SA-2
#[test]
fn a_reservoir_that_overflows_under_its_reader_counts_all_and_keeps_whole_samples() {
    loom::model(|| {
        let reservoir = Arc::new(Reservoir::<1>::new(1));
        let recorders = [[1, 2], [3, 4]].map(|latencies| {
            let reservoir = reservoir.clone();
            thread::spawn(move || latencies.map(|each| reservoir.record(millis(each))))
        });
        if let Some(Percentiles { p50, p99 }) = reservoir.percentiles() {
            assert!((1..=4).map(millis).any(|each| each == p50) && p50 == p99);
        }
        recorders.into_iter().for_each(|recorder| assert_eq!(recorder.join().unwrap(), [(), ()]));
        assert_eq!(reservoir.recorded.load(Ordering::Relaxed), 4);
        assert!(reservoir.percentiles().is_some());
    });
}
