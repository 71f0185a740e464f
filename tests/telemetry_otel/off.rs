//! Telemetry that is off: nothing fails, and nothing is kept.

use std::sync::Arc;

use opentelemetry::Context;
use opentelemetry::metrics::{MeterProvider as _, noop::NoopMeterProvider};
use opentelemetry::trace::{TraceContextExt, Tracer as _, noop::NoopTracer};
use storage_mux::telemetry::{OtelMeter, OtelSpan, OtelTracer};
use storage_mux::{Attribute, Meter, SpanHandle, Tracer};

use crate::scene::Scene;
use crate::support::plain;

/// Spec: OT-2, P-5
#[test]
fn a_tracer_without_a_provider_keeps_no_span() {
    let attributes = [Attribute::str("mux.mode", "failover")];
    let scene = Scene::new();
    let span = Context::new().with_span(scene.tracer().start("request"));
    let parent: SpanHandle = Arc::new(OtelSpan::new(span));
    for parent in [None, Some(&parent)] {
        let noop = OtelTracer::new(NoopTracer::new());
        assert!(noop.start("storage-mux.get", parent, &attributes).is_none());
        let global = OtelTracer::new(opentelemetry::global::tracer("nobody set a provider"));
        assert!(global.start("storage-mux.get", parent, &attributes).is_none());
        // It can tell: the same with a provider is kept.
        let on = OtelTracer::new(scene.tracer());
        assert!(on.start("storage-mux.get", parent, &attributes).is_some());
    }
}

/// Spec: OT-2, P-5
#[test]
fn a_provider_that_is_shut_down_disturbs_no_call() {
    let scene = Scene::new();
    let (mux, _) = scene.mux(1, plain());
    scene.provider.shutdown().expect("shuts down");
    scene.run(mux.get("k")).expect("found");
    assert_eq!(scene.spans().len(), 0);
}

/// Spec: P-5
#[test]
fn a_meter_without_a_provider_takes_measurements_and_drops_them() {
    let meter = OtelMeter::new(NoopMeterProvider::new().meter("off"));
    for _ in 0..2 {
        meter.count("retry.attempt.total", u64::MAX, &[Attribute::str("outcome", "success")]);
        meter.record("retry.attempt.delay_ms", f64::NAN, &[]);
    }
}
