//! Spans for any OpenTelemetry provider.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use core::any::Any;
use core::fmt;

use ::opentelemetry::trace::{self, SpanBuilder, SpanKind, Status, TraceContextExt};
use ::opentelemetry::{Context, KeyValue, Value};

use crate::port::{Attribute, AttributeValue, Span, SpanHandle, Tracer};
use crate::sync::Arc;

/// Opens an OpenTelemetry span for each call and each attempt of a mux.
///
/// It takes a tracer of any provider, the boxed one of `opentelemetry::global` too. The parent is
/// the given [`OtelSpan`], else the current context. A call is of the kind internal, an attempt of
/// the kind client; an attempt whose outcome is `transient` or `timeout` has the status error.
///
/// A sampler sees name and kind. Attributes are made and set only once the span is known to be
/// recorded; a span that is not costs what its tracer takes for it. Where the tracer gives no span
/// of its own, because telemetry is off, nothing is kept at all.
///
/// ```
/// use opentelemetry::trace::noop::NoopTracer;
/// use storage_mux::sim::{FakeClock, run};
/// use storage_mux::telemetry::OtelTracer;
/// use storage_mux::{Backend, MemoryStorage, SeededRng, StorageMux};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let clock = FakeClock::new();
/// // On a server: `opentelemetry::global::tracer("my-service")`.
/// let tracer = NoopTracer::new();
/// let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
///     .backend(Backend::new("primary", MemoryStorage::new()))
///     .tracer(OtelTracer::new(tracer))
///     .build()?;
/// assert!(!run(&clock, mux.has("greeting"))??);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct OtelTracer<T>(T);

impl<T> OtelTracer<T> {
    /// A binding to `tracer`.
    #[must_use]
    pub const fn new(tracer: T) -> Self {
        Self(tracer)
    }
}

impl<T> Tracer for OtelTracer<T>
where
    T: trace::Tracer<Span: Send + Sync + 'static> + Send + Sync,
{
    fn start(
        &self,
        name: &'static str,
        parent: Option<&SpanHandle>,
        attributes: &[Attribute<'_>],
    ) -> Option<SpanHandle> {
        use trace::Span as _;
        let given = parent.and_then(|span| span.as_any().downcast_ref::<OtelSpan>());
        let parent = given.map_or_else(Context::current, |OtelSpan(context)| context.clone());
        let kind =
            if name == "storage-mux.attempt" { SpanKind::Client } else { SpanKind::Internal };
        let builder = SpanBuilder::from_name(name).with_kind(kind);
        let mut span = self.0.build_with_context(builder, &parent);
        if span.is_recording() {
            span.set_attributes(attributes.iter().map(key_value));
        } else {
            // A span that was sampled out is kept, so that its children are sampled out with it.
            // One that is its own parent, or nobody, has nothing to hand on.
            let own = span.span_context().span_id();
            if !span.span_context().is_valid() || own == parent.span().span_context().span_id() {
                return None;
            }
        }
        let boxed: Box<dyn Span> = Box::new(OtelSpan(parent.with_span(span)));
        Some(Arc::from(boxed))
    }
}

/// An attribute as OpenTelemetry knows it: counts are signed there, and end at `i64::MAX`.
pub(super) fn key_value(attribute: &Attribute<'_>) -> KeyValue {
    let value = match attribute.value {
        AttributeValue::Str(text) => Value::from(String::from(text)),
        AttributeValue::U64(count) => Value::from(i64::try_from(count).unwrap_or(i64::MAX)),
        AttributeValue::F64(quantity) => Value::from(quantity),
    };
    KeyValue::new(attribute.key, value)
}

/// An OpenTelemetry context, and the span in it, as a parent in an
/// [`OpContext`](crate::OpContext).
#[derive(Clone)]
pub struct OtelSpan(Context);

impl OtelSpan {
    /// A handle of the span of a context: one of this process, or of the remote caller.
    #[must_use]
    pub const fn new(context: Context) -> Self {
        Self(context)
    }

    /// The context with the span, for a backend to work under or to send along.
    #[must_use]
    pub const fn context(&self) -> &Context {
        &self.0
    }
}

/// The outcomes that tell of a fault and not of an answer.
const FAILED: [AttributeValue<'_>; 2] =
    [AttributeValue::Str("transient"), AttributeValue::Str("timeout")];

impl Span for OtelSpan {
    fn end(&self, attributes: &[Attribute<'_>]) {
        let span = self.0.span();
        if span.is_recording() {
            for attribute in attributes {
                if attribute.key == "mux.outcome" && FAILED.contains(&attribute.value) {
                    span.set_status(Status::error(attribute.value.to_string()));
                }
                span.set_attribute(key_value(attribute));
            }
        }
        span.end();
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl fmt::Debug for OtelSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OtelSpan").field(self.0.span().span_context()).finish()
    }
}
