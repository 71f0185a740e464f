//! What a call hangs under, and what a backend sees of it.

use std::sync::{Arc, Mutex};

use opentelemetry::Context;
use opentelemetry::trace::{
    FutureExt, SpanContext, SpanId, SpanKind, TraceContextExt, TraceFlags, TraceId, TraceState,
    Tracer as _,
};
use opentelemetry_sdk::trace::{Sampler, SamplingDecision, SamplingResult, ShouldSample};
use storage_mux::sim::Recorder;
use storage_mux::telemetry::{OtelSpan, OtelTracer};
use storage_mux::{Attribute, Backend, OpContext, SharedStorage, Tracer as _};

use crate::hooked::Hooked;
use crate::scene::Scene;
use crate::support::plain;

/// A span of somebody else's in another process.
fn remote(flags: TraceFlags) -> Context {
    let (trace, span) = (TraceId::from(0xfeed), SpanId::from(0xbee));
    Context::new().with_remote_span_context(SpanContext::new(
        trace,
        span,
        flags,
        true,
        TraceState::default(),
    ))
}

/// Spec: OT-1
#[test]
fn a_call_hangs_under_the_current_context_where_it_is_given_none() {
    let scene = Scene::new();
    let (mux, _) = scene.mux(1, plain());
    let request = Context::new().with_span(scene.tracer().start("request"));
    scene.run(mux.get("k").with_context(request.clone())).expect("found");
    request.span().end();
    let spans = scene.spans();
    assert_eq!((&*spans[1].name, &*spans[2].name), ("storage-mux.get", "request"));
    assert_eq!(spans[1].parent_span_id, spans[2].span_context.span_id());
    assert_eq!(spans[0].parent_span_id, spans[1].span_context.span_id());
}

/// Spec: OT-1
#[test]
fn a_call_hangs_under_the_span_that_it_is_given_and_not_the_current_one() {
    let scene = Scene::new();
    let (mux, _) = scene.mux(1, plain());
    let current = Context::new().with_span(scene.tracer().start("current"));
    let cx = OpContext::new().with_parent(Arc::new(OtelSpan::new(remote(TraceFlags::SAMPLED))));
    scene.run(mux.with(&cx).get("k").with_context(current)).expect("found");
    let (calls, attempts) = scene.calls_and_attempts();
    let call = calls.iter().find(|span| span.name == "storage-mux.get").expect("exported");
    assert_eq!(call.parent_span_id, SpanId::from(0xbee));
    assert!(call.parent_span_is_remote);
    assert_eq!(attempts[0].parent_span_id, call.span_context.span_id());
    assert_eq!(attempts[0].span_context.trace_id(), TraceId::from(0xfeed));
}

/// Spec: OT-1
#[test]
fn a_span_of_another_tracer_is_no_parent_and_no_error() {
    let scene = Scene::new();
    let (mux, _) = scene.mux(1, plain());
    let foreign = Recorder::new().start("foreign", None, &[]).expect("recorded");
    let cx = OpContext::new().with_parent(foreign);
    scene.run(mux.with(&cx).get("k")).expect("found");
    assert_eq!(scene.outcomes_of_the_one_call(), ["ok"]);
}

/// Spec: OT-1
#[test]
fn a_backend_finds_the_context_of_its_attempt() {
    let scene = Scene::new();
    let seen = Arc::new(Mutex::new(SpanId::INVALID));
    let keep = seen.clone();
    let looks = Hooked::new(move |cx| {
        let parent = cx.parent().and_then(|span| span.as_any().downcast_ref::<OtelSpan>());
        let context = parent.expect("the attempt's own").context();
        *keep.lock().unwrap() = context.span().span_context().span_id();
        Ok(())
    });
    let backend = Backend::new("looks", SharedStorage::new(looks));
    let mux = scene.builder(plain()).backend(backend).build().expect("a mux");
    scene.run(mux.get("k")).expect_err("empty");
    let (_, attempts) = scene.calls_and_attempts();
    assert_eq!(*seen.lock().unwrap(), attempts[0].span_context.span_id());
}

/// Case OT-01. Spec: OT-1
#[test]
fn a_handle_that_is_kept_keeps_no_span_open() {
    let scene = Scene::new();
    let tracer = OtelTracer::new(scene.tracer());
    let call = tracer.start("storage-mux.get", None, &[]).expect("recorded");
    call.end(&[]);
    assert_eq!(scene.spans().len(), 1);
    // It still is a parent: what a backend moved elsewhere belongs to it.
    let attempt = tracer.start("storage-mux.attempt", Some(&call), &[]).expect("recorded");
    attempt.end(&[Attribute::str("mux.outcome", "ok")]);
    attempt.end(&[Attribute::str("mux.outcome", "late")]);
    assert_eq!(scene.outcomes_of_the_one_call(), ["ok"]);
}

/// Records attempts where it alone decides: where they have no parent.
#[derive(Clone, Debug)]
struct AttemptsOnly;

impl ShouldSample for AttemptsOnly {
    fn should_sample(
        &self,
        _: Option<&Context>,
        _: TraceId,
        name: &str,
        _: &SpanKind,
        _: &[opentelemetry::KeyValue],
        _: &[opentelemetry::trace::Link],
    ) -> SamplingResult {
        let sampled = name == "storage-mux.attempt";
        SamplingResult {
            decision: if sampled {
                SamplingDecision::RecordAndSample
            } else {
                SamplingDecision::Drop
            },
            attributes: Vec::new(),
            trace_state: TraceState::default(),
        }
    }
}

/// Spec: OT-1
#[test]
fn the_attempts_of_a_call_that_was_sampled_out_are_not_sampled_on_their_own() {
    let scene = Scene::sampled(Sampler::ParentBased(Box::new(AttemptsOnly)));
    let (inner, _) = scene.mux(1, plain());
    let inner = Backend::new("inner", SharedStorage::from(inner));
    let outer = scene.builder(plain()).backend(inner).build().expect("a mux");
    scene.run(outer.get("k")).expect("found");
    assert_eq!(scene.spans().len(), 0);

    // The caller's decision counts as well, from wherever it comes.
    let unsampled = OtelSpan::new(remote(TraceFlags::NOT_SAMPLED));
    let cx = OpContext::new().with_parent(Arc::new(unsampled));
    scene.run(outer.with(&cx).get("k")).expect("found");
    assert_eq!(scene.spans().len(), 0);
    let sampled = OtelSpan::new(remote(TraceFlags::SAMPLED));
    let cx = OpContext::new().with_parent(Arc::new(sampled));
    scene.run(outer.with(&cx).get("k")).expect("found");
    assert_eq!(scene.spans().len(), 4);
}
