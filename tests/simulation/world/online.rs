//! What must hold at the very moment at which a backend is asked, or has answered.

use std::collections::BTreeSet;

use storage_mux::{Clock, ErrorClass, MuxMode, Operation};

use super::ledger::{Book, Ledger, is_trouble};
use super::records::{CallId, EdgeId, MuxId, Outcome, Target};

/// How the mux itself sees a backend that is asked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    Up,
    /// Down, and its cooldown has passed.
    Rested,
    /// Down and in cooldown.
    Resting,
}

/// Asks the mux. Only where an event has said that the backend is down.
pub(crate) fn standing(ledger: &Ledger, target: Target) -> Standing {
    let Target::Edge(edge) = target else { return Standing::Up };
    let asked = ledger.with(|book| {
        let record = &book.edges[edge];
        record.down?;
        Some((book.muxes[record.mux].handle.clone()?, record.name.clone()))
    });
    let Some((mux, name)) = asked.and_then(|(weak, name)| Some((weak.upgrade()?, name))) else {
        return Standing::Up;
    };
    let until = mux.backend_stats(&name).and_then(|stats| stats.cooldown_until);
    match until {
        None => Standing::Up,
        Some(until) if ledger.clock.now() >= until => Standing::Rested,
        Some(_) => Standing::Resting,
    }
}

pub(crate) fn on_begin(book: &mut Book, id: CallId, standing: Standing) {
    let Target::Edge(edge) = book.calls[id].target else { return };
    if book.edges[edge].draining.is_some() {
        let what = book.describe(id);
        book.violation(format!("{what}: asked although it drains or is gone (DR-1, DR-4)"));
    }
    // A health check has no call above it.
    let Some(parent) = book.calls[id].parent else { return };
    let mux = book.edges[edge].mux;
    if book.mux_of(parent) != Some(mux) {
        let (what, above) = (book.describe(id), book.describe(parent));
        return book.violation(format!("{what}: asked by {above}"));
    }
    after_the_end(book, id, parent);
    if let Some(wrong) = order(book, parent, edge, mux) {
        let what = book.describe(id);
        book.violation(format!("{what}: {wrong}"));
    }
    let first = !asked(book, parent).contains(&edge);
    if first {
        if !book.muxes[mux].fans_out(book.calls[parent].operation) {
            end_probes(book, parent);
        }
        first_try(book, id, parent, edge, standing);
    }
}

fn after_the_end(book: &mut Book, id: CallId, parent: CallId) {
    let call = &book.calls[parent];
    let wrong = if call.outcome != Outcome::Open {
        "asked after the call has ended (SM-1)"
    } else if call.aborted_before {
        "asked for a caller who had aborted before (AB-3)"
    } else if call.deadline.is_some_and(|deadline| book.now >= deadline) {
        "asked at or after the deadline"
    } else if book.calls[book.root(id)].gave_up {
        "asked after the caller has aborted (AB-4)"
    } else {
        return;
    };
    let what = book.describe(id);
    book.violation(format!("{what}: {wrong}"));
}

fn edge_of(book: &Book, id: CallId) -> Option<EdgeId> {
    match book.calls[id].target {
        Target::Edge(edge) => Some(edge),
        Target::Mux(_) => None,
    }
}

/// The backends that a call has asked so far.
pub(crate) fn asked(book: &Book, call: CallId) -> BTreeSet<EdgeId> {
    book.calls[call].children.iter().filter_map(|child| edge_of(book, *child)).collect()
}

/// Whether this backend may be asked now, after what was asked before.
fn order(book: &Book, parent: CallId, edge: EdgeId, mux: MuxId) -> Option<&'static str> {
    let call = &book.calls[parent];
    let opens = matches!(call.operation, Operation::GetStream | Operation::SetStream);
    let is_same = |child: &&CallId| edge_of(book, **child) == Some(edge);
    let same: Vec<CallId> = call.children.iter().filter(is_same).copied().collect();
    let in_turn = !book.muxes[mux].fans_out(call.operation);
    let last = if in_turn { call.children.last().copied() } else { same.last().copied() };
    let last = last?;
    match book.calls[last].outcome {
        Outcome::Open => return Some("asked while another try runs"),
        Outcome::Ok { .. } if !opens => return Some("asked after an answer"),
        Outcome::Err { class: ErrorClass::Semantic, .. } => {
            return Some("asked after a semantic error (FO-2, RC-3)");
        }
        Outcome::Err { class: ErrorClass::Abort, .. } => return Some("asked after an abort"),
        _ => {}
    }
    if edge_of(book, last) != Some(edge) {
        return (!same.is_empty()).then_some("asked again after another one was (FO-1)");
    }
    if same.len() >= book.muxes[mux].tries as usize {
        return Some("asked more often than the options allow (RT-01)");
    }
    match book.calls[last].outcome {
        Outcome::Dropped => Some("retried in place after a timeout (BH-1)"),
        Outcome::Err { mux: true, .. } => Some("retried in place after a mux has given up (RC-3)"),
        _ => None,
    }
}

fn first_try(book: &mut Book, id: CallId, parent: CallId, edge: EdgeId, standing: Standing) {
    let call = &book.calls[parent];
    let mux = book.edges[edge].mux;
    let mode = book.muxes[mux].mode;
    if !call.active.contains(&edge) {
        let what = book.describe(id);
        return book.violation(format!("{what}: not in the set that the call started with (MU-3)"));
    }
    if mode == MuxMode::Weighted
        && book.edges[edge].weightless.is_some_and(|since| since <= call.begin)
    {
        let what = book.describe(id);
        book.violation(format!("{what}: asked although its weight is zero (WT-5)"));
    }
    let call = &book.calls[parent];
    // The origin of a shield is asked for writes whatever its health.
    let is_origin = call.active.first() == Some(&edge);
    if mode == MuxMode::Shield && call.operation.is_write() && is_origin {
        if standing == Standing::Rested {
            // It probes where nobody else does, and is asked all the same where somebody does.
            book.edges[edge].probers.push(parent);
        }
        return;
    }
    match standing {
        Standing::Up => {}
        Standing::Rested => {
            book.calls[id].probing = true;
            book.edges[edge].probes += 1;
            book.edges[edge].probers.push(parent);
            // Where backends are asked in turn the slot is held between two tries as well.
            let in_turn = !matches!(mode, MuxMode::Shield | MuxMode::Mirror);
            if book.edges[edge].probes > 1 || (in_turn && book.edges[edge].probers.len() > 1) {
                let what = book.describe(id);
                book.violation(format!("{what}: a second probe at a time (HE-4)"));
            }
        }
        Standing::Resting => {
            let resort = matches!(mode, MuxMode::Failover | MuxMode::Shield);
            let done = asked(book, parent);
            let other = call.active.iter().find(|each| {
                let edge = &book.edges[**each];
                !done.contains(each) && edge.down.is_none() && edge.draining.is_none()
            });
            if let (false, _) | (true, Some(_)) = (resort, other) {
                let what = book.describe(id);
                let other = other.map(|other| book.edge_name(*other));
                book.violation(format!("{what}: asked in its cooldown; also up: {other:?} (FO-4)"));
            }
        }
    }
}

/// The call has moved on, or has ended.
pub(crate) fn end_probes(book: &mut Book, call: CallId) {
    for edge in asked(book, call) {
        book.edges[edge].probers.retain(|prober| *prober != call);
    }
}

pub(crate) fn on_end(book: &mut Book, id: CallId) {
    let Some(edge) = edge_of(book, id) else { return };
    let call = &book.calls[id];
    let (began, drift, outcome, begin) =
        (call.began_at, call.began_drift, call.outcome, call.begin);
    let timeout = book.muxes[book.edges[edge].mux].timeout;
    let what = book.describe(id);
    book.check_bound(began, drift, timeout, &format!("{what} (BH-1)"));
    let timed_out = outcome == Outcome::Dropped && book.time() - began >= timeout;
    let (seq, record) = (book.seq, &mut book.edges[edge]);
    if timed_out || outcome.class().is_some_and(is_trouble) {
        record.trouble = Some(seq);
    }
    let answered = outcome.is_ok() || outcome.class() == Some(ErrorClass::Semantic);
    if answered && record.down.is_some_and(|down| begin >= down) {
        record.answered = Some(seq);
    }
    let call = &book.calls[id];
    if outcome.is_ok() && call.operation.is_write() && call.operation != Operation::SetStream {
        stands(book, id);
    }
}

/// An acknowledged write stands: on the disk, or where the mux behind the backend promises.
pub(crate) fn stands(book: &mut Book, id: CallId) {
    let call = &book.calls[id];
    let below = call.children.iter().any(|child| {
        let child = &book.calls[*child];
        child.outcome.is_ok() && (child.operation != Operation::SetStream || child.closed)
    });
    if call.applied == 0 && !below {
        let what = book.describe(id);
        book.violation(format!("{what}: acknowledged and not stored"));
    }
}
