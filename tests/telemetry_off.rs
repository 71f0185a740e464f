//! Telemetry that nobody looks at costs a call no allocation. Alone in its process: a subscriber
//! of another test would be looking.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use opentelemetry::trace::noop::NoopTracer;
use storage_mux::runtime::tokio::TokioBroadcast;
use storage_mux::sim::{FakeClock, run};
use storage_mux::telemetry::{OtelTracer, TracingSink, TracingTracer};
use storage_mux::{
    Attribute, Backend, BackendName, Event, EventSink, MemoryStorage, MuxMode, SeededRng,
    StorageError, StorageMux, Tracer,
};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// What a thousand hits and misses allocate on a mux with this tracer.
fn allocations_with(tracer: impl Tracer + 'static) -> u64 {
    let clock = FakeClock::new();
    let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
        .backend(Backend::new("a", MemoryStorage::new()))
        .backend(Backend::new("b", MemoryStorage::new()))
        .tracer(tracer)
        .event_sink(TracingSink::new())
        .build()
        .expect("a mux");
    run(&clock, mux.set("k", "value")).expect("runs").expect("stored");
    run(&clock, async {
        let before = ALLOCATIONS.get();
        for _ in 0..1_000 {
            assert_eq!(mux.get("k").await.expect("found"), "value");
            assert!(!mux.has("missing").await.expect("answers"));
        }
        ALLOCATIONS.get() - before
    })
    .expect("runs")
}

/// Spec: OT-2, P-5
#[test]
fn a_tracer_that_nobody_looks_at_allocates_nothing() {
    assert_eq!(allocations_with(TracingTracer::new()), 0);
    assert_eq!(allocations_with(OtelTracer::new(NoopTracer::new())), 0);
    // The counter counts: a tracer that keeps its spans is seen to.
    assert!(allocations_with(storage_mux::sim::Recorder::new()) >= 4_000);
}

/// Spec: OT-2, P-5, EV-2
#[test]
fn without_a_subscriber_there_is_no_span_and_an_event_is_dropped() {
    let key = [Attribute::str("mux.key", "k")];
    for name in ["storage-mux.get", "storage-mux.attempt", "any other"] {
        assert!(TracingTracer::new().start(name, None, &key).is_none());
    }
    let removed = Event::BackendRemoved { name: BackendName::from("a") };
    let before = ALLOCATIONS.get();
    TracingSink::new().emit(&removed);
    assert_eq!(ALLOCATIONS.get() - before, 0);
}

/// Spec: EV-2, P-5
#[test]
fn an_event_that_nobody_reads_is_not_copied() {
    let (mode, cause) = (MuxMode::Mirror, StorageError::http(503));
    let (failed, causes) = (vec![BackendName::from("a")], vec![cause]);
    let event = Event::FanoutPartial { mode, failed, causes };
    let sink = TokioBroadcast::new(8);
    let spent = || {
        let before = ALLOCATIONS.get();
        sink.emit(&event);
        ALLOCATIONS.get() - before
    };
    assert_eq!(spent(), 0);
    let reader = sink.subscribe();
    assert!(spent() >= 2, "for a reader the two lists are copied");
    drop(reader);
    assert_eq!(spent(), 0);
}
