//! What must hold of a call of a mux once it has ended: by its mode, and whatever its mode.

use std::collections::BTreeSet;

use storage_mux::{ErrorClass, MuxMode, Operation};

use super::ledger::Book;
use super::online::asked;
use super::records::{CallId, EdgeId, MuxId, Outcome, Target};

const DOWN: &str = "STORAGE_MUX.ALL_BACKENDS_DOWN";
const ABORTED: &str = "STORAGE_MUX.BACKEND_ABORTED";
const PARTIAL: &str = "STORAGE_MUX.WRITE_FANOUT_PARTIAL";
const UNSUPPORTED: &str = "STORAGE.UNSUPPORTED";

pub(crate) fn call(book: &mut Book, id: CallId, mux: MuxId) {
    let call = &book.calls[id];
    let (outcome, operation) = (call.outcome, call.operation);
    super::online::end_probes(book, id);
    let call = &book.calls[id];
    let refused = call.aborted_before || outcome.code() == UNSUPPORTED;
    book.muxes[mux].calls += u64::from(!refused);
    let served = u64::from(call.attempts > 0);
    book.muxes[mux].served += served;
    book.muxes[mux].attempts += call.attempts;
    for child in book.calls[id].children.clone() {
        if book.calls[child].outcome == Outcome::Open {
            fault(book, id, "ends and leaves a try running");
        }
    }
    in_time(book, id, mux);
    if outcome == Outcome::Dropped {
        return;
    }
    if refused && !book.calls[id].children.is_empty() {
        fault(book, id, "was refused after a backend was asked");
    }
    if refused {
        let supported = !(operation == Operation::SetIf && has_mirror(book, mux));
        if outcome.code() == UNSUPPORTED && supported {
            fault(book, id, "is unsupported although all backends have it (MX-5)");
        }
        return;
    }
    if outcome.code() == ABORTED {
        return aborted(book, id);
    }
    if book.muxes[mux].fans_out(operation) {
        if operation.is_write() { settled(book, id, mux) } else { raced(book, id, mux) }
    } else {
        in_turn(book, id, mux);
    }
}

fn fault(book: &mut Book, id: CallId, what: &str) {
    let (call, outcome) = (book.describe(id), book.calls[id].outcome);
    book.violation(format!("{call} ({outcome}) {what}"));
}

/// Whether a mirror is in it at any depth. Then it has no conditional writes.
fn has_mirror(book: &Book, mux: MuxId) -> bool {
    let inside = |edge: &EdgeId| book.edges[*edge].below.is_some_and(|mux| has_mirror(book, mux));
    book.muxes[mux].mode == MuxMode::Mirror || book.muxes[mux].members.iter().any(inside)
}

fn in_time(book: &mut Book, id: CallId, mux: MuxId) {
    let call = &book.calls[id];
    let fans_out = book.muxes[mux].fans_out(call.operation);
    let rounds = if fans_out { 1 } else { call.active.len() as u64 };
    let bound = book.muxes[mux].attempt_bound.saturating_mul(rounds);
    let (began, drift, deadline) = (call.began_at, call.began_drift, call.deadline);
    let what = book.describe(id);
    book.check_bound(began, drift, bound, &what);
    if let Some(deadline) = deadline {
        let since = began.saturating_sub(book.drift - drift);
        let slack = book.drift - drift;
        if book.now > deadline.max(since).saturating_add(slack) && book.time() > began {
            fault(book, id, "goes on after its deadline");
        }
    }
}

fn aborted(book: &mut Book, id: CallId) {
    let call = &book.calls[id];
    // Of a nested mux the caller is another mux, and its end is not seen from here.
    let of_caller = call.parent.is_none();
    let passed = call.deadline.is_some_and(|deadline| book.now >= deadline);
    if of_caller && !call.gave_up && !passed {
        fault(book, id, "was aborted by nobody");
    }
}

fn outcomes(book: &Book, id: CallId) -> Vec<(EdgeId, Outcome)> {
    let of = |child: &CallId| match book.calls[*child].target {
        Target::Edge(edge) => Some((edge, book.calls[*child].outcome)),
        Target::Mux(_) => None,
    };
    book.calls[id].children.iter().filter_map(of).collect()
}

fn in_turn(book: &mut Book, id: CallId, mux: MuxId) {
    let (outcome, operation) = (book.calls[id].outcome, book.calls[id].operation);
    let streams = matches!(operation, Operation::GetStream | Operation::SetStream);
    let children = outcomes(book, id);
    let last = children.last().map(|(_, outcome)| *outcome);
    match outcome {
        Outcome::Ok { .. } if last.is_none_or(|last| streams && !last.is_ok()) => {
            fault(book, id, "has an answer that no backend gave");
        }
        Outcome::Ok { .. } if !streams && last != Some(outcome) => {
            fault(book, id, "gives an answer that is not the last backend's");
        }
        Outcome::Err { code, class: ErrorClass::Semantic, .. }
            if !streams && last.map(Outcome::code) != Some(code) =>
        {
            fault(book, id, "gives a semantic error that is not the last backend's");
        }
        Outcome::Err { code: DOWN, .. } => exhausted(book, id, mux, &children),
        Outcome::Err { class: ErrorClass::Transient, .. } => {
            fault(book, id, "fails with a transient error of one backend (FO-3)");
        }
        _ => {}
    }
    if !streams && !outcome.is_ok() && children.iter().any(|(_, child)| child.is_ok()) {
        fault(book, id, "fails although a backend has answered");
    }
}

/// The call has given up: it may leave out nobody that could be asked.
fn exhausted(book: &mut Book, id: CallId, mux: MuxId, children: &[(EdgeId, Outcome)]) {
    let mode = book.muxes[mux].mode;
    let is_semantic = |(_, outcome): &(_, Outcome)| outcome.class() == Some(ErrorClass::Semantic);
    if children.iter().any(is_semantic) {
        fault(book, id, "hides a semantic error (FO-2)");
    }
    if mode == MuxMode::Shield && book.calls[id].operation == Operation::SetIf {
        return;
    }
    let done = asked(book, id);
    let resort = matches!(mode, MuxMode::Failover | MuxMode::Shield);
    for edge in book.calls[id].active.clone() {
        let record = &book.edges[edge];
        let out = done.contains(&edge)
            || record.draining.is_some()
            || (mode == MuxMode::Weighted && book.calls[id].weightless.contains(&edge));
        // Where all are down all are asked, but not one that another call is probing.
        let probed = record.probers.iter().any(|prober| *prober != id);
        let spared = record.down.is_some() && (!resort || probed);
        if !out && !spared {
            let left = book.edge_name(edge);
            fault(book, id, &format!("gives up although {left} could be asked (FO-3, FO-4)"));
        }
    }
}

fn raced(book: &mut Book, id: CallId, mux: MuxId) {
    let (outcome, operation) = (book.calls[id].outcome, book.calls[id].operation);
    let stream = operation == Operation::GetStream;
    all_up_were_asked(book, id, mux);
    let first = book.calls[id]
        .children
        .iter()
        .map(|child| &book.calls[*child])
        .filter(|child| matches!(child.outcome, Outcome::Ok { conclusive: true, .. }));
    let first = first.min_by_key(|child| child.end).map(|child| (child.outcome, child.ended_at));
    let children = outcomes(book, id);
    match (outcome, first) {
        _ if stream => {}
        (Outcome::Ok { conclusive: true, .. }, Some((winner, at))) => {
            if outcome != winner {
                fault(book, id, "gives an answer that is not the winner's (MI-1)");
            }
            if at != book.time() {
                fault(book, id, "goes on after a backend has won (MI-1)");
            }
        }
        (_, Some(_)) => fault(book, id, "loses the answer of the winner (MI-1)"),
        (Outcome::Ok { conclusive: true, .. }, None) => {
            fault(book, id, "has an answer that no backend gave");
        }
        (Outcome::Ok { .. }, None) => {
            let unsure = |(_, child): &(_, Outcome)| {
                *child == Outcome::Dropped || child.class() == Some(ErrorClass::Transient)
            };
            let last = last_tries(&children);
            if last.iter().any(|(edge, child)| unsure(&(*edge, *child))) {
                fault(book, id, "says no although not every peer did (MI-2)");
            }
        }
        (Outcome::Err { code, class: ErrorClass::Semantic, .. }, None)
            if children.is_empty()
                || last_tries(&children).values().any(|child| child.code() != code) =>
        {
            fault(book, id, "gives a semantic answer that not all peers gave (MI-2)");
        }
        (Outcome::Err { class: ErrorClass::Semantic, .. }, None) => {}
        (Outcome::Err { code, .. }, None) if code != DOWN => {
            fault(book, id, "fails with an error of one peer (MI-2)");
        }
        _ => {}
    }
}

/// The last try of each backend.
fn last_tries(children: &[(EdgeId, Outcome)]) -> std::collections::BTreeMap<EdgeId, Outcome> {
    children.iter().copied().collect()
}

fn all_up_were_asked(book: &mut Book, id: CallId, mux: MuxId) {
    let done = asked(book, id);
    let call = &book.calls[id];
    let mut wanted = call.up.clone();
    if book.muxes[mux].mode == MuxMode::Shield {
        wanted.extend(call.active.first());
    }
    for edge in wanted.into_iter().filter(|edge| !done.contains(edge)) {
        let left = book.edge_name(edge);
        fault(book, id, &format!("has not asked {left}, which was up (MI-1, SH-3, MI-3)"));
    }
}

fn settled(book: &mut Book, id: CallId, mux: MuxId) {
    all_up_were_asked(book, id, mux);
    if book.calls[id].operation == Operation::SetStream {
        // The rest is known when it is closed.
        return;
    }
    let last = last_tries(&outcomes(book, id));
    let stored = last.into_iter().filter(|(_, outcome)| outcome.is_ok()).map(|(edge, _)| edge);
    let stored: BTreeSet<EdgeId> = stored.collect();
    fanned_out(book, id, mux, &stored, book.calls[id].outcome.code());
}

/// A write that went to several backends has come to `code`, and these have stored it.
fn fanned_out(book: &mut Book, id: CallId, mux: MuxId, stored: &BTreeSet<EdgeId>, code: &str) {
    let call = &book.calls[id];
    let lacking: Vec<EdgeId> =
        call.active.iter().copied().filter(|edge| !stored.contains(edge)).collect();
    let told = call.partials.clone();
    let origin = call.active.first().copied();
    let throws = book.muxes[mux].throw;
    let enough = match book.muxes[mux].mode {
        MuxMode::Shield => origin.is_some_and(|origin| stored.contains(&origin)),
        _ => !stored.is_empty(),
    };
    let ok = code.is_empty();
    if ok && !enough {
        fault(book, id, "is acknowledged although too few have it (SH-3, MI-4)");
    }
    if enough && !ok && code != PARTIAL && code != ABORTED {
        fault(book, id, "fails although enough have it (SH-4, MI-3)");
    }
    // A mux behind the origin may throw it in its own name; then it is the origin's error.
    let inherited = book.calls[id]
        .children
        .iter()
        .map(|child| &book.calls[*child])
        .any(|child| child.outcome.code() == PARTIAL || child.stream_code == PARTIAL);
    let thrown = code == PARTIAL && !throws && !inherited;
    if (ok && throws && !lacking.is_empty()) || thrown {
        fault(book, id, "does not follow the option for partial writes (SH-5)");
    }
    let expected =
        if enough && !lacking.is_empty() && code != ABORTED { vec![lacking] } else { Vec::new() };
    if told != expected {
        fault(
            book,
            id,
            &format!("tells {told:?} of backends {expected:?} that lack it (SH-4, MI-3)"),
        );
    }
}

/// The caller of a write stream was told that the value stands.
pub(crate) fn closed_write_stream(book: &mut Book, id: CallId) {
    match book.calls[id].target {
        Target::Edge(_) => super::online::stands(book, id),
        Target::Mux(mux) if book.muxes[mux].fans_out(Operation::SetStream) => {
            let stored = stored_by_stream(book, id);
            fanned_out(book, id, mux, &stored, "");
        }
        Target::Mux(_) => {
            if stored_by_stream(book, id).len() != 1 {
                fault(book, id, "is closed on no backend, or on several");
            }
        }
    }
}

/// A write stream has failed with this code, in its close or before.
pub(crate) fn failed_write_stream(book: &mut Book, id: CallId, code: &str) {
    if let Target::Mux(mux) = book.calls[id].target
        && book.muxes[mux].fans_out(Operation::SetStream)
    {
        let closing = book.calls[id].closing;
        let stored = if closing { stored_by_stream(book, id) } else { BTreeSet::new() };
        // One that fails while it closes may have been stored where it was too late to stop.
        if code == PARTIAL || stored.is_empty() {
            fanned_out(book, id, mux, &stored, code);
        }
    }
}

fn stored_by_stream(book: &Book, id: CallId) -> BTreeSet<EdgeId> {
    let children = book.calls[id].children.iter().map(|child| &book.calls[*child]);
    let closed = children.filter(|child| child.closed).filter_map(|child| match child.target {
        Target::Edge(edge) => Some(edge),
        Target::Mux(_) => None,
    });
    closed.collect()
}
