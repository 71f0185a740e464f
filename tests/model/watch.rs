//! What a mux tells its watchers, in a form that can be compared: events, spans and measurements.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use storage_mux::{
    Attribute, AttributeValue, Event, EventSink, Meter, MuxMode, Span, SpanHandle, Tracer,
};

use crate::fail::Fail;

/// An event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Told {
    Down { name: String, cause: Fail, code: &'static str },
    Recovered { name: String, down_for: u64 },
    Failover { from: String, to: String, index: u32, cause: Fail },
    Partial { mode: MuxMode, failed: Vec<(String, Fail)> },
    DrainStarted { name: String, in_flight: u64 },
    DrainCompleted { name: String, took: u64 },
    Added { name: String, weight: Option<f64> },
    Removed { name: String },
    Weighed { name: String, from: Option<f64>, to: f64 },
    Unknown(String),
}

impl Told {
    fn seen(event: &Event) -> Self {
        let text = |name: &storage_mux::BackendName| name.as_str().to_owned();
        let nanos = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        match event {
            Event::BackendDown { name, cause, code } => {
                Self::Down { name: text(name), cause: Fail::seen(cause), code }
            }
            Event::BackendRecovered { name, down_for } => {
                Self::Recovered { name: text(name), down_for: nanos(*down_for) }
            }
            Event::Failover { from, to, attempt_index, cause } => Self::Failover {
                from: text(from),
                to: text(to),
                index: *attempt_index,
                cause: Fail::seen(cause),
            },
            Event::FanoutPartial { mode, failed, causes } => {
                let failed = failed.iter().map(text).zip(causes.iter().map(Fail::seen));
                Self::Partial { mode: *mode, failed: failed.collect() }
            }
            Event::DrainStarted { name, in_flight } => {
                Self::DrainStarted { name: text(name), in_flight: *in_flight }
            }
            Event::DrainCompleted { name, duration } => {
                Self::DrainCompleted { name: text(name), took: nanos(*duration) }
            }
            Event::BackendAdded { name, weight } => {
                Self::Added { name: text(name), weight: *weight }
            }
            Event::BackendRemoved { name } => Self::Removed { name: text(name) },
            Event::WeightChanged { name, from, to } => {
                Self::Weighed { name: text(name), from: *from, to: *to }
            }
            other => Self::Unknown(other.topic().into()),
        }
    }
}

/// The span of a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Called {
    pub(crate) name: &'static str,
    pub(crate) key: Option<String>,
    pub(crate) ends: u32,
}

/// The span of an attempt.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked {
    /// Which call it belongs to, in the order of their start.
    pub(crate) call: Option<usize>,
    pub(crate) name: String,
    pub(crate) index: u64,
    /// Outcome and latency in milliseconds, once it has ended.
    pub(crate) ends: Vec<(String, f64)>,
}

/// Everything that was told so far.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) told: Vec<Told>,
    pub(crate) called: Vec<Called>,
    pub(crate) asked: Vec<Asked>,
    /// The outcomes of tries, by name, and the waits between them.
    pub(crate) tries: BTreeMap<String, u64>,
    pub(crate) waits_ms: Vec<f64>,
    /// What has no place above.
    pub(crate) strange: Vec<String>,
}

/// A sink, a tracer and a meter in one. Clones share the record.
#[derive(Clone, Default)]
pub(crate) struct Watch {
    record: Arc<Mutex<Record>>,
    mode: MuxMode,
}

impl Watch {
    pub(crate) fn new(mode: MuxMode) -> Self {
        Self { record: Arc::default(), mode }
    }

    pub(crate) fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().expect("no watcher panics")
    }
}

impl EventSink for Watch {
    fn emit(&self, event: &Event) {
        let told = Told::seen(event);
        self.record().told.push(told);
    }
}

impl Meter for Watch {
    fn count(&self, name: &'static str, add: u64, attributes: &[Attribute<'_>]) {
        let mut record = self.record();
        match attributes {
            [Attribute { key: "outcome", value }] if name == "retry.attempt.total" => {
                *record.tries.entry(value.to_string()).or_default() += add;
            }
            _ => record.strange.push(format!("{name} {attributes:?}")),
        }
    }

    fn record(&self, name: &'static str, value: f64, attributes: &[Attribute<'_>]) {
        let mut record = self.record();
        match attributes {
            [Attribute { key: "strategy", value: AttributeValue::Str("constant") }]
                if name == "retry.attempt.delay_ms" =>
            {
                record.waits_ms.push(value);
            }
            _ => record.strange.push(format!("{name} {attributes:?}")),
        }
    }
}

#[derive(Clone, Copy)]
enum Which {
    Call(usize),
    Attempt(usize),
}

struct Open {
    watch: Watch,
    which: Which,
}

fn text(attributes: &[Attribute<'_>], key: &str) -> Option<String> {
    let found = attributes.iter().find(|attribute| attribute.key == key)?;
    Some(found.value.to_string())
}

impl Span for Open {
    fn end(&self, attributes: &[Attribute<'_>]) {
        let mut record = self.watch.record();
        match self.which {
            Which::Call(at) => record.called[at].ends += 1,
            Which::Attempt(at) => {
                let outcome = text(attributes, "mux.outcome").unwrap_or_default();
                let latency = text(attributes, "mux.latency.ms").and_then(|ms| ms.parse().ok());
                record.asked[at].ends.push((outcome, latency.unwrap_or(f64::NAN)));
            }
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Tracer for Watch {
    fn start(
        &self,
        name: &'static str,
        parent: Option<&SpanHandle>,
        attributes: &[Attribute<'_>],
    ) -> Option<SpanHandle> {
        let mut record = self.record();
        if text(attributes, "mux.mode").as_deref() != Some(self.mode.as_str()) {
            record.strange.push(format!("{name} {attributes:?}"));
        }
        let which = if name == "storage-mux.attempt" {
            let parent = parent.and_then(|span| span.as_any().downcast_ref::<Open>());
            let call = match parent.map(|open| open.which) {
                Some(Which::Call(at)) => Some(at),
                Some(Which::Attempt(_)) | None => None,
            };
            record.asked.push(Asked {
                call,
                name: text(attributes, "mux.backend.name").unwrap_or_default(),
                index: text(attributes, "mux.attempt.index")
                    .and_then(|index| index.parse().ok())
                    .unwrap_or(u64::MAX),
                ends: Vec::new(),
            });
            Which::Attempt(record.asked.len() - 1)
        } else {
            record.called.push(Called { name, key: text(attributes, "mux.key"), ends: 0 });
            Which::Call(record.called.len() - 1)
        };
        drop(record);
        Some(Arc::new(Open { watch: self.clone(), which }))
    }
}
