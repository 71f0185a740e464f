//! Where in a document something stands.

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

pub(super) type Table<'i> = DeTable<'i>;
pub(super) type Value<'i> = Spanned<DeValue<'i>>;
pub(super) type Key<'i> = Spanned<DeString<'i>>;

/// The line of an offset, from 1. An offset past the end is on the last line.
pub(super) fn line(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().iter().take(offset);
    before.filter(|byte| **byte == b'\n').count().saturating_add(1)
}
