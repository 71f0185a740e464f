//! The drivers: how a plan is carried out, with futures and without a runtime.
//!
//! - [`Engine`]: what all calls of a mux share. [`Call`]: one of them.
//! - `attempt`: one backend is asked. `tries`: how, with signal, timeout and retries in place.
//! - `record`: what it holds of that backend meanwhile, and its one entry in the books.
//! - `in_turn`: one backend after the other.
//! - `race`: all at once, the first answer wins. `settle`: all at once, all are waited for.
//! - `fan_out`: futures polled side by side, for both.
//! - `request`: the operations as values, so that one driver serves them all.
//! - [`MuxReader`] and [`MuxWriter`]: the parts of a call that outlive its future.
//!
//! No driver names a mode; the plan that a mode chose names its driver.

mod attempt;
mod call;
mod engine;
mod fan_out;
mod in_turn;
mod observe;
mod race;
mod read_stream;
mod record;
mod request;
mod settle;
mod stream_watch;
mod tries;
mod write_lane;
mod write_stream;

pub(crate) use call::{Call, perform};
pub(crate) use engine::{Engine, Settings, Watchers};
pub use read_stream::MuxReader;
pub(crate) use request::{
    Delete, Get, GetRange, GetStream, Has, List, Request, Set, SetIf, SetPartial, SetStream, Stat,
};
pub use write_stream::MuxWriter;
