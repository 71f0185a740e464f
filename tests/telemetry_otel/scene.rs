//! A mux on a fake clock whose spans an SDK provider exports to memory.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use opentelemetry::trace::{SpanId, TracerProvider as _};
use opentelemetry::{Context, Value};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{
    InMemorySpanExporter, SdkTracer, SdkTracerProvider, ShouldSample, Span, SpanData, SpanProcessor,
};
use storage_mux::sim::{FakeClock, FaultStorage, run};
use storage_mux::telemetry::OtelTracer;
use storage_mux::{
    Backend, MemoryStorage, MuxBuilder, MuxOptions, OpContext, SeededRng, SharedStorage, Storage,
    StorageMux,
};

use crate::support::{NAMES, Store};

pub(crate) type SceneMux = StorageMux<SharedStorage, FakeClock, SeededRng>;

/// How many spans were started and ended.
#[derive(Clone, Debug, Default)]
struct Count(Arc<[AtomicUsize; 2]>);

impl SpanProcessor for Count {
    fn on_start(&self, _: &mut Span, _: &Context) {
        self.0[0].fetch_add(1, Ordering::SeqCst);
    }

    fn on_end(&self, _: SpanData) {
        self.0[1].fetch_add(1, Ordering::SeqCst);
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }
}

/// A provider, what it exported, and the time.
pub(crate) struct Scene {
    pub(crate) clock: FakeClock,
    pub(crate) provider: SdkTracerProvider,
    exporter: InMemorySpanExporter,
    count: Count,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::sampled(opentelemetry_sdk::trace::Sampler::AlwaysOn)
    }

    pub(crate) fn sampled(sampler: impl ShouldSample + 'static) -> Self {
        let (exporter, count) = (InMemorySpanExporter::default(), Count::default());
        let provider = SdkTracerProvider::builder()
            .with_sampler(sampler)
            .with_span_processor(count.clone())
            .with_simple_exporter(exporter.clone())
            .build();
        Self { clock: FakeClock::new(), provider, exporter, count }
    }

    pub(crate) fn tracer(&self) -> SdkTracer {
        self.provider.tracer("storage-mux")
    }

    pub(crate) fn builder(
        &self,
        options: MuxOptions,
    ) -> MuxBuilder<SharedStorage, FakeClock, SeededRng> {
        StorageMux::builder(self.clock.clone(), SeededRng::new(7))
            .options(options)
            .tracer(OtelTracer::new(self.tracer()))
    }

    /// A mux over `count` stores named a, b, c and so on, each with a value under `k`.
    pub(crate) fn mux(&self, count: usize, options: MuxOptions) -> (SceneMux, Vec<Store>) {
        let stores: Vec<Store> = (0..count)
            .map(|_| FaultStorage::new(MemoryStorage::new(), self.clock.clone()))
            .collect();
        for store in &stores {
            let cx = OpContext::new();
            self.run(store.inner().set("k", "value".into(), &cx)).expect("memory takes it");
        }
        let named = NAMES.into_iter().zip(&stores);
        let backends =
            named.map(|(name, store)| Backend::new(name, SharedStorage::new(store.clone())));
        (self.builder(options).backends(backends).build().expect("a mux"), stores)
    }

    pub(crate) fn run<F: Future>(&self, future: F) -> F::Output {
        run(&self.clock, future).expect("the future must not stall")
    }

    /// The exported spans, in the order of their end.
    pub(crate) fn spans(&self) -> Vec<SpanData> {
        self.exporter.get_finished_spans().expect("the exporter answers")
    }

    /// The exported spans of calls, and those of attempts by their index.
    pub(crate) fn calls_and_attempts(&self) -> (Vec<SpanData>, Vec<SpanData>) {
        let (mut attempts, calls): (Vec<_>, Vec<_>) =
            self.spans().into_iter().partition(|span| span.name == "storage-mux.attempt");
        attempts.sort_by_key(|span| text(span, "mux.attempt.index"));
        (calls, attempts)
    }

    /// As many ended as were started, each exported; one call, its attempts under it. Gives their
    /// outcomes.
    pub(crate) fn outcomes_of_the_one_call(&self) -> Vec<String> {
        let [started, ended] = self.count.0.each_ref().map(|count| count.load(Ordering::SeqCst));
        let (calls, attempts) = self.calls_and_attempts();
        assert_eq!((started, ended), (calls.len() + attempts.len(), started));
        let [call] = &calls[..] else { panic!("one call, not {calls:?}") };
        assert_eq!(call.parent_span_id, SpanId::INVALID);
        for attempt in &attempts {
            assert_eq!(attempt.parent_span_id, call.span_context.span_id());
            assert_eq!(attempt.span_context.trace_id(), call.span_context.trace_id());
        }
        attempts.iter().map(|attempt| text(attempt, "mux.outcome")).collect()
    }
}

/// The keys of a span's attributes, in the order in which they were set.
pub(crate) fn keys(span: &SpanData) -> Vec<&str> {
    span.attributes.iter().map(|attribute| attribute.key.as_str()).collect()
}

pub(crate) fn value<'a>(span: &'a SpanData, key: &str) -> &'a Value {
    let found = span.attributes.iter().find(|attribute| attribute.key.as_str() == key);
    &found.unwrap_or_else(|| panic!("no {key} in {span:?}")).value
}

pub(crate) fn text(span: &SpanData, key: &str) -> String {
    value(span, key).as_str().into_owned()
}
