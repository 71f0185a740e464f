//! What the book holds of calls, backends, muxes and writes. Plain data.

use core::fmt;

use storage_mux::{ErrorClass, MuxMode, Operation};

use super::site::Weak;

pub(crate) type CallId = usize;
pub(crate) type EdgeId = usize;
pub(crate) type MuxId = usize;

/// Where a call goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// From a caller, or from the backend that it is, into a mux.
    Mux(MuxId),
    /// From a mux to one of its backends.
    Edge(EdgeId),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Outcome {
    Open,
    Ok { digest: u64, conclusive: bool },
    Err { code: &'static str, class: ErrorClass, status: u16, mux: bool },
    Dropped,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open => f.write_str("is open"),
            Self::Ok { .. } => f.write_str("-> ok"),
            Self::Err { code, status: 0, .. } => write!(f, "-> {code}"),
            Self::Err { code, status, .. } => write!(f, "-> {code} {status}"),
            Self::Dropped => f.write_str("dropped"),
        }
    }
}

impl Outcome {
    pub(crate) fn is_ok(self) -> bool {
        matches!(self, Self::Ok { .. })
    }

    pub(crate) fn class(self) -> Option<ErrorClass> {
        if let Self::Err { class, .. } = self { Some(class) } else { None }
    }

    pub(crate) fn code(self) -> &'static str {
        if let Self::Err { code, .. } = self { code } else { "" }
    }
}

pub(crate) struct Call {
    pub(crate) parent: Option<CallId>,
    pub(crate) target: Target,
    pub(crate) operation: Operation,
    pub(crate) key: Option<String>,
    pub(crate) write: Option<u32>,
    pub(crate) begin: u64,
    pub(crate) began_at: u64,
    pub(crate) began_drift: u64,
    pub(crate) end: Option<u64>,
    pub(crate) ended_at: u64,
    pub(crate) outcome: Outcome,
    pub(crate) children: Vec<CallId>,
    /// Of a mux: the members that took new calls when the call began.
    pub(crate) active: Vec<EdgeId>,
    /// Those of them that were up.
    pub(crate) up: Vec<EdgeId>,
    /// And those whose weight was zero.
    pub(crate) weightless: Vec<EdgeId>,
    /// The backends that each fan-out event of the call named.
    pub(crate) partials: Vec<Vec<EdgeId>>,
    /// Spans of attempts under it.
    pub(crate) attempts: u64,
    pub(crate) deadline: Option<u64>,
    pub(crate) aborted_before: bool,
    /// The caller has aborted it.
    pub(crate) gave_up: bool,
    pub(crate) probing: bool,
    /// How often it changed a disk.
    pub(crate) applied: u32,
    /// Of a write stream: the caller has begun to close it.
    pub(crate) closing: bool,
    /// And the close has succeeded.
    pub(crate) closed: bool,
    pub(crate) stream_open: bool,
    /// The code that its stream has failed with.
    pub(crate) stream_code: &'static str,
    /// When its stream last moved.
    pub(crate) moved_at: u64,
}

pub(crate) struct Edge {
    pub(crate) mux: MuxId,
    pub(crate) name: String,
    /// The mux behind it, where there is one.
    pub(crate) below: Option<MuxId>,
    /// False from its making until the mux has said that it joined.
    pub(crate) joined: bool,
    /// Since when its weight is zero.
    pub(crate) weightless: Option<u64>,
    pub(crate) weight: f64,
    /// Since when it takes no new calls.
    pub(crate) draining: Option<u64>,
    pub(crate) removed: bool,
    /// Calls and streams that hold it now.
    pub(crate) open: u64,
    pub(crate) probes: u32,
    /// Calls that set out to probe it and have not ended.
    pub(crate) probers: Vec<CallId>,
    /// Since when it is down.
    pub(crate) down: Option<u64>,
    /// When somebody last had trouble with it, and when somebody who set out after `down` was
    /// answered.
    pub(crate) trouble: Option<u64>,
    pub(crate) answered: Option<u64>,
    /// Attempts by the outcome that their spans ended with.
    pub(crate) spans: [u64; 5],
    pub(crate) spans_begun: u64,
}

/// The values of `mux.outcome`.
pub(crate) const OUTCOMES: [&str; 5] = ["ok", "semantic", "transient", "timeout", "abort"];

pub(crate) struct Mux {
    pub(crate) mode: MuxMode,
    pub(crate) timeout: u64,
    pub(crate) tries: u32,
    /// The longest that one attempt may take: all its tries, and the waits between them.
    pub(crate) attempt_bound: u64,
    pub(crate) throw: bool,
    pub(crate) members: Vec<EdgeId>,
    pub(crate) handle: Option<Weak>,
    /// Calls that the mux must have counted, those of them that reached a backend, and events.
    pub(crate) calls: u64,
    pub(crate) served: u64,
    pub(crate) attempts: u64,
    pub(crate) failovers: u64,
    pub(crate) partials: u64,
}

impl Mux {
    /// Whether an operation goes to several backends at once.
    pub(crate) fn fans_out(&self, operation: Operation) -> bool {
        match self.mode {
            MuxMode::Mirror => true,
            MuxMode::Shield => operation.is_write() && operation != Operation::SetIf,
            _ => false,
        }
    }
}

pub(crate) struct Write {
    pub(crate) key: String,
    pub(crate) bytes: Vec<u8>,
    /// On how many disks it landed.
    pub(crate) applied: u32,
}
