//! The library against real servers: each a process of its own on loopback that the tests start,
//! kill, stop with a signal and start again.
//!
//! `ci/services.sh` fetches the servers and runs this. It runs in real time, with timeouts of some
//! hundred milliseconds; what it asserts is where values are, not how fast.

mod backends;
mod conformance;
mod failover;
mod gateway;
mod ledger;
mod mirror;
mod server;
mod shield;
mod streams;
