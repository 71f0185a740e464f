//! Longer explanations: what each mode promises, and how health and the breaker move.
//!
//! Nothing here is code; the pages are part of the documentation so that they are read, linked and
//! compiled with it.

#[doc = include_str!("modes.md")]
pub mod modes {}

#[doc = include_str!("health.md")]
pub mod health {}
