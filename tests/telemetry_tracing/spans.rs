//! Spans: names, fields, parents, and that each closes.

use std::pin::pin;
use std::sync::Arc;

use futures_util::{StreamExt, poll};
use storage_mux::sim::{FakeClock, Fault, FaultStorage, Recorder, run};
use storage_mux::telemetry::{TracingSink, TracingSpan, TracingTracer};
use storage_mux::{
    Attribute, Backend, MemoryStorage, MuxMode, MuxOptions, OpContext, Operation, SeededRng,
    SharedStorage, Span as _, StorageError, StorageMux, Tracer,
};
use tracing::Level;

use crate::support::{NAMES, Store, mode, ms, plain};
use crate::watch::Watch;

/// A traced mux over `count` stores named a, b, c and so on.
fn scene(
    count: usize,
    options: MuxOptions,
) -> (FakeClock, StorageMux<Store, FakeClock, SeededRng>, Vec<Store>) {
    let clock = FakeClock::new();
    let stores: Vec<Store> =
        (0..count).map(|_| FaultStorage::new(MemoryStorage::new(), clock.clone())).collect();
    let backends = NAMES.into_iter().zip(&stores);
    let mux = StorageMux::builder(clock.clone(), SeededRng::new(7))
        .backends(backends.map(|(name, store)| Backend::new(name, store.clone())))
        .options(options)
        .tracer(TracingTracer::new())
        .event_sink(TracingSink::new())
        .build()
        .expect("a mux");
    (clock, mux, stores)
}

/// Spec: OT-1, EV-1
#[test]
fn one_failover_is_one_parent_two_attempts_and_two_events() {
    let watch = Watch::default();
    let (clock, mux, stores) = scene(2, plain());
    stores[0].push(Fault::DelayThenFail(ms(5), StorageError::http(503)));
    watch.during(|| run(&clock, mux.has("k")).expect("runs").expect("b answers"));
    let spans = watch.spans();
    let shape: Vec<_> = spans.iter().map(|span| (span.name, span.parent)).collect();
    let (call, attempt) = ("storage-mux.has", "storage-mux.attempt");
    assert_eq!(shape, [(call, None), (attempt, Some(call)), (attempt, Some(call))]);
    assert_eq!(spans[0].text(), "mux.key=k mux.mode=failover");
    assert_eq!(
        spans[1].text(),
        "mux.attempt.index=0 mux.backend.name=a mux.latency.ms=5.0 mux.mode=failover \
         mux.outcome=transient"
    );
    assert_eq!(
        spans[2].text(),
        "mux.attempt.index=1 mux.backend.name=b mux.latency.ms=0.0 mux.mode=failover \
         mux.outcome=ok"
    );
    assert!(spans.iter().all(|span| (span.target, span.level) == ("storage_mux", Level::INFO)));
    assert_eq!(watch.outcomes(), ["transient", "ok"]);
    let topics: Vec<_> = watch.events().iter().map(|event| event.name).collect();
    assert_eq!(topics, ["storage-mux.backend.down", "storage-mux.failover"]);
}

/// Spec: OT-1
#[test]
fn each_operation_has_a_callsite_of_its_own_name() {
    let watch = Watch::default();
    watch.during(|| {
        for operation in Operation::ALL {
            let key = [Attribute::str("mux.key", "k")];
            let span = TracingTracer::new().start(operation.span_name(), None, &key);
            span.expect("a subscriber looks").end(&[]);
        }
    });
    let spans = watch.spans();
    let names: Vec<_> = spans.iter().map(|span| span.name).collect();
    assert_eq!(names, Operation::ALL.map(Operation::span_name));
    assert!(spans.iter().all(|span| span.closed && span.text() == "mux.key=k"), "{spans:?}");
}

/// Spec: OT-1
#[test]
fn a_name_that_is_not_of_a_mux_is_kept_in_a_field() {
    let watch = Watch::default();
    watch.during(|| {
        let span = TracingTracer::new().start("app.copy", None, &[Attribute::str("mux.key", "k")]);
        span.expect("a subscriber looks").end(&[Attribute::str("mux.outcome", "ok")]);
    });
    let spans = watch.spans();
    assert_eq!(spans[0].name, "storage-mux");
    assert_eq!(spans[0].text(), "mux.key=k mux.outcome=ok otel.name=app.copy");
}

/// Spec: IN-1, OT-1
#[test]
fn the_spans_of_a_nested_mux_hang_under_the_attempt_that_asked_it() {
    let watch = Watch::default();
    let clock = FakeClock::new();
    let traced = |seed, name, storage| {
        StorageMux::builder(clock.clone(), SeededRng::new(seed))
            .backend(Backend::new(name, storage))
            .tracer(TracingTracer::new())
            .build()
            .expect("a mux")
    };
    let inner = traced(1, "leaf", SharedStorage::new(MemoryStorage::new()));
    let outer = traced(2, "inner", SharedStorage::from(inner));
    watch.during(|| run(&clock, outer.has("k")).expect("runs").expect("answers"));
    let (call, attempt) = ("storage-mux.has", "storage-mux.attempt");
    let spans = watch.spans();
    let shape: Vec<_> = spans.iter().map(|span| (span.name, span.parent)).collect();
    assert_eq!(
        shape,
        [(call, None), (attempt, Some(call)), (call, Some(attempt)), (attempt, Some(call))]
    );
    assert_eq!(spans[1].fields["mux.backend.name"], "inner");
    assert_eq!(spans[3].fields["mux.backend.name"], "leaf");
    assert_eq!(watch.outcomes(), ["ok", "ok"]);
}

/// Spec: OT-1
#[test]
fn a_call_hangs_under_the_given_span_else_under_the_current_one() {
    let watch = Watch::default();
    let (clock, mux, _) = scene(1, plain());
    watch.during(|| {
        let has = |cx: &OpContext| run(&clock, mux.with(cx).has("k")).expect("runs").expect("ok");
        let current = tracing::info_span!("current").entered();
        has(&OpContext::new());
        let given = Arc::new(TracingSpan::new(tracing::info_span!("given")));
        has(&OpContext::new().with_parent(given.clone()));
        given.end(&[]);
        assert!(given.span().is_none());
        has(&OpContext::new().with_parent(given));
        let foreign = Recorder::new().start("foreign", None, &[]).expect("recorded");
        has(&OpContext::new().with_parent(foreign));
        drop(current);
        has(&OpContext::new());
    });
    let spans = watch.spans();
    let parents: Vec<_> = spans
        .iter()
        .filter(|span| span.name == "storage-mux.has")
        .map(|span| span.parent)
        .collect();
    let current = Some("current");
    assert_eq!(parents, [current, Some("given"), current, current, None]);
    watch.outcomes();
}

/// Spec: OT-1
#[test]
fn the_span_of_an_attempt_is_there_for_a_backend_until_it_ends() {
    let watch = Watch::default();
    watch.during(|| {
        let handle = TracingTracer::new().start("storage-mux.attempt", None, &[]).expect("seen");
        let kept = handle.clone();
        let as_tracing = || kept.as_any().downcast_ref::<TracingSpan>().expect("ours").span();
        as_tracing().expect("open").in_scope(|| tracing::info_span!("work of a backend"));
        handle.end(&[]);
        assert!(as_tracing().is_none());
        handle.end(&[Attribute::str("mux.outcome", "late")]);
        assert_eq!(watch.outcomes(), [""; 0], "a handle that is kept keeps no span open");
    });
    assert_eq!(watch.spans()[1].parent, Some("storage-mux.attempt"));
}

/// Case OT-01. Spec: OT-1, AB-5
#[test]
fn every_span_closes_however_its_call_ends() {
    // A stream that is dropped after one chunk.
    let watch = Watch::default();
    let (clock, mux, _) = scene(1, plain());
    watch.during(|| {
        run(&clock, mux.set("k", "v")).expect("runs").expect("stored");
        let mut reader = run(&clock, mux.get_stream("k")).expect("runs").expect("opens");
        run(&clock, reader.next()).expect("runs").expect("a chunk").expect("of the value");
        assert!(!watch.spans()[2].closed);
    });
    assert_eq!(watch.outcomes(), ["ok", "abort"]);

    // A timeout, and a call that is dropped.
    let watch = Watch::default();
    let (clock, mux, stores) = scene(1, plain());
    stores[0].set_always(Fault::Hang);
    watch.during(|| {
        run(&clock, mux.get("k")).expect("runs").expect_err("hangs");
        let mut get = pin!(mux.get("k"));
        assert!(run(&clock, async { poll!(get.as_mut()) }).expect("runs").is_pending());
    });
    assert_eq!(watch.outcomes(), ["timeout", "abort"]);

    // A lost race.
    let watch = Watch::default();
    let (clock, mux, stores) = scene(2, mode(MuxMode::Mirror));
    stores[0].push(Fault::Hang);
    watch.during(|| run(&clock, mux.list("", &Default::default())).expect("runs").expect("b"));
    assert_eq!(watch.outcomes(), ["abort", "ok"]);
    assert_eq!(watch.spans()[0].text(), "mux.mode=mirror");
}
