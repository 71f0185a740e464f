//! The gateway of the examples, asked without a socket: each route, each limit, each refusal.

#[path = "../../examples/gateway/arguments.rs"]
mod arguments;
#[path = "../../examples/gateway/service/mod.rs"]
mod service;

mod access;
mod changes;
mod client;
mod figures;
#[path = "../mux_object_store/meddler.rs"]
#[expect(dead_code, reason = "its other users ask more of it")]
mod meddler;
mod objects;
mod uploads;
