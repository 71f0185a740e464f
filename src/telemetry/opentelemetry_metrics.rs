//! Metrics for any OpenTelemetry provider.

use alloc::vec::Vec;
use core::fmt;

use ::opentelemetry::KeyValue;
use ::opentelemetry::metrics::{self, Counter, Histogram};
use hashbrown::HashMap;

use super::opentelemetry::key_value;
use crate::port::{Attribute, Meter};
use crate::sync::{Arc, Snapshot};

/// Records the measurements of a mux, of a retry or of a breaker with an OpenTelemetry meter.
///
/// A count goes to a counter of `u64`, a value to a histogram of `f64`, each made at its first
/// measurement. The names are those of the measurements, without a unit beside them: they say it
/// themselves. Clones share the instruments.
///
/// ```
/// use opentelemetry::metrics::{MeterProvider as _, noop::NoopMeterProvider};
/// use storage_mux::Meter as _;
/// use storage_mux::telemetry::OtelMeter;
///
/// // On a server: `opentelemetry::global::meter("my-service")`.
/// let meter = OtelMeter::new(NoopMeterProvider::new().meter("my-service"));
/// meter.count("retry.attempt.total", 1, &[]);
/// ```
#[derive(Clone)]
pub struct OtelMeter {
    meter: metrics::Meter,
    counters: Arc<Instruments<Counter<u64>>>,
    histograms: Arc<Instruments<Histogram<f64>>>,
}

impl OtelMeter {
    /// A binding to `meter`, with no instruments yet.
    #[must_use]
    pub fn new(meter: metrics::Meter) -> Self {
        let counters = Arc::new(Instruments::new());
        Self { meter, counters, histograms: Arc::new(Instruments::new()) }
    }
}

impl Meter for OtelMeter {
    fn count(&self, name: &'static str, add: u64, attributes: &[Attribute<'_>]) {
        let counter = self.counters.named(name, || self.meter.u64_counter(name).build());
        counter.add(add, &key_values(attributes));
    }

    fn record(&self, name: &'static str, value: f64, attributes: &[Attribute<'_>]) {
        let histogram = self.histograms.named(name, || self.meter.f64_histogram(name).build());
        histogram.record(value, &key_values(attributes));
    }
}

fn key_values(attributes: &[Attribute<'_>]) -> Vec<KeyValue> {
    attributes.iter().map(key_value).collect()
}

impl fmt::Debug for OtelMeter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OtelMeter").finish_non_exhaustive()
    }
}

/// The instruments of one kind by their name.
///
/// A provider gives the same instrument for the same name, so where two threads meet at the first
/// measurement it does not matter whose entry stays; a lost one is made anew.
struct Instruments<I>(Snapshot<HashMap<&'static str, I>>);

impl<I: Clone> Instruments<I> {
    fn new() -> Self {
        Self(Snapshot::new(Arc::new(HashMap::new())))
    }

    fn named(&self, name: &'static str, make: impl FnOnce() -> I) -> I {
        let known = self.0.load();
        if let Some(instrument) = known.get(name) {
            return instrument.clone();
        }
        let instrument = make();
        let mut more = HashMap::clone(&known);
        more.insert(name, instrument.clone());
        self.0.store(Arc::new(more));
        instrument
    }
}
