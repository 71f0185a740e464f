//! Spans for the `tracing` ecosystem, under the target `storage_mux`.

use alloc::boxed::Box;
use core::any::Any;

use ::tracing::{Span as Open, field, info_span};

use crate::port::{Attribute, AttributeValue, Span, SpanHandle, Tracer};
use crate::sync::{Arc, Lock};

/// Opens a `tracing` span, at the level `INFO`, for each call and each attempt of a mux.
///
/// The parent is the given [`TracingSpan`], else the current span. Where no subscriber looks, no
/// span is made and a call costs what the check costs. As everywhere in `tracing`, a span and its
/// children belong to one subscriber: on a runtime with many threads, set a global one.
///
/// ```
/// use storage_mux::sim::{FakeClock, run};
/// use storage_mux::telemetry::{TracingSink, TracingTracer};
/// use storage_mux::{Backend, MemoryStorage, SeededRng, StorageMux};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let clock = FakeClock::new();
/// let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
///     .backend(Backend::new("primary", MemoryStorage::new()))
///     .tracer(TracingTracer::new())
///     .event_sink(TracingSink::new())
///     .build()?;
/// assert!(!run(&clock, mux.has("greeting"))??);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct TracingTracer(());

impl TracingTracer {
    /// A tracer. It has no state: subscribers are found where `tracing` keeps them.
    #[must_use]
    pub const fn new() -> Self {
        Self(())
    }
}

/// Opens the span of a name that is known at compile time: a name is part of its callsite. The
/// names of calls share one set of fields, that of attempts and any other name have their own.
macro_rules! open {
    ($name:ident, $parent:ident, $attributes:ident, [$($call:literal)*]) => {
        match $name {
            $($call => info_span!(
                target: "storage_mux", parent: $parent(), $call,
                mux.mode = text($attributes, "mux.mode"),
                mux.key = text($attributes, "mux.key"),
            ),)*
            "storage-mux.attempt" => info_span!(
                target: "storage_mux", parent: $parent(), "storage-mux.attempt",
                mux.backend.name = text($attributes, "mux.backend.name"),
                mux.attempt.index = count($attributes, "mux.attempt.index"),
                mux.mode = text($attributes, "mux.mode"),
                mux.outcome = field::Empty,
                mux.latency.ms = field::Empty,
            ),
            // What `tracing` exporters take for the name where they find it.
            other => info_span!(
                target: "storage_mux", parent: $parent(), "storage-mux", otel.name = other,
                mux.mode = text($attributes, "mux.mode"),
                mux.key = text($attributes, "mux.key"),
                mux.outcome = field::Empty,
            ),
        }
    };
}

impl Tracer for TracingTracer {
    fn start(
        &self,
        name: &'static str,
        parent: Option<&SpanHandle>,
        attributes: &[Attribute<'_>],
    ) -> Option<SpanHandle> {
        let given = parent.and_then(|span| span.as_any().downcast_ref::<TracingSpan>()?.shared());
        // Only called where a subscriber looks.
        let parent = || given.as_deref().map_or_else(|| Open::current().id(), Open::id);
        let span = open!(name, parent, attributes, [
            "storage-mux.get" "storage-mux.set" "storage-mux.set_partial" "storage-mux.has"
            "storage-mux.delete" "storage-mux.list" "storage-mux.stat" "storage-mux.get_stream"
            "storage-mux.set_stream" "storage-mux.get_range" "storage-mux.set_if"
        ]);
        if span.is_disabled() {
            return None;
        }
        let boxed: Box<dyn Span> = Box::new(TracingSpan::new(span));
        Some(Arc::from(boxed))
    }
}

fn value<'a>(attributes: &[Attribute<'a>], key: &str) -> Option<AttributeValue<'a>> {
    attributes.iter().find(|attribute| attribute.key == key).map(|found| found.value)
}

fn text<'a>(attributes: &[Attribute<'a>], key: &str) -> Option<&'a str> {
    let Some(AttributeValue::Str(text)) = value(attributes, key) else { return None };
    Some(text)
}

fn count(attributes: &[Attribute<'_>], key: &str) -> Option<u64> {
    let Some(AttributeValue::U64(count)) = value(attributes, key) else { return None };
    Some(count)
}

/// A `tracing` span as a parent in an [`OpContext`](crate::OpContext).
#[derive(Debug)]
pub struct TracingSpan(Lock<Option<Arc<Open>>>);

impl TracingSpan {
    /// A handle of a span. It keeps the span open until it is ended or dropped.
    #[must_use]
    pub fn new(span: Open) -> Self {
        Self(Lock::new(Some(Arc::new(span))))
    }

    /// The span, for a backend that instruments its own work. `None` once it has ended.
    #[must_use]
    pub fn span(&self) -> Option<Open> {
        self.shared().map(|span| Open::clone(&span))
    }

    /// A pointer to it: to clone the span itself is a subscriber's work, and done without the lock.
    fn shared(&self) -> Option<Arc<Open>> {
        self.0.with(|open| open.clone())
    }
}

impl Span for TracingSpan {
    fn end(&self, attributes: &[Attribute<'_>]) {
        let Some(span) = self.0.with(Option::take) else { return };
        for Attribute { key, value } in attributes {
            match value {
                AttributeValue::Str(text) => span.record(*key, text),
                AttributeValue::U64(count) => span.record(*key, count),
                AttributeValue::F64(quantity) => span.record(*key, quantity),
            };
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
