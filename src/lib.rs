//! Several storages that act as one.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod error;
mod key;
mod memory;
mod mux_mode;
mod name;
mod port;
pub mod retry;
mod rng;
#[cfg(feature = "tokio")]
pub mod runtime;
#[cfg(feature = "sim")]
pub mod sim;
mod sync;
mod time;

pub use error::{
    AggregateError, ErrorClass, MuxCode, MuxError, NetworkFault, StorageError, StorageErrorKind,
    classify,
};
pub use key::validate_key;
pub use memory::{MemoryReader, MemoryStorage, MemoryWriter};
pub use mux_mode::MuxMode;
pub use name::BackendName;
pub use port::{
    Attribute, AttributeValue, Capabilities, Clock, Condition, Entry, Event, EventSink,
    LocalHandle, LocalStorage, Metadata, Meter, OpContext, Operation, Page, PageRequest,
    SharedStorage, Span, SpanHandle, Storage, Tracer, Version, Written,
};
pub use rng::Rng;
pub use sync::{AbortController, AbortSignal, Aborted, RandCoreRng, SeededRng};
pub use time::Instant;
