//! The events of a mux as `tracing` events, under the target `storage_mux`.

use core::fmt;

use ::tracing::{info, warn};

use crate::port::{Event, EventSink};

/// Gives each [`Event`] on as a `tracing` event with its topic and its fields.
///
/// A backend that is down and a write that not all backends have are of the level `WARN`, all
/// others `INFO`. The topic is both the name of the event and its field `topic`; the other fields
/// are those of the [`Event`], errors and lists as text, durations as `Debug` writes them.
///
/// See [`TracingTracer`](super::TracingTracer) for an example.
#[derive(Clone, Copy, Debug, Default)]
pub struct TracingSink(());

impl TracingSink {
    /// A sink. It has no state: subscribers are found where `tracing` keeps them.
    #[must_use]
    pub const fn new() -> Self {
        Self(())
    }
}

/// One callsite for each topic, as `tracing` wants it.
macro_rules! tell {
    ($level:ident, $topic:literal, $text:literal, $($fields:tt)*) => {
        $level!(
            name: $topic,
            target: "storage_mux",
            { topic = $topic, $($fields)* },
            $text
        )
    };
}

impl EventSink for TracingSink {
    fn emit(&self, event: &Event) {
        match event {
            Event::BackendDown { name, cause, code } => tell!(
                warn, "storage-mux.backend.down", "a backend is down",
                name = %name, cause = %cause, code = *code
            ),
            Event::BackendRecovered { name, down_for } => tell!(
                info, "storage-mux.backend.recovered", "a backend is up again",
                name = %name, down_for = ?down_for
            ),
            Event::Failover { from, to, attempt_index, cause } => tell!(
                info, "storage-mux.failover", "a call moved on to the next backend",
                from = %from, to = %to, attempt_index = *attempt_index, cause = %cause
            ),
            Event::FanoutPartial { mode, failed, causes } => tell!(
                warn, "storage-mux.fanout-partial", "some backends lack a write",
                mode = mode.as_str(), failed = %List(failed), causes = %List(causes)
            ),
            Event::DrainStarted { name, in_flight } => tell!(
                info, "storage-mux.drain.started", "a backend takes no new calls",
                name = %name, in_flight = *in_flight
            ),
            Event::DrainCompleted { name, duration } => tell!(
                info, "storage-mux.drain.completed", "a backend has served its last call",
                name = %name, duration = ?duration
            ),
            Event::BackendAdded { name, weight } => tell!(
                info, "storage-mux.backend.added", "a backend joined",
                name = %name, weight = *weight
            ),
            Event::BackendRemoved { name } => tell!(
                info, "storage-mux.backend.removed", "a backend left",
                name = %name
            ),
            Event::WeightChanged { name, from, to } => tell!(
                info, "storage-mux.weight.changed", "a backend has a new weight",
                name = %name, from = *from, to = *to
            ),
        }
    }
}

/// Things as text on one line, in their order.
struct List<'a, T>(&'a [T]);

impl<T: fmt::Display> fmt::Display for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, item) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{item}")?;
        }
        Ok(())
    }
}
