//! The weighted pick.

#[allow(dead_code, unreachable_pub)]
#[path = "../../../src/mode/alias_table.rs"]
mod alias_table;

pub(crate) use alias_table::AliasTable;

/// Of the library it is 64. Here a table may hold more backends than a mux takes, to compare.
pub(crate) const MAX_BACKENDS: usize = 1024;
