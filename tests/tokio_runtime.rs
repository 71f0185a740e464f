//! The tokio binding, in paused time.

use core::time::Duration;
use std::collections::HashSet;

use storage_mux::runtime::tokio::{TokioClock, entropy_seed};
use storage_mux::{Clock, Instant, Rng, SeededRng};

const fn needs_send<T: Send>(value: T) -> T {
    value
}

/// Spec: P-1
#[tokio::test(start_paused = true)]
async fn all_clocks_share_one_epoch_and_time_follows_tokio() {
    let clock = TokioClock::new();
    let before = clock.now();
    tokio::time::advance(Duration::from_millis(1_500)).await;
    assert_eq!(clock.now() - before, Duration::from_millis(1_500));
    let later = TokioClock::new();
    assert_eq!(later.now(), clock.now(), "a deadline must mean the same to both");
}

/// Spec: P-1
#[tokio::test(start_paused = true)]
async fn a_sleep_ends_at_its_time_and_not_before() {
    let clock = TokioClock::new();
    let mut sleep = task(clock.sleep(Duration::from_millis(20)));
    assert!(!sleep.is_done().await);
    tokio::time::advance(Duration::from_millis(19)).await;
    assert!(!sleep.is_done().await);
    // One more for the granularity of tokio's timers, which round up.
    tokio::time::advance(Duration::from_millis(2)).await;
    assert!(sleep.is_done().await);
}

/// Spec: P-1
#[tokio::test(start_paused = true)]
async fn a_sleep_counts_from_the_call_and_not_from_the_first_poll() {
    let clock = TokioClock::new();
    let sleep = clock.sleep(Duration::from_secs(5));
    tokio::time::advance(Duration::from_secs(6)).await;
    let before = clock.now();
    sleep.await;
    assert_eq!(clock.now(), before);
}

/// Spec: P-1, HE-6
#[tokio::test(start_paused = true)]
async fn durations_too_long_to_tell_mean_never() {
    let clock = TokioClock::new();
    for long in [Duration::MAX, Duration::from_secs(u64::MAX / 10), Duration::from_secs(u64::MAX)] {
        let mut sleep = task(needs_send(clock.sleep(long)));
        assert!(!sleep.is_done().await);
        tokio::time::advance(Duration::from_secs(365 * 24 * 3_600)).await;
        assert!(!sleep.is_done().await, "a year is not {long:?}");
    }
}

/// Spec: P-1
#[tokio::test(start_paused = true)]
async fn a_sleep_moves_between_threads() {
    let clock = TokioClock::default();
    let task = tokio::spawn(async move { clock.sleep(Duration::from_secs(60)).await });
    assert!(task.await.is_ok());
    assert!(clock.now() >= Instant::from_nanos(60_000_000_000));
}

/// Spec: P-2
#[test]
fn seeds_differ_and_start_different_sequences() {
    let seeds: HashSet<u64> = (0..1_000).map(|_| entropy_seed()).collect();
    assert_eq!(seeds.len(), 1_000);
    let draws = |seed| {
        let rng = SeededRng::new(seed);
        [rng.next_u64(), rng.next_u64()]
    };
    assert_ne!(draws(entropy_seed()), draws(entropy_seed()));
}

/// A future that can be asked whether it is done, without waiting for it.
struct Task<F>(core::pin::Pin<Box<F>>);

fn task<F: Future>(future: F) -> Task<F> {
    Task(Box::pin(future))
}

impl<F: Future> Task<F> {
    async fn is_done(&mut self) -> bool {
        core::future::poll_fn(|cx| core::task::Poll::Ready(self.0.as_mut().poll(cx).is_ready()))
            .await
    }
}
