//! Values that tell where they came from: every eight bytes name the write that made them.

use bytes::Bytes;
use storage_mux::{Metadata, Page, Written};

use super::ledger::{Book, FNV, fnv};
use super::records::Write;

pub(crate) const CELL: usize = 8;
/// Keys that are only ever written whole, and keys that are written in parts as well.
pub(crate) const KEYS: [&str; 6] =
    ["whole/a", "whole/b", "whole/c", "whole/d", "parts/x", "parts/y"];

pub(crate) fn is_whole(key: &str) -> bool {
    key.starts_with("whole/")
}

fn cell(write: u32, index: u16) -> [u8; CELL] {
    let [a, b, c, d] = write.to_be_bytes();
    let [high, low] = index.to_be_bytes();
    [0xc0, a, b, c, d, high, low, 0x0c]
}

/// The write that a cell names, and its place in the value.
pub(crate) fn origin(bytes: &[u8]) -> Option<(u32, u16)> {
    match bytes.get(..CELL)? {
        [0xc0, a, b, c, d, high, low, 0x0c] => {
            Some((u32::from_be_bytes([*a, *b, *c, *d]), u16::from_be_bytes([*high, *low])))
        }
        _ => None,
    }
}

impl Book {
    /// Makes up a value that was never written before, of some cells from a place on.
    pub(crate) fn new_write(&mut self, key: &str, cells: u16, first: Option<u16>) -> (u32, Bytes) {
        let id = u32::try_from(self.writes.len()).unwrap_or(u32::MAX);
        let from = first.unwrap_or(0);
        let bytes: Vec<u8> = (from..from + cells).flat_map(|index| cell(id, index)).collect();
        self.writes.push(Write { key: key.into(), bytes: bytes.clone(), applied: 0 });
        (id, bytes.into())
    }

    /// Checks that what was read was written to that key, and whole where it was written whole.
    pub(crate) fn check_value(&mut self, key: &str, from: u64, value: &[u8], complete: bool) {
        if let Err(what) = self.provenance(key, from, value, complete) {
            self.violation(format!("read of {key} at {from}: {what}: {value:02x?}"));
        }
    }

    fn provenance(&self, key: &str, from: u64, value: &[u8], complete: bool) -> Result<(), String> {
        let first = origin(value);
        if is_whole(key) {
            // Never torn: all of it comes from one write, from the place that was asked for.
            let Some((id, _)) = first else {
                let empty = value.is_empty() && (!complete || self.wrote_nothing(key));
                return if empty { Ok(()) } else { Err("no write has made it".into()) };
            };
            let write = self.write(id, key)?;
            let from = usize::try_from(from).unwrap_or(usize::MAX);
            let expected = write.bytes.get(from..).unwrap_or_default();
            let expected =
                if complete { expected } else { expected.get(..value.len()).unwrap_or_default() };
            return if expected == value { Ok(()) } else { Err(format!("torn from write {id}")) };
        }
        for (at, bytes) in value.chunks(CELL).enumerate() {
            if bytes.iter().all(|byte| *byte == 0) {
                continue;
            }
            let (id, index) = origin(bytes).ok_or("no write has made a part of it")?;
            self.write(id, key)?;
            let place = from / CELL as u64 + at as u64;
            if u64::from(index) != place {
                return Err(format!("part {index} of write {id} stands at {place}"));
            }
        }
        Ok(())
    }

    fn wrote_nothing(&self, key: &str) -> bool {
        self.writes.iter().any(|write| write.key == key && write.bytes.is_empty())
    }

    fn write(&self, id: u32, key: &str) -> Result<&Write, String> {
        let write = self.writes.get(id as usize).ok_or("no such write")?;
        if write.key != key {
            return Err(format!("write {id} was of {}", write.key));
        }
        if write.applied == 0 {
            return Err(format!("write {id} has not reached any disk"));
        }
        Ok(write)
    }
}

/// What a value comes to in the trace, and whether it settles a race.
pub(crate) trait Digest {
    fn digest(&self) -> u64;

    fn conclusive(&self) -> bool {
        true
    }
}

impl Digest for Bytes {
    fn digest(&self) -> u64 {
        fnv(FNV, self)
    }
}

impl Digest for () {
    fn digest(&self) -> u64 {
        0
    }
}

impl Digest for bool {
    fn digest(&self) -> u64 {
        u64::from(*self)
    }

    fn conclusive(&self) -> bool {
        *self
    }
}

impl Digest for Written {
    fn digest(&self) -> u64 {
        let version = self.version.as_ref().map_or("", |version| version.as_str());
        fnv(FNV, version.as_bytes())
    }
}

impl Digest for Metadata {
    fn digest(&self) -> u64 {
        let version = self.version.as_ref().map_or("", |version| version.as_str());
        fnv(fnv(FNV, version.as_bytes()), &self.size.to_le_bytes())
    }
}

impl Digest for Page {
    fn digest(&self) -> u64 {
        let hash = self.entries.iter().fold(FNV, |hash, entry| {
            fnv(fnv(hash, entry.key.as_bytes()), &entry.metadata.digest().to_le_bytes())
        });
        fnv(hash, self.next.as_deref().unwrap_or("").as_bytes())
    }
}
