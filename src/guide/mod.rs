//! Longer explanations: what each mode promises, how health and the breaker move, and how to test
//! your own code on a mux.
//!
//! Nothing here is code; the pages are part of the documentation so that they are read, linked and
//! compiled with it.

#[doc = include_str!("modes.md")]
pub mod modes {}

#[doc = include_str!("health.md")]
pub mod health {}

// Its links lead into the kit.
#[cfg(feature = "sim")]
#[doc = include_str!("testing.md")]
pub mod testing {}
