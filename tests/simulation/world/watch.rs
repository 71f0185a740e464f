//! Who watches a mux: events and spans go into the book, and are checked against it.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use storage_mux::{
    Attribute, AttributeValue, BackendName, Event, EventSink, Span, SpanHandle, Tracer,
};

use super::ledger::{Book, Ledger};
use super::records::{Edge, EdgeId, MuxId, OUTCOMES, Target};

#[derive(Clone)]
pub(crate) struct Watch {
    pub(crate) ledger: Ledger,
    pub(crate) mux: MuxId,
}

impl EventSink for Watch {
    fn emit(&self, event: &Event) {
        self.ledger.with(|book| {
            let text = format!("* mux {} {} {}", self.mux, event.topic(), names(event));
            book.note(&[9], &text.clone(), || text);
            told(book, self.mux, event);
        });
    }
}

fn names(event: &Event) -> String {
    match event {
        Event::BackendDown { name, code, .. } => format!("{name} {code}"),
        Event::BackendRecovered { name, down_for } => format!("{name} {}", down_for.as_nanos()),
        Event::Failover { from, to, attempt_index, cause } => {
            format!("{from} {to} {attempt_index} {}", cause.code())
        }
        Event::FanoutPartial { failed, .. } => format!("{failed:?}"),
        Event::DrainStarted { name, in_flight } => format!("{name} {in_flight}"),
        Event::DrainCompleted { name, duration } => format!("{name} {}", duration.as_nanos()),
        Event::BackendAdded { name, .. } | Event::BackendRemoved { name } => name.to_string(),
        Event::WeightChanged { name, to, .. } => format!("{name} {:016x}", to.to_bits()),
        other => other.topic().into(),
    }
}

fn told(book: &mut Book, mux: MuxId, event: &Event) {
    match event {
        Event::BackendAdded { name, .. } => {
            let waits = |edge: &EdgeId| {
                let record = &book.edges[*edge];
                record.mux == mux && record.name == name.as_str() && !record.joined
            };
            match (0..book.edges.len()).rev().find(waits) {
                Some(edge) => {
                    book.edges[edge].joined = true;
                    book.muxes[mux].members.push(edge);
                }
                None => book.violation(format!("mux {mux}: {name} was added by nobody (MU-1)")),
            }
        }
        Event::FanoutPartial { failed, .. } => {
            book.muxes[mux].partials += 1;
            match book.stack.last().copied() {
                Some(top) if book.calls[top].target == Target::Mux(mux) => {
                    // Among those that the call started with: the name may be another's by now.
                    let active = &book.calls[top].active;
                    let of = |name: &BackendName| {
                        active.iter().copied().find(|edge| book.edges[*edge].name == **name)
                    };
                    let failed = failed.iter().filter_map(of).collect();
                    book.calls[top].partials.push(failed);
                }
                _ => book.violation(format!("mux {mux}: a fan-out event outside of its calls")),
            }
        }
        Event::Failover { .. } => book.muxes[mux].failovers += 1,
        Event::BackendRemoved { name } => {
            let gone = |edge: &Edge| edge.mux == mux && edge.name == **name && edge.removed;
            if !book.edges.iter().any(gone) {
                book.violation(format!("mux {mux}: {name} was removed and is still there (DR-3)"));
            }
        }
        Event::BackendDown { name, .. } => about(book, mux, name, went_down),
        Event::BackendRecovered { name, .. } => about(book, mux, name, came_back),
        Event::DrainStarted { name, in_flight } => {
            let in_flight = *in_flight;
            about(book, mux, name, |book, edge| {
                book.edges[edge].draining = Some(book.seq);
                // A backoff between two tries holds the backend and no call of it.
                if book.edges[edge].open > in_flight {
                    let (name, open) = (book.edge_name(edge), book.edges[edge].open);
                    book.violation(format!(
                        "{name}: drains with {in_flight} of {open} calls (DR-1)"
                    ));
                }
            });
        }
        Event::DrainCompleted { name, .. } => about(book, mux, name, left),
        Event::WeightChanged { name, to, .. } => {
            let to = *to;
            about(book, mux, name, |book, edge| {
                let since = book.edges[edge].weightless.unwrap_or(book.seq);
                book.edges[edge].weightless = (to == 0.0).then_some(since);
                book.edges[edge].weight = to;
            });
        }
        _ => {}
    }
}

fn about(book: &mut Book, mux: MuxId, name: &BackendName, f: impl FnOnce(&mut Book, EdgeId)) {
    // A backend that has left may still fail: nobody is told by name then.
    if let Some(edge) = book.member(mux, name) {
        f(book, edge);
    }
}

fn went_down(book: &mut Book, edge: EdgeId) {
    let (record, seq) = (&mut book.edges[edge], book.seq);
    let twice = record.down.replace(seq).is_some();
    let troubled = record.trouble.take().is_some();
    record.answered = None;
    let name = book.edge_name(edge);
    if twice {
        book.violation(format!("{name}: goes down twice (HE-2)"));
    }
    if !troubled {
        book.violation(format!("{name}: goes down without a failure (AB-4, HE-5)"));
    }
}

fn came_back(book: &mut Book, edge: EdgeId) {
    let record = &mut book.edges[edge];
    let was_down = record.down.take().is_some();
    let answered = record.answered.take().is_some();
    record.trouble = None;
    let name = book.edge_name(edge);
    if !was_down {
        book.violation(format!("{name}: comes back and was not down"));
    }
    if !answered {
        book.violation(format!("{name}: comes back by no call that set out since (HE-4)"));
    }
}

fn left(book: &mut Book, edge: EdgeId) {
    let record = &mut book.edges[edge];
    record.removed = true;
    let (mux, open) = (record.mux, record.open);
    book.muxes[mux].members.retain(|member| *member != edge);
    if open > 0 {
        let name = book.edge_name(edge);
        book.violation(format!("{name}: drained with {open} calls in flight (DR-1, SM-4)"));
    }
}

/// A span that is open.
struct Open {
    ledger: Ledger,
    mux: MuxId,
    /// Of an attempt: the backend.
    edge: Option<EdgeId>,
    ended: AtomicBool,
}

fn text<'a>(attributes: &[Attribute<'a>], key: &str) -> Option<&'a str> {
    attributes.iter().find(|each| each.key == key).and_then(|each| match each.value {
        AttributeValue::Str(text) => Some(text),
        _ => None,
    })
}

impl Tracer for Watch {
    fn start(
        &self,
        name: &'static str,
        parent: Option<&SpanHandle>,
        attributes: &[Attribute<'_>],
    ) -> Option<SpanHandle> {
        let above = parent.and_then(|span| span.as_any().downcast_ref::<Open>());
        let above = above.map(|open| (open.mux, open.edge));
        let mux = self.mux;
        let edge = self.ledger.with(|book| {
            book.open_spans += 1;
            let top = book.stack.last().copied();
            let top = top.filter(|top| book.calls[*top].target == Target::Mux(mux));
            let Some(top) = top else {
                book.violation(format!("mux {mux}: span {name} outside of its calls"));
                return None;
            };
            let by_name = text(attributes, "mux.backend.name");
            let edge = by_name.and_then(|name| book.member(mux, name));
            let expected = if name == "storage-mux.attempt" {
                book.calls[top].attempts += 1;
                if let Some(edge) = edge {
                    book.edges[edge].spans_begun += 1;
                }
                Some((mux, None))
            } else {
                // A health check is nobody's call, so what it calls has no span above it.
                let caller = book.calls[top].parent.map(|parent| &book.calls[parent]);
                caller.filter(|caller| caller.parent.is_some()).and_then(|caller| {
                    let Target::Edge(edge) = caller.target else { return None };
                    Some((book.edges[edge].mux, Some(edge)))
                })
            };
            if above != expected {
                let what = book.describe(top);
                book.violation(format!("{what}: span {name} under {above:?} (IN-1, OT-1)"));
            }
            edge
        });
        let ended = AtomicBool::new(false);
        Some(Arc::new(Open { ledger: self.ledger.clone(), mux, edge, ended }))
    }
}

impl Span for Open {
    fn end(&self, attributes: &[Attribute<'_>]) {
        let twice = self.ended.swap(true, Ordering::SeqCst);
        let outcome = text(attributes, "mux.outcome");
        self.ledger.with(|book| {
            if twice {
                return book.violation(format!("mux {}: a span ends twice (OT-1)", self.mux));
            }
            book.open_spans -= 1;
            let at = outcome.and_then(|outcome| OUTCOMES.iter().position(|each| *each == outcome));
            book.mix(&[11, at.map_or(9, |at| at as u64)], "");
            match (self.edge, at) {
                (Some(edge), Some(at)) => book.edges[edge].spans[at] += 1,
                (Some(_), None) => book.violation(format!("an attempt ends as {outcome:?} (OT-1)")),
                (None, _) => {}
            }
        });
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
