//! The gateway of the examples, asked without a socket: each route, each limit, each refusal.

#[path = "../../examples/gateway/arguments.rs"]
mod arguments;
#[path = "../../examples/gateway/service/mod.rs"]
mod service;

mod access;
mod client;
mod figures;
mod objects;
mod uploads;
