//! A layer that keeps what a subscriber sees.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Level, Metadata, Subscriber, subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry};

/// A span or an event as a subscriber saw it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seen {
    pub(crate) name: &'static str,
    pub(crate) target: &'static str,
    pub(crate) level: Level,
    pub(crate) parent: Option<&'static str>,
    pub(crate) fields: BTreeMap<&'static str, String>,
    pub(crate) closed: bool,
}

impl Seen {
    fn new(metadata: &'static Metadata<'static>, parent: Option<&'static str>) -> Self {
        let (name, target, level) = (metadata.name(), metadata.target(), *metadata.level());
        Self { name, target, level, parent, fields: BTreeMap::new(), closed: false }
    }

    /// The fields as `key=value`, sorted by key.
    pub(crate) fn text(&self) -> String {
        let pairs = self.fields.iter().map(|(key, value)| format!("{key}={value}"));
        pairs.collect::<Vec<_>>().join(" ")
    }
}

impl Visit for Seen {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.fields.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name(), value.to_string());
    }
}

/// Keeps what a subscriber sees: spans by the order of their start, and events.
#[derive(Clone, Default)]
pub(crate) struct Watch {
    spans: Arc<Mutex<Vec<(Id, Seen)>>>,
    events: Arc<Mutex<Vec<Seen>>>,
}

impl Watch {
    pub(crate) fn spans(&self) -> Vec<Seen> {
        self.spans.lock().unwrap().iter().map(|(_, span)| span.clone()).collect()
    }

    pub(crate) fn events(&self) -> Vec<Seen> {
        self.events.lock().unwrap().clone()
    }

    fn update(&self, id: &Id, change: impl FnOnce(&mut Seen)) {
        let mut spans = self.spans.lock().unwrap();
        // Ids are used again once a span is closed: the last is meant.
        let found = spans.iter_mut().rfind(|(known, _)| known == id);
        change(&mut found.expect("a span that was opened").1);
    }

    /// What happens inside is seen.
    pub(crate) fn during<T>(&self, happens: impl FnOnce() -> T) -> T {
        subscriber::with_default(Registry::default().with(self.clone()), happens)
    }

    /// Every span has closed. Gives the outcomes of the attempts.
    pub(crate) fn outcomes(&self) -> Vec<String> {
        let spans = self.spans();
        for span in &spans {
            assert!(span.closed, "{span:?} is open");
        }
        spans.iter().filter_map(|span| span.fields.get("mux.outcome").cloned()).collect()
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Watch {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, cx: Context<'_, S>) {
        let parent = cx.span(id).and_then(|span| Some(span.parent()?.name()));
        let mut seen = Seen::new(attributes.metadata(), parent);
        attributes.record(&mut seen);
        self.spans.lock().unwrap().push((id.clone(), seen));
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        self.update(id, |seen| values.record(seen));
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        self.update(&id, |seen| seen.closed = true);
    }

    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let mut seen = Seen::new(event.metadata(), None);
        event.record(&mut seen);
        self.events.lock().unwrap().push(seen);
    }
}
