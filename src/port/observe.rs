//! Who watches a mux. Everything here is optional: an absent watcher costs nothing.

use core::any::Any;
use core::fmt;

use super::Event;
use crate::sync::Arc;

/// Receives the events of a mux.
///
/// Called on the path of the call that caused the event, with no lock held: a sink may call back
/// into the mux. It must not block; a sink that queues must bound its queue.
pub trait EventSink: Send + Sync {
    /// One event.
    fn emit(&self, event: &Event);
}

impl<F: Fn(&Event) + Send + Sync> EventSink for F {
    fn emit(&self, event: &Event) {
        self(event);
    }
}

/// One fact about a span or a measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attribute<'a> {
    /// Its key: a wire contract.
    pub key: &'static str,
    /// Its value.
    pub value: AttributeValue<'a>,
}

/// The value of an attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum AttributeValue<'a> {
    /// Text.
    Str(&'a str),
    /// A count.
    U64(u64),
    /// A quantity.
    F64(f64),
}

impl<'a> Attribute<'a> {
    /// A text.
    #[must_use]
    pub const fn str(key: &'static str, value: &'a str) -> Self {
        Self { key, value: AttributeValue::Str(value) }
    }

    /// A count.
    #[must_use]
    pub const fn u64(key: &'static str, value: u64) -> Self {
        Self { key, value: AttributeValue::U64(value) }
    }

    /// A quantity.
    #[must_use]
    pub const fn f64(key: &'static str, value: f64) -> Self {
        Self { key, value: AttributeValue::F64(value) }
    }
}

impl fmt::Display for AttributeValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Str(text) => f.write_str(text),
            Self::U64(count) => fmt::Display::fmt(count, f),
            Self::F64(quantity) => fmt::Display::fmt(quantity, f),
        }
    }
}

/// Opens spans. The shape is OpenTelemetry's: a name, a parent, attributes, an end.
pub trait Tracer: Send + Sync {
    /// Opens a span, or gives `None` where nobody would look at it.
    ///
    /// Without a parent the tracer may use what its ecosystem calls the current span.
    fn start(
        &self,
        name: &'static str,
        parent: Option<&SpanHandle>,
        attributes: &[Attribute<'_>],
    ) -> Option<SpanHandle>;
}

impl<T: Tracer + ?Sized> Tracer for Arc<T> {
    fn start(
        &self,
        name: &'static str,
        parent: Option<&SpanHandle>,
        attributes: &[Attribute<'_>],
    ) -> Option<SpanHandle> {
        (**self).start(name, parent, attributes)
    }
}

/// An open span. The mux ends each exactly once, also when its call is dropped.
pub trait Span: Send + Sync {
    /// Adds what became known last, and ends the span.
    fn end(&self, attributes: &[Attribute<'_>]);

    /// The span itself, for the tracer that made it to find it again as a parent.
    fn as_any(&self) -> &dyn Any;
}

/// A span that can be handed on as a parent. Dropping the handle does not end the span.
pub type SpanHandle = Arc<dyn Span>;

/// Records measurements. The names and attributes are wire contracts.
pub trait Meter: Send + Sync {
    /// Adds to a counter.
    fn count(&self, name: &'static str, add: u64, attributes: &[Attribute<'_>]);

    /// Records a value in a histogram.
    fn record(&self, name: &'static str, value: f64, attributes: &[Attribute<'_>]);
}

impl<T: Meter + ?Sized> Meter for Arc<T> {
    fn count(&self, name: &'static str, add: u64, attributes: &[Attribute<'_>]) {
        (**self).count(name, add, attributes);
    }

    fn record(&self, name: &'static str, value: f64, attributes: &[Attribute<'_>]) {
        (**self).record(name, value, attributes);
    }
}
