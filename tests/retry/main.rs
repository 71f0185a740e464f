//! The retry module, used alone and on a clock that the tests own.
//!
//! A test that is named after a case says in its comment which: the cases are faults that others
//! met and that this module must not have.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod backoff;
mod breaker;
mod jitter;
mod metrics;
mod options;
mod run;
mod send;
mod support;
mod texts;
mod timeout;
mod value;
