//! What a case is made of: plain values that print as the code that makes them.

use std::time::Duration;

use bytes::Bytes;
use storage_mux::{MuxMode, Operation};

use crate::fail::Wrong;

pub(crate) type Key = &'static str;
pub(crate) type Name = &'static str;

/// The names that backends may have. The last is never given to one.
pub(crate) const NAMES: [Name; 8] = ["a", "b", "c", "d", "e", "f", "g", "nobody"];
/// Legal keys, with one that is a prefix of another, and one that is illegal everywhere.
pub(crate) const KEYS: [Key; 4] = ["k", "k/2", "z", ""];
/// The key that health checks ask for.
pub(crate) const CHECKED: Key = "health";
/// How many calls, streams and drains there may be at a time.
pub(crate) const SLOTS: usize = 4;

pub(crate) const SECOND: u64 = 1_000_000_000;
pub(crate) const MILLI: u64 = 1_000_000;

pub(crate) fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The mux of a case.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) mode: MuxMode,
    /// One for each backend, in order.
    pub(crate) weights: Vec<Option<f64>>,
    /// Which of them have a health check.
    pub(crate) checked: Vec<bool>,
    /// Whether all stores begin with a value under the first key.
    pub(crate) seeded: bool,
    /// Whether the stores keep the signals that they are given, as work moved elsewhere would.
    pub(crate) keep_signals: bool,
    pub(crate) timeout_ms: u64,
    pub(crate) tries: u32,
    pub(crate) wait_ms: u64,
    pub(crate) cooldown_ms: (u64, u64),
    pub(crate) throw: bool,
    pub(crate) interval_ms: Option<u64>,
    pub(crate) seed: u64,
}

/// A value, by what is special about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Empty,
    Text(u16),
    /// More than one chunk of a read stream.
    Big(u8),
}

impl Value {
    pub(crate) fn bytes(self) -> Bytes {
        match self {
            Self::Empty => Bytes::new(),
            Self::Text(number) => Bytes::from(format!("v{number}")),
            Self::Big(fill) => Bytes::from(vec![fill; 64 * 1024 + 5]),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum If {
    Absent,
    /// The value is that of the write with this number.
    Version(u64),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Request {
    Get(Key),
    Set(Key, Value),
    SetPartial(Key, u64, Value),
    Has(Key),
    Delete(Key),
    List(&'static str, Option<Key>, usize),
    Stat(Key),
    GetStream(Key),
    SetStream(Key),
    GetRange(Key, u64, u64),
    SetIf(Key, Value, If),
}

impl Request {
    pub(crate) const fn operation(&self) -> Operation {
        match self {
            Self::Get(_) => Operation::Get,
            Self::Set(..) => Operation::Set,
            Self::SetPartial(..) => Operation::SetPartial,
            Self::Has(_) => Operation::Has,
            Self::Delete(_) => Operation::Delete,
            Self::List(..) => Operation::List,
            Self::Stat(_) => Operation::Stat,
            Self::GetStream(_) => Operation::GetStream,
            Self::SetStream(_) => Operation::SetStream,
            Self::GetRange(..) => Operation::GetRange,
            Self::SetIf(..) => Operation::SetIf,
        }
    }

    /// The key; none for a listing.
    pub(crate) const fn key(&self) -> Option<Key> {
        match self {
            Self::List(..) => None,
            Self::Get(key)
            | Self::Set(key, _)
            | Self::SetPartial(key, ..)
            | Self::Has(key)
            | Self::Delete(key)
            | Self::Stat(key)
            | Self::GetStream(key)
            | Self::SetStream(key)
            | Self::GetRange(key, ..)
            | Self::SetIf(key, ..) => Some(key),
        }
    }

    /// What a scripted store writes down.
    pub(crate) const fn logged(&self) -> &'static str {
        match self {
            Self::List(prefix, ..) => prefix,
            _ => match self.key() {
                Some(key) => key,
                None => "",
            },
        }
    }
}

/// What happens on the way into a store, or in a stream.
#[derive(Clone, Debug)]
pub(crate) enum Trouble {
    None,
    Fail(Wrong),
    /// Milliseconds, then the answer.
    Delay(u64),
    DelayThenFail(u64, Wrong),
    LoseAnswer(Wrong),
    Hang,
}

/// How long a caller waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    Endless,
    /// Until its signal aborts.
    Signal,
    /// Its signal has aborted already.
    Gone,
    /// A deadline, this many milliseconds from now.
    Until(u64),
}

/// One step of a case. One that cannot be taken in the present state is passed over.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    Start {
        slot: usize,
        request: Request,
        patience: Patience,
    },
    /// Asks an open read stream for its next chunk.
    Next {
        slot: usize,
    },
    /// Gives an open write stream a chunk.
    Feed {
        slot: usize,
        chunk: Value,
    },
    /// Closes an open write stream.
    Close {
        slot: usize,
    },
    /// Aborts the signal of whatever is in the slot, perhaps at a later moment than all its timers.
    Abort {
        slot: usize,
        leap_ms: u64,
    },
    /// Drops whatever is in the slot.
    Drop {
        slot: usize,
    },
    /// What happens to the next operation of a store that has nothing in store yet.
    Once {
        name: Name,
        trouble: Trouble,
    },
    /// What happens to every operation of a store that has nothing else in store.
    Always {
        name: Name,
        trouble: Trouble,
    },
    /// What happens to the next stream of a store, after so many chunks.
    Stream {
        name: Name,
        after: usize,
        trouble: Trouble,
    },
    /// Milliseconds pass, and every timer is met on time.
    Pass(u64),
    /// Time passes up to this many nanoseconds past the end of a cooldown.
    Edge {
        name: Name,
        past: i64,
    },
    /// Time passes until nobody waits.
    Settle,
    /// The clock leaps, and timers are met late.
    Leap(u64),
    /// The clock jumps back.
    Back(u64),
    /// The clock leaps to the last second that it can tell.
    Brink,
    Add {
        name: Name,
        weight: Option<f64>,
        checked: bool,
    },
    Weigh {
        name: Name,
        weight: f64,
    },
    /// Drains a backend, and removes it too.
    Leave {
        slot: usize,
        name: Name,
        remove: bool,
        patience: Patience,
    },
    /// Closes the mux, which ends its health checks.
    CloseMux,
}
