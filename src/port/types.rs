//! The plain values that operations take and give.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// One operation of a storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
#[repr(u8)]
pub enum Operation {
    /// Read a whole value.
    Get,
    /// Replace a whole value.
    Set,
    /// Overwrite a part of a value.
    SetPartial,
    /// Ask whether a key has a value.
    Has,
    /// Remove a value.
    Delete,
    /// List keys, page by page.
    List,
    /// Read what is known of a value without reading it.
    Stat,
    /// Read a value chunk by chunk.
    GetStream,
    /// Write a value chunk by chunk.
    SetStream,
    /// Read a part of a value.
    GetRange,
    /// Replace a value if a condition holds.
    SetIf,
}

impl Operation {
    /// Every operation.
    pub const ALL: [Self; 11] = [
        Self::Get,
        Self::Set,
        Self::SetPartial,
        Self::Has,
        Self::Delete,
        Self::List,
        Self::Stat,
        Self::GetStream,
        Self::SetStream,
        Self::GetRange,
        Self::SetIf,
    ];

    /// The name of the method, as it stands in statistics and errors.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Set => "set",
            Self::SetPartial => "set_partial",
            Self::Has => "has",
            Self::Delete => "delete",
            Self::List => "list",
            Self::Stat => "stat",
            Self::GetStream => "get_stream",
            Self::SetStream => "set_stream",
            Self::GetRange => "get_range",
            Self::SetIf => "set_if",
        }
    }

    /// The name of the span that a mux opens for it: a wire contract.
    #[must_use]
    pub const fn span_name(self) -> &'static str {
        match self {
            Self::Get => "storage-mux.get",
            Self::Set => "storage-mux.set",
            Self::SetPartial => "storage-mux.set_partial",
            Self::Has => "storage-mux.has",
            Self::Delete => "storage-mux.delete",
            Self::List => "storage-mux.list",
            Self::Stat => "storage-mux.stat",
            Self::GetStream => "storage-mux.get_stream",
            Self::SetStream => "storage-mux.set_stream",
            Self::GetRange => "storage-mux.get_range",
            Self::SetIf => "storage-mux.set_if",
        }
    }

    /// Whether it changes what is stored.
    #[must_use]
    pub const fn is_write(self) -> bool {
        matches!(self, Self::Set | Self::SetPartial | Self::Delete | Self::SetStream | Self::SetIf)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What a storage can do: which operations it has, and how long its keys may be.
///
/// ```
/// use storage_mux::{Capabilities, Operation};
///
/// let plain = Capabilities::all(1024).without(Operation::SetIf);
/// let short = Capabilities::all(64);
/// let both = plain.intersection(short);
/// assert!(both.contains(Operation::Get));
/// assert!(!both.contains(Operation::SetIf));
/// assert_eq!(both.max_key_bytes(), 64);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Capabilities {
    operations: u16,
    max_key_bytes: u32,
}

impl Capabilities {
    /// Every operation, with keys of up to `max_key_bytes` bytes.
    #[must_use]
    pub const fn all(max_key_bytes: u32) -> Self {
        Self { operations: (1 << Operation::ALL.len()) - 1, max_key_bytes }
    }

    /// No operation yet, with keys of up to `max_key_bytes` bytes.
    #[must_use]
    pub const fn none(max_key_bytes: u32) -> Self {
        Self { operations: 0, max_key_bytes }
    }

    /// The same with one more operation.
    #[must_use]
    pub const fn with(mut self, operation: Operation) -> Self {
        self.operations |= 1 << operation as u8;
        self
    }

    /// The same with one operation less.
    #[must_use]
    pub const fn without(mut self, operation: Operation) -> Self {
        self.operations &= !(1 << operation as u8);
        self
    }

    /// Whether the operation is there.
    #[must_use]
    pub const fn contains(self, operation: Operation) -> bool {
        self.operations & (1 << operation as u8) != 0
    }

    /// The longest key, in bytes.
    #[must_use]
    pub const fn max_key_bytes(self) -> usize {
        self.max_key_bytes as usize
    }

    /// What both can do, with the shorter of the two key limits.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self {
            operations: self.operations & other.operations,
            max_key_bytes: if self.max_key_bytes < other.max_key_bytes {
                self.max_key_bytes
            } else {
                other.max_key_bytes
            },
        }
    }
}

/// The version of a value: opaque text that the backend gives and compares.
///
/// Versions of different backends say nothing about one another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version(String);

impl Version {
    /// A version from its text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What is known of a value without reading it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metadata {
    /// The size in bytes.
    pub size: u64,
    /// The version, where the backend has versions.
    pub version: Option<Version>,
    /// When it was last written, in milliseconds since the Unix epoch, where that is known.
    pub modified_unix_ms: Option<u64>,
}

impl Metadata {
    /// Metadata of a value of `size` bytes and nothing more.
    #[must_use]
    pub const fn new(size: u64) -> Self {
        Self { size, version: None, modified_unix_ms: None }
    }

    /// The same with a version.
    #[must_use]
    pub fn with_version(mut self, version: Version) -> Self {
        self.version = Some(version);
        self
    }

    /// The same with the time of the last write, in milliseconds since the Unix epoch.
    #[must_use]
    pub const fn with_modified_unix_ms(mut self, modified: u64) -> Self {
        self.modified_unix_ms = Some(modified);
        self
    }
}

/// One line of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// The key.
    pub key: String,
    /// What is known of its value.
    pub metadata: Metadata,
}

impl Entry {
    /// A line for `key`.
    pub fn new(key: impl Into<String>, metadata: Metadata) -> Self {
        Self { key: key.into(), metadata }
    }
}

/// Which page of a listing is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageRequest {
    /// Only keys that sort after this one; none for the first page.
    pub after: Option<String>,
    /// At most this many keys, at least one. A backend may give fewer and still have more.
    pub limit: usize,
}

impl PageRequest {
    /// The first page, of at most `limit` keys. A limit of zero is taken as one.
    #[must_use]
    pub const fn first(limit: usize) -> Self {
        Self { after: None, limit: if limit == 0 { 1 } else { limit } }
    }

    /// The page that follows `key`, which need not exist. A limit of zero is taken as one.
    pub fn after(key: impl Into<String>, limit: usize) -> Self {
        Self { after: Some(key.into()), ..Self::first(limit) }
    }
}

impl Default for PageRequest {
    /// The first page, of at most 1000 keys.
    fn default() -> Self {
        Self::first(1_000)
    }
}

/// One page of a listing, sorted by the bytes of the key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page {
    /// The lines.
    pub entries: Vec<Entry>,
    /// Where to go on: pass it to [`PageRequest::after`]. `None` on the last page.
    pub next: Option<String>,
}

impl Page {
    /// A page of `entries`, followed by more where `next` says so.
    #[must_use]
    pub const fn new(entries: Vec<Entry>, next: Option<String>) -> Self {
        Self { entries, next }
    }
}

/// What must hold for a conditional write to happen.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Condition {
    /// The key holds no value.
    Absent,
    /// The value has this version.
    VersionMatches(Version),
}

/// What a write tells of the value that now stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Written {
    /// Its version, where the backend has versions.
    pub version: Option<Version>,
}

impl Written {
    /// A write that gave the value this version.
    #[must_use]
    pub const fn with_version(version: Version) -> Self {
        Self { version: Some(version) }
    }
}
