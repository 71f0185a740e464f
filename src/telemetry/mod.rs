//! Bindings to the two ecosystems of telemetry: the ports of a mux as their spans, events and
//! metrics. No decision is made here; names and attributes are those of the mux.
//!
//! | feature | a mux built with | tells |
//! |---|---|---|
//! | `tracing` | `.tracer(TracingTracer::new())` | a `tracing` span for each call and attempt |
//! | `tracing` | `.event_sink(TracingSink::new())` | a `tracing` event for each [`Event`](crate::Event) |
//! | `opentelemetry` | `.tracer(OtelTracer::new(tracer))` | an OpenTelemetry span for each call and attempt |
//! | `opentelemetry` | `.meter(OtelMeter::new(meter))` | OpenTelemetry counters and histograms |
//!
//! Each call is a span `storage-mux.<operation>` with `mux.mode` and, where it has one, `mux.key`.
//! Each backend that is asked is a child of it, `storage-mux.attempt`, with `mux.backend.name`,
//! `mux.attempt.index`, `mux.mode`, `mux.outcome` and `mux.latency.ms`. The spans of a nested mux
//! hang under the attempt that asked it.
//!
//! A call hangs under what its ecosystem calls the current span when the call is first polled, or
//! under the span given with [`OpContext::with_parent`](crate::OpContext::with_parent). A backend
//! finds the span of its attempt in [`OpContext::parent`](crate::OpContext::parent), behind
//! [`Span::as_any`](crate::Span::as_any), and can hang its own work under it or send it along.
//!
//! # Keys in telemetry
//!
//! `mux.key` is the key as the caller gave it. Where keys are personal or secret, let the tracer or
//! the exporter drop that attribute.

#[cfg(feature = "opentelemetry")]
mod opentelemetry;
#[cfg(feature = "opentelemetry")]
mod opentelemetry_metrics;
#[cfg(feature = "tracing")]
mod tracing;
#[cfg(feature = "tracing")]
mod tracing_events;

#[cfg(feature = "opentelemetry")]
pub use self::opentelemetry::{OtelSpan, OtelTracer};
#[cfg(feature = "opentelemetry")]
pub use self::opentelemetry_metrics::OtelMeter;
#[cfg(feature = "tracing")]
pub use self::tracing::{TracingSpan, TracingTracer};
#[cfg(feature = "tracing")]
pub use self::tracing_events::TracingSink;
