//! Spans of calls and attempts: opened where a tracer is, ended once whatever happens.

use core::time::Duration;

use super::Watchers;
use crate::mux_mode::MuxMode;
use crate::name::BackendName;
use crate::port::{Attribute, OpContext, Operation, SpanHandle};
use crate::stats::Outcome;
use crate::time::millis;

/// The span of a call. Ends when it is dropped.
#[derive(Default)]
pub(crate) struct CallSpan(Option<SpanHandle>);

impl CallSpan {
    pub(super) fn open(
        watchers: &Watchers,
        operation: Operation,
        mode: MuxMode,
        key: Option<&str>,
        cx: &OpContext,
    ) -> Self {
        let Some(tracer) = &watchers.tracer else { return Self(None) };
        let attributes = [
            Attribute::str("mux.mode", mode.as_str()),
            Attribute::str("mux.key", key.unwrap_or("")),
        ];
        let shown = if key.is_some() { &attributes[..] } else { &attributes[..1] };
        Self(tracer.start(operation.span_name(), cx.parent(), shown))
    }

    pub(super) const fn handle(&self) -> Option<&SpanHandle> {
        self.0.as_ref()
    }
}

impl Drop for CallSpan {
    fn drop(&mut self) {
        if let Some(span) = self.0.take() {
            span.end(&[]);
        }
    }
}

/// Opens the span of an attempt under that of its call.
pub(super) fn attempt_span(
    watchers: &Watchers,
    call: &CallSpan,
    name: &BackendName,
    index: u32,
    mode: MuxMode,
) -> Option<SpanHandle> {
    let tracer = watchers.tracer.as_ref()?;
    let attributes = [
        Attribute::str("mux.backend.name", name),
        Attribute::u64("mux.attempt.index", u64::from(index)),
        Attribute::str("mux.mode", mode.as_str()),
    ];
    tracer.start("storage-mux.attempt", call.handle(), &attributes)
}

/// Ends the span of an attempt with how it went.
pub(super) fn end_attempt_span(span: &SpanHandle, outcome: Outcome, latency: Duration) {
    span.end(&[
        Attribute::str("mux.outcome", outcome.as_str()),
        Attribute::f64("mux.latency.ms", millis(latency)),
    ]);
}
