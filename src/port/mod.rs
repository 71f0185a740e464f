//! The ports: what the outside world plugs in.
//!
//! - [`Clock`]: time. [`Rng`](crate::Rng): chance.
//! - [`LocalStorage`] and [`Storage`]: an async storage, for one thread or for many.
//! - [`SharedStorage`] and [`LocalHandle`]: the same behind a pointer, to mix kinds of backends.
//! - [`OpContext`]: what travels with an operation.
//! - [`EventSink`], [`Tracer`], [`Meter`]: who watches. All optional.

mod clock;
mod context;
mod erased;
mod observe;
mod storage;
mod topic;
mod types;

pub use clock::Clock;
pub use context::OpContext;
pub(crate) use erased::{BoxReader, BoxWriter, Erased, SendFuture, erase};
pub use erased::{LocalHandle, SharedStorage};
pub use observe::{Attribute, AttributeValue, EventSink, Meter, Span, SpanHandle, Tracer};
pub use storage::{LocalStorage, Storage};
pub use topic::Event;
pub use types::{
    Capabilities, Condition, Entry, Metadata, Operation, Page, PageRequest, Version, Written,
};
