//! The measurements of a mux, a retry and a breaker, as an SDK exports them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use opentelemetry::metrics::{
    Counter, Histogram, HistogramBuilder, InstrumentBuilder, InstrumentProvider,
    MeterProvider as _, SyncInstrument,
};
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, PeriodicReader, SdkMeterProvider};
use storage_mux::retry::{Backoff, CircuitBreaker, CircuitBreakerOptions, Jitter, RetryOptions};
use storage_mux::sim::Fault;
use storage_mux::telemetry::OtelMeter;
use storage_mux::{
    Attribute, Backend, Clock, Meter, SeededRng, SharedStorage, StorageError, StorageMux,
};

use crate::scene::Scene;
use crate::support::{ms, plain};

/// A provider and what it exported.
struct Metrics {
    provider: SdkMeterProvider,
    exporter: InMemoryMetricExporter,
}

/// A counter has a sum; a histogram a number of values and their sum.
#[derive(Clone, Debug, PartialEq)]
enum Point {
    Counter(u64),
    Histogram(u64, f64),
}

impl Metrics {
    fn new() -> Self {
        let exporter = InMemoryMetricExporter::default();
        let reader = PeriodicReader::builder(exporter.clone()).build();
        Self { provider: SdkMeterProvider::builder().with_reader(reader).build(), exporter }
    }

    fn meter(&self) -> OtelMeter {
        OtelMeter::new(self.provider.meter("storage-mux"))
    }

    /// All points, sorted: the name with its attributes, and the figures.
    fn points(&self) -> Vec<(String, Point)> {
        self.provider.force_flush().expect("flushes");
        let exported = self.exporter.get_finished_metrics().expect("the exporter answers");
        let last = exported.last().expect("an export");
        let mut points = Vec::new();
        for metric in last.scope_metrics().flat_map(|scope| scope.metrics()) {
            let full = |attributes: &mut dyn Iterator<Item = &opentelemetry::KeyValue>| {
                let mut pairs: Vec<_> = attributes
                    .map(|attribute| format!("{}={}", attribute.key, attribute.value))
                    .collect();
                pairs.sort();
                format!("{}{{{}}}", metric.name(), pairs.join(","))
            };
            match metric.data() {
                AggregatedMetrics::U64(MetricData::Sum(sum)) => {
                    assert!(sum.is_monotonic());
                    points.extend(sum.data_points().map(|point| {
                        (full(&mut point.attributes()), Point::Counter(point.value()))
                    }));
                }
                AggregatedMetrics::F64(MetricData::Histogram(histogram)) => {
                    points.extend(histogram.data_points().map(|point| {
                        let figures = Point::Histogram(point.count(), point.sum());
                        (full(&mut point.attributes()), figures)
                    }));
                }
                other => panic!("neither a counter nor a histogram: {other:?}"),
            }
        }
        points.sort_by(|(one, _), (other, _)| one.cmp(other));
        points
    }
}

/// Spec: RT-10
#[test]
fn the_tries_of_a_mux_are_counted_by_outcome_and_their_delays_by_strategy() {
    let (scene, metrics) = (Scene::new(), Metrics::new());
    let (_, stores) = scene.mux(1, plain());
    let retry = RetryOptions::default()
        .with_backoff(Backoff::linear(ms(10), ms(5)))
        .with_jitter(Jitter::None);
    let mux = StorageMux::builder(scene.clock.clone(), SeededRng::new(1))
        .backend(Backend::new("a", SharedStorage::new(stores[0].clone())))
        .options(plain().with_retry(retry))
        .meter(metrics.meter())
        .build()
        .expect("a mux");
    for failures in [2, 0, 3] {
        for _ in 0..failures {
            stores[0].push(Fault::Fail(StorageError::http(500)));
        }
        let _ = scene.run(mux.get("k"));
    }
    let expected = [
        ("retry.attempt.delay_ms{strategy=linear}", Point::Histogram(4, 50.0)),
        ("retry.attempt.total{outcome=exhausted}", Point::Counter(1)),
        ("retry.attempt.total{outcome=failure}", Point::Counter(4)),
        ("retry.attempt.total{outcome=success}", Point::Counter(2)),
    ];
    assert_eq!(metrics.points(), expected.map(|(name, point)| (name.to_string(), point)));
}

/// Spec: RT-10
#[test]
fn the_changes_of_a_breaker_are_counted_by_state_and_its_calls_measured() {
    let (scene, metrics) = (Scene::new(), Metrics::new());
    let options = CircuitBreakerOptions::new().with_failure_threshold(1).with_timeout(ms(100));
    let breaker = CircuitBreaker::new(options, scene.clock.clone())
        .expect("a breaker")
        .with_meter(metrics.meter());
    let call = |time, result: Result<(), &'static str>| {
        let clock = scene.clock.clone();
        scene.run(breaker.call(|| async move {
            clock.sleep(ms(time)).await;
            result
        }))
    };
    call(30, Err("down")).expect_err("opens");
    call(7, Ok(())).expect_err("refused");
    scene.clock.advance(ms(100));
    call(4, Ok(())).expect("closes");
    let expected = [
        ("circuit_breaker.call.duration_ms{}", Point::Histogram(2, 34.0)),
        ("circuit_breaker.state_change.total{from=closed,to=open}", Point::Counter(1)),
        ("circuit_breaker.state_change.total{from=half-open,to=closed}", Point::Counter(1)),
        ("circuit_breaker.state_change.total{from=open,to=half-open}", Point::Counter(1)),
    ];
    assert_eq!(metrics.points(), expected.map(|(name, point)| (name.to_string(), point)));
}

/// Spec: RT-10
#[test]
fn attributes_keep_their_kind_and_clones_share_their_instruments() {
    let metrics = Metrics::new();
    let meter = metrics.meter();
    let attributes = [
        Attribute::str("text", "a"),
        Attribute::u64("count", u64::MAX),
        Attribute::f64("quantity", 0.5),
    ];
    meter.count("calls", 1, &attributes);
    meter.clone().count("calls", 2, &attributes);
    meter.record("other", 1.5, &[]);
    let expected = [
        ("calls{count=9223372036854775807,quantity=0.5,text=a}", Point::Counter(3)),
        ("other{}", Point::Histogram(1, 1.5)),
    ];
    assert_eq!(metrics.points(), expected.map(|(name, point)| (name.to_string(), point)));
}

/// Spec: RT-10
#[test]
fn threads_that_meet_at_the_first_measurement_count_together() {
    let metrics = Metrics::new();
    let meter = metrics.meter();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for name in ["one", "two", "three"] {
                    (0..100).for_each(|_| meter.count(name, 1, &[]));
                }
            });
        }
    });
    let expected = ["one{}", "three{}", "two{}"];
    assert_eq!(metrics.points(), expected.map(|name| (name.to_string(), Point::Counter(400))));
}

/// Counts the counters and histograms that it is asked for.
#[derive(Default)]
struct Makes([AtomicUsize; 2]);

impl InstrumentProvider for Makes {
    fn u64_counter(&self, _: InstrumentBuilder<'_, Counter<u64>>) -> Counter<u64> {
        self.0[0].fetch_add(1, Ordering::SeqCst);
        Counter::new(Arc::new(Noop))
    }

    fn f64_histogram(&self, _: HistogramBuilder<'_, Histogram<f64>>) -> Histogram<f64> {
        self.0[1].fetch_add(1, Ordering::SeqCst);
        Histogram::new(Arc::new(Noop))
    }
}

struct Noop;

impl<T> SyncInstrument<T> for Noop {
    fn measure(&self, _: T, _: &[opentelemetry::KeyValue]) {}
}

/// Spec: RT-10
#[test]
fn an_instrument_is_made_once_and_not_before_it_is_used() {
    let makes = Arc::new(Makes::default());
    let made = || makes.0.each_ref().map(|count| count.load(Ordering::SeqCst));
    let meter = OtelMeter::new(opentelemetry::metrics::Meter::new(makes.clone()));
    assert_eq!(made(), [0, 0]);
    for _ in 0..3 {
        meter.count("one", 1, &[]);
        meter.clone().count("two", 1, &[]);
        meter.record("one", 1.0, &[]);
    }
    assert_eq!(made(), [2, 1]);
}
