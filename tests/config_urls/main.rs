//! A mux from a TOML document: what is built, and with which words a mistake is refused.

mod building;
mod mistakes;
mod recipes;
mod secrets;
