//! The book of a run: every call at every level, what came of it, and a hash over all of it.
//!
//! Each boundary between a mux and a backend, and between a caller and a mux, is watched by a
//! [`Watched`](super::watched::Watched) storage that enters its calls here. A stack of the calls
//! that are being polled tells which call made which, so the book holds the whole tree.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use storage_mux::sim::FakeClock;
use storage_mux::{Clock, ErrorClass, Operation, StorageError, classify};

use super::records::{Call, CallId, Edge, EdgeId, Mux, MuxId, Outcome, Target, Write};
use super::{judge, online};

/// FNV-1a with 64 bits.
pub(crate) fn fnv(mut hash: u64, bytes: &[u8]) -> u64 {
    for byte in bytes {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash
}

pub(crate) const FNV: u64 = 0xcbf2_9ce4_8422_2325;

/// How many lines of the trace are kept for a failure.
const LINES: usize = 400;
/// How many more of them once something does not hold.
const AFTER: usize = 20;

#[derive(Clone)]
pub(crate) struct Ledger {
    book: Arc<Mutex<Book>>,
    pub(crate) clock: FakeClock,
}

pub(crate) struct Book {
    pub(crate) hash: u64,
    verbose: bool,
    after_first: usize,
    pub(crate) lines: std::collections::VecDeque<String>,
    pub(crate) violations: Vec<String>,
    /// Counts everything that is entered: a time finer than the clock's.
    pub(crate) seq: u64,
    pub(crate) now: u64,
    /// How far the clock was moved back in all, so that `now + back` only grows.
    pub(crate) back: u64,
    /// How far it was moved by hand in all, in either direction: no bound holds more exactly.
    pub(crate) drift: u64,
    pub(crate) stack: Vec<CallId>,
    pub(crate) calls: Vec<Call>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) muxes: Vec<Mux>,
    pub(crate) writes: Vec<Write>,
    pub(crate) open_spans: u64,
    /// What each disk must hold, told by the writes that reached it.
    pub(crate) disks: Vec<BTreeMap<String, Vec<u8>>>,
}

impl Ledger {
    pub(crate) fn new(clock: FakeClock, verbose: bool) -> Self {
        let book = Book {
            hash: FNV,
            verbose,
            after_first: 0,
            lines: std::collections::VecDeque::new(),
            violations: Vec::new(),
            seq: 0,
            now: 0,
            back: 0,
            drift: 0,
            stack: Vec::new(),
            calls: Vec::new(),
            edges: Vec::new(),
            muxes: Vec::new(),
            writes: Vec::new(),
            open_spans: 0,
            disks: Vec::new(),
        };
        Self { book: Arc::new(Mutex::new(book)), clock }
    }

    /// Opens the book. Nothing of the library may be called inside.
    pub(crate) fn with<T>(&self, f: impl FnOnce(&mut Book) -> T) -> T {
        let now = self.clock.now().as_nanos();
        let mut book = self.book.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        book.now = now;
        f(&mut book)
    }

    pub(crate) fn begin(&self, call: NewCall<'_>) -> CallId {
        // Asked before the book is opened: the mux is foreign to it.
        let standing = online::standing(self, call.target);
        self.with(|book| book.begin(call, standing))
    }

    pub(crate) fn end<T>(
        &self,
        id: CallId,
        result: &Result<T, StorageError>,
        digest: impl FnOnce(&T) -> (u64, bool),
    ) {
        let outcome = match result {
            Ok(value) => {
                let (digest, conclusive) = digest(value);
                Outcome::Ok { digest, conclusive }
            }
            Err(error) => Outcome::Err {
                code: error.code(),
                class: classify(error),
                status: http_status(error),
                mux: error.as_mux().is_some(),
            },
        };
        self.with(|book| book.end(id, outcome));
    }
}

fn http_status(error: &StorageError) -> u16 {
    match error.kind() {
        storage_mux::StorageErrorKind::Http { status, .. } => *status,
        _ => 0,
    }
}

/// What is known of a call when it begins.
pub(crate) struct NewCall<'a> {
    pub(crate) target: Target,
    pub(crate) operation: Operation,
    pub(crate) key: Option<&'a str>,
    pub(crate) write: Option<u32>,
    pub(crate) deadline: Option<u64>,
    pub(crate) aborted: bool,
}

impl Book {
    /// Enters something into the hash.
    pub(crate) fn mix(&mut self, numbers: &[u64], text: &str) {
        self.seq += 1;
        let mut hash = fnv(self.hash, &self.now.to_le_bytes());
        for number in numbers {
            hash = fnv(hash, &number.to_le_bytes());
        }
        self.hash = fnv(fnv(hash, text.as_bytes()), &[0xff]);
    }

    /// The same, and a line where somebody reads along.
    pub(crate) fn note(&mut self, numbers: &[u64], text: &str, line: impl FnOnce() -> String) {
        self.mix(numbers, text);
        // The trace ends soon after the first thing that does not hold.
        if self.verbose && self.after_first < AFTER {
            self.after_first += usize::from(!self.violations.is_empty());
            let indent = "  ".repeat(self.stack.len());
            let line = format!("{:>12.3} ms {indent}{}", self.now as f64 / 1e6, line());
            if self.lines.len() == LINES {
                self.lines.pop_front();
            }
            self.lines.push_back(line);
        }
    }

    pub(crate) fn violation(&mut self, what: String) {
        self.note(&[], "violation", || format!("!!! {what}"));
        self.violations.push(what);
    }

    /// A time that never goes back.
    pub(crate) fn time(&self) -> u64 {
        self.now + self.back
    }

    pub(crate) fn mux_of(&self, id: CallId) -> Option<MuxId> {
        match self.calls[id].target {
            Target::Mux(mux) => Some(mux),
            Target::Edge(_) => None,
        }
    }

    pub(crate) fn describe(&self, id: CallId) -> String {
        let call = &self.calls[id];
        let place = match call.target {
            Target::Mux(mux) => format!("mux {mux} ({})", self.muxes[mux].mode),
            Target::Edge(edge) => self.edge_name(edge),
        };
        let (operation, key) = (call.operation, call.key.as_deref().unwrap_or("-"));
        let write = call.write.map_or(String::new(), |write| format!(" (write {write})"));
        format!("#{id} {operation} {key}{write} of {place}")
    }

    pub(crate) fn edge_name(&self, edge: EdgeId) -> String {
        let Edge { mux, name, .. } = &self.edges[edge];
        format!("backend {name} (edge {edge}) of mux {mux}")
    }

    /// The backend of a mux that has this name now.
    pub(crate) fn member(&self, mux: MuxId, name: &str) -> Option<EdgeId> {
        self.muxes[mux].members.iter().copied().find(|edge| self.edges[*edge].name == name)
    }

    /// The members that take new calls, in the order of the mux.
    pub(crate) fn active(&self, mux: MuxId) -> Vec<EdgeId> {
        let members = self.muxes[mux].members.iter().copied();
        members.filter(|edge| self.edges[*edge].draining.is_none()).collect()
    }

    fn begin(&mut self, new: NewCall<'_>, standing: online::Standing) -> CallId {
        let id = self.calls.len();
        let parent = self.stack.last().copied();
        let (time, drift) = (self.time(), self.drift);
        let (active, up, weightless) = match new.target {
            Target::Mux(mux) => {
                let active = self.active(mux);
                let up = active
                    .iter()
                    .copied()
                    .filter(|edge| self.edges[*edge].down.is_none())
                    .collect();
                let edges = active.iter().copied();
                let weightless =
                    edges.filter(|edge| self.edges[*edge].weightless.is_some()).collect();
                (active, up, weightless)
            }
            Target::Edge(_) => (Vec::new(), Vec::new(), Vec::new()),
        };
        self.calls.push(Call {
            parent,
            target: new.target,
            operation: new.operation,
            key: new.key.map(str::to_owned),
            write: new.write,
            begin: self.seq,
            began_at: time,
            began_drift: drift,
            end: None,
            ended_at: 0,
            outcome: Outcome::Open,
            children: Vec::new(),
            active,
            up,
            weightless,
            partials: Vec::new(),
            attempts: 0,
            deadline: new.deadline,
            aborted_before: new.aborted,
            gave_up: false,
            probing: false,
            applied: 0,
            closing: false,
            closed: false,
            stream_open: false,
            stream_code: "",
            moved_at: time,
        });
        let code = match new.target {
            Target::Mux(mux) => mux as u64,
            Target::Edge(edge) => 1_000 + edge as u64,
        };
        let line = if self.verbose { self.describe(id) } else { String::new() };
        self.note(&[1, code, new.operation as u64], new.key.unwrap_or(""), || line);
        if let Target::Edge(edge) = new.target {
            self.edges[edge].open += 1;
        }
        online::on_begin(self, id, standing);
        if let Some(parent) = parent {
            self.calls[parent].children.push(id);
        }
        id
    }

    pub(crate) fn end(&mut self, id: CallId, outcome: Outcome) {
        let time = self.time();
        let numbers = match outcome {
            Outcome::Open => [2, 0, 0],
            Outcome::Ok { digest, .. } => [2, 1, digest],
            Outcome::Err { status, .. } => [2, 2, u64::from(status)],
            Outcome::Dropped => [2, 3, 0],
        };
        let text = if let Outcome::Err { code, .. } = outcome { code } else { "" };
        self.note(&numbers, text, || format!("#{id} {outcome}"));
        let seq = self.seq;
        let call = &mut self.calls[id];
        call.end = Some(seq);
        call.ended_at = time;
        call.outcome = outcome;
        let opens = matches!(call.operation, Operation::GetStream | Operation::SetStream);
        let stays = opens && matches!(outcome, Outcome::Ok { .. });
        call.stream_open = stays;
        call.moved_at = time;
        if !stays {
            self.leave(id);
        }
        self.end_probe(id);
        online::on_end(self, id);
        if let Some(mux) = self.mux_of(id) {
            judge::call(self, id, mux);
        }
    }

    /// The call holds its backend no longer.
    pub(crate) fn leave(&mut self, id: CallId) {
        if let Target::Edge(edge) = self.calls[id].target {
            self.edges[edge].open -= 1;
        }
    }

    fn end_probe(&mut self, id: CallId) {
        let was = core::mem::take(&mut self.calls[id].probing);
        if let (true, Target::Edge(edge)) = (was, self.calls[id].target) {
            self.edges[edge].probes -= 1;
        }
    }

    /// The call at the bottom of the tree that this one belongs to.
    pub(crate) fn root(&self, mut id: CallId) -> CallId {
        while let Some(parent) = self.calls[id].parent {
            id = parent;
        }
        id
    }

    /// Checks a time against its bound, give or take what the clock was moved by hand meanwhile.
    pub(crate) fn check_bound(&mut self, since: u64, drift: u64, bound: u64, what: &str) {
        let took = self.time().saturating_sub(since);
        let slack = self.drift - drift;
        if took > bound.saturating_add(slack) {
            self.violation(format!("{what}: took {took} ns, and may take {bound} (+{slack})"));
        }
    }
}

/// Whether a class means that a backend is in trouble.
pub(crate) fn is_trouble(class: ErrorClass) -> bool {
    class == ErrorClass::Transient
}
