//! Keeps what a mux tells its watchers.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::any::Any;

use crate::port::{Attribute, Event, EventSink, Meter, Span, SpanHandle, Tracer};
use crate::sync::{Arc, Lock};

/// A sink, a tracer and a meter in one. Clones share what was recorded.
#[derive(Clone, Debug, Default)]
pub struct Recorder(Arc<Lock<Record>>);

#[derive(Debug, Default)]
struct Record {
    events: Vec<Event>,
    spans: Vec<RecordedSpan>,
    measurements: Vec<RecordedMeasurement>,
}

/// Attributes as text, in the order in which they were given.
pub type RecordedAttributes = Vec<(&'static str, String)>;

/// A span that was opened.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RecordedSpan {
    /// Its name.
    pub name: &'static str,
    /// The index of its parent among the recorded spans.
    pub parent: Option<usize>,
    /// What was said at its start and at its end.
    pub attributes: RecordedAttributes,
    /// How often it was ended: one, if all is well.
    pub ends: u32,
}

impl RecordedSpan {
    /// The value of one attribute.
    #[must_use]
    pub fn attribute(&self, key: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| *known == key).map(|(_, value)| value.as_str())
    }
}

/// A count or a value that was recorded.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RecordedMeasurement {
    /// The name of the counter or histogram.
    pub name: &'static str,
    /// What was added or recorded.
    pub value: f64,
    /// Its attributes.
    pub attributes: RecordedAttributes,
}

impl Recorder {
    /// An empty record.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The events so far.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        self.0.with(|record| record.events.clone())
    }

    /// The topics of the events so far.
    #[must_use]
    pub fn topics(&self) -> Vec<&'static str> {
        self.0.with(|record| record.events.iter().map(Event::topic).collect())
    }

    /// The spans so far, in the order of their start.
    #[must_use]
    pub fn spans(&self) -> Vec<RecordedSpan> {
        self.0.with(|record| record.spans.clone())
    }

    /// The measurements so far.
    #[must_use]
    pub fn measurements(&self) -> Vec<RecordedMeasurement> {
        self.0.with(|record| record.measurements.clone())
    }

    /// The sum of a counter, or of all values of a histogram.
    #[must_use]
    pub fn total(&self, name: &str) -> f64 {
        self.0.with(|record| {
            let named = record.measurements.iter().filter(|each| each.name == name);
            named.map(|each| each.value).sum()
        })
    }

    /// How many spans were opened and not ended, or ended more than once: none, if all is well
    /// and every call is over.
    #[must_use]
    pub fn unbalanced_spans(&self) -> usize {
        self.0.with(|record| record.spans.iter().filter(|span| span.ends != 1).count())
    }

    /// Forgets what was recorded. Call it while no span is open: spans are counted anew.
    pub fn clear(&self) {
        drop(self.0.with(core::mem::take));
    }

    fn measure(&self, name: &'static str, value: f64, attributes: &[Attribute<'_>]) {
        let measurement = RecordedMeasurement { name, value, attributes: owned(attributes) };
        self.0.with(|record| record.measurements.push(measurement));
    }
}

fn owned(attributes: &[Attribute<'_>]) -> RecordedAttributes {
    attributes.iter().map(|attribute| (attribute.key, attribute.value.to_string())).collect()
}

impl EventSink for Recorder {
    fn emit(&self, event: &Event) {
        self.0.with(|record| record.events.push(event.clone()));
    }
}

impl Meter for Recorder {
    fn count(&self, name: &'static str, add: u64, attributes: &[Attribute<'_>]) {
        self.measure(name, add as f64, attributes);
    }

    fn record(&self, name: &'static str, value: f64, attributes: &[Attribute<'_>]) {
        self.measure(name, value, attributes);
    }
}

struct OpenSpan {
    record: Arc<Lock<Record>>,
    index: usize,
}

impl Span for OpenSpan {
    fn end(&self, attributes: &[Attribute<'_>]) {
        let late = owned(attributes);
        self.record.with(|record| {
            if let Some(span) = record.spans.get_mut(self.index) {
                span.attributes.extend(late);
                span.ends += 1;
            }
        });
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Tracer for Recorder {
    fn start(
        &self,
        name: &'static str,
        parent: Option<&SpanHandle>,
        attributes: &[Attribute<'_>],
    ) -> Option<SpanHandle> {
        let parent = parent.and_then(|span| span.as_any().downcast_ref::<OpenSpan>());
        let span = RecordedSpan {
            name,
            parent: parent.map(|span| span.index),
            attributes: owned(attributes),
            ends: 0,
        };
        let index = self.0.with(|record| {
            record.spans.push(span);
            record.spans.len() - 1
        });
        let open: Box<dyn Span> = Box::new(OpenSpan { record: self.0.clone(), index });
        Some(Arc::from(open))
    }
}
