//! What a call still holds of a backend when others hear of its end: nothing.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll, Wake, Waker};

use bytes::Bytes;
use futures_util::FutureExt;
use storage_mux::sim::{FakeClock, Recorder, run};
use storage_mux::{
    AbortSignal, Backend, Capabilities, Event, MemoryStorage, Metadata, MuxMode, OpContext, Page,
    PageRequest, SeededRng, Storage, StorageError, StorageMux, Written,
};

use crate::rigged::Rigged;
use crate::support;

/// A store whose futures hold a permit until they are dropped, as those of a pool do.
#[derive(Clone, Default)]
struct Pool {
    inner: MemoryStorage,
    permits_out: Arc<AtomicUsize>,
    fails: Arc<AtomicBool>,
    hangs: Arc<AtomicBool>,
    /// The signal of the last try.
    signal: Arc<Mutex<AbortSignal>>,
}

struct Permit(Arc<AtomicUsize>);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

/// Written by hand: an `async fn` that is over holds nothing any more.
struct Answer<T> {
    _permit: Permit,
    answer: Option<Result<T, StorageError>>,
}

impl<T: Unpin> Future for Answer<T> {
    type Output = Result<T, StorageError>;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        self.answer.take().map_or(Poll::Pending, Poll::Ready)
    }
}

impl Pool {
    fn answer<T>(&self, value: T, cx: &OpContext) -> Answer<T> {
        self.permits_out.fetch_add(1, SeqCst);
        *self.signal.lock().unwrap() = cx.signal();
        let answer = if self.fails.load(SeqCst) { Err(StorageError::http(503)) } else { Ok(value) };
        let answer = (!self.hangs.load(SeqCst)).then_some(answer);
        Answer { _permit: Permit(self.permits_out.clone()), answer }
    }
}

impl Storage for Pool {
    type Reader = <MemoryStorage as Storage>::Reader;
    type Writer = <MemoryStorage as Storage>::Writer;

    fn get(
        &self,
        _: &str,
        cx: &OpContext,
    ) -> impl Future<Output = Result<Bytes, StorageError>> + Send {
        self.answer(Bytes::from_static(b"v"), cx)
    }

    async fn set(&self, key: &str, value: Bytes, cx: &OpContext) -> Result<Written, StorageError> {
        Storage::set(&self.inner, key, value, cx).await
    }

    async fn set_partial(
        &self,
        key: &str,
        offset: u64,
        bytes: Bytes,
        cx: &OpContext,
    ) -> Result<(), StorageError> {
        Storage::set_partial(&self.inner, key, offset, bytes, cx).await
    }

    fn has(
        &self,
        _: &str,
        cx: &OpContext,
    ) -> impl Future<Output = Result<bool, StorageError>> + Send {
        self.answer(false, cx)
    }

    async fn delete(&self, key: &str, cx: &OpContext) -> Result<(), StorageError> {
        Storage::delete(&self.inner, key, cx).await
    }

    async fn list(
        &self,
        prefix: &str,
        page: &PageRequest,
        cx: &OpContext,
    ) -> Result<Page, StorageError> {
        Storage::list(&self.inner, prefix, page, cx).await
    }

    async fn stat(&self, key: &str, cx: &OpContext) -> Result<Metadata, StorageError> {
        Storage::stat(&self.inner, key, cx).await
    }

    async fn get_stream(&self, key: &str, cx: &OpContext) -> Result<Self::Reader, StorageError> {
        Storage::get_stream(&self.inner, key, cx).await
    }

    async fn set_stream(&self, key: &str, cx: &OpContext) -> Result<Self::Writer, StorageError> {
        Storage::set_stream(&self.inner, key, cx).await
    }

    fn capabilities(&self) -> Capabilities {
        Storage::capabilities(&self.inner)
    }

    fn depth(&self) -> usize {
        0
    }
}

type Mux = StorageMux<Pool, FakeClock, SeededRng>;

/// What a sink sees when a backend goes down or comes back: the permits that are out, and whether
/// the signal of the try has aborted.
fn seen_by_a_sink(mode: MuxMode) -> Vec<(usize, bool)> {
    let (clock, pool) = (FakeClock::new(), Pool::default());
    let seen: Arc<Mutex<Vec<_>>> = Arc::default();
    let sink = {
        let (seen, pool) = (seen.clone(), pool.clone());
        move |event: &Event| {
            if matches!(event, Event::BackendDown { .. } | Event::BackendRecovered { .. }) {
                let aborted = pool.signal.lock().unwrap().is_aborted();
                seen.lock().unwrap().push((pool.permits_out.load(SeqCst), aborted));
            }
        }
    };
    let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
        .backend(Backend::new("a", pool.clone()))
        .options(support::mode(mode))
        .event_sink(sink)
        .build()
        .unwrap();
    pool.fails.store(true, SeqCst);
    assert!(run(&clock, mux.get("k")).unwrap().is_err());
    pool.fails.store(false, SeqCst);
    clock.advance(support::ms(61_000));
    run(&clock, mux.get("k")).unwrap().unwrap();
    seen.lock().unwrap().clone()
}

/// Spec: AB-2, IS-3
#[test]
fn a_sink_hears_of_an_outcome_when_nothing_of_the_backend_is_held_any_more() {
    for mode in [MuxMode::Failover, MuxMode::RoundRobin, MuxMode::StickyByKey] {
        assert_eq!(seen_by_a_sink(mode), [(0, true), (0, true)], "{mode}");
    }
}

/// Spec: DR-1, IS-3
#[test]
fn a_sink_that_drains_a_backend_on_its_recovery_finds_it_left_alone() {
    let (clock, pool) = (FakeClock::new(), Pool::default());
    let slot: Arc<OnceLock<Mux>> = Arc::default();
    let seen: Arc<Mutex<Vec<(bool, usize)>>> = Arc::default();
    let sink = {
        let (slot, seen, pool) = (slot.clone(), seen.clone(), pool.clone());
        move |event: &Event| {
            if matches!(event, Event::BackendRecovered { .. }) {
                let mux = slot.get().unwrap();
                let drained = mux.remove_backend("a").now_or_never().is_some();
                seen.lock().unwrap().push((drained, pool.permits_out.load(SeqCst)));
            }
        }
    };
    let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
        .backend(Backend::new("a", pool.clone()))
        .options(support::plain())
        .event_sink(sink)
        .build();
    let mux = slot.get_or_init(|| mux.unwrap());
    pool.fails.store(true, SeqCst);
    assert!(run(&clock, mux.get("k")).unwrap().is_err());
    pool.fails.store(false, SeqCst);
    clock.advance(support::ms(61_000));
    run(&clock, mux.get("k")).unwrap().unwrap();
    assert_eq!(*seen.lock().unwrap(), [(true, 0)]);
}

/// Asks how many calls a backend has in flight when it is woken.
struct Look(Arc<OnceLock<Mux>>, Mutex<Vec<u64>>);

impl Wake for Look {
    fn wake(self: Arc<Self>) {
        let in_flight = self.0.get().unwrap().backend_stats("a").unwrap().in_flight;
        self.1.lock().unwrap().push(in_flight);
    }
}

/// Spec: AB-2, DR-1
#[test]
fn the_signal_of_a_try_that_waits_for_others_aborts_before_the_dropped_call_is_counted_out() {
    let clock = FakeClock::new();
    let [a, b] = [(); 2].map(|()| Pool::default());
    // One says that there is nothing, which is not the last word while the other may know better.
    b.hangs.store(true, SeqCst);
    let slot: Arc<OnceLock<Mux>> = Arc::default();
    let mux = slot.get_or_init(|| {
        StorageMux::builder(clock, SeededRng::new(1))
            .backend(Backend::new("a", a.clone()))
            .backend(Backend::new("b", b))
            .options(support::mode(MuxMode::Mirror))
            .build()
            .unwrap()
    });
    let mut call = Box::pin(mux.has("k"));
    assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    let look = Arc::new(Look(slot.clone(), Mutex::default()));
    let signal = a.signal.lock().unwrap().clone();
    let mut aborted = pin!(signal.aborted());
    let waker = Waker::from(look.clone());
    assert!(aborted.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    drop(call);
    assert_eq!(*look.1.lock().unwrap(), [1]);
    assert_eq!(mux.backend_stats("a").unwrap().in_flight, 0);
}

/// Spec: OT-1
#[test]
fn each_attempt_that_is_counted_has_a_span_also_where_a_peer_panics_before_it_is_asked() {
    let (clock, recorder) = (FakeClock::new(), Recorder::new());
    let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
        .backend(Backend::new("a", Rigged::new(|_| panic!("rude"))))
        .backend(Backend::new("b", Rigged::new(|_| {})))
        .options(support::mode(MuxMode::Mirror))
        .tracer(recorder.clone())
        .build()
        .unwrap();
    let call = std::panic::AssertUnwindSafe(|| run(&clock, mux.get("k")));
    assert!(std::panic::catch_unwind(call).is_err());
    let counted: u64 = mux.stats().backends.iter().map(|backend| backend.cancelled).sum();
    let spans = recorder.spans();
    let attempts = spans.iter().filter(|span| span.name == "storage-mux.attempt").count();
    assert_eq!((counted, attempts), (2, 2));
}
