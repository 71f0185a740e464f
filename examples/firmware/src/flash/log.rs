//! The log on the chip: the latest record of a key is its value.
//!
//! One half of the chip is written to until it is full; then what is still alive moves to the
//! other half, which is erased for it.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use storage_mux::{Entry, Metadata, Page, PageRequest, StorageError};

use super::chip::{Chip, SECTOR, SIZE};

const HALF: usize = SIZE / 2;

/// A record: kind, length of the key, length of the value in two bytes, key, value.
const HEADER: usize = 4;
const VALUE: u8 = b'V';
const TOMBSTONE: u8 = b'T';

#[derive(Default)]
pub(super) struct Log {
    chip: Chip,
    /// Where the half in use begins.
    start: usize,
    /// Where the next record goes.
    end: usize,
}

impl Log {
    pub(super) const fn erases(&self) -> u32 {
        self.chip.erases
    }

    /// The value of a key, where it has one.
    pub(super) fn value(&self, key: &str) -> Option<&[u8]> {
        let own = self.records().filter(|(other, _)| *other == key.as_bytes());
        own.last().and_then(|(_, value)| value)
    }

    /// Records a value, or that there is none any more.
    pub(super) fn append(&mut self, key: &str, value: Option<&[u8]>) -> Result<(), StorageError> {
        let bytes = value.unwrap_or_default();
        let size = HEADER + key.len() + bytes.len();
        if self.end + size > self.start + HALF {
            // Two halves at once would be all that it takes to hold this record and the rest.
            let alive: usize = self.alive().iter().map(|(k, v)| HEADER + k.len() + v.len()).sum();
            if alive + size > HALF {
                return Err(StorageError::http(507).with_detail("the flash chip is full"));
            }
            self.compact()?;
        }
        let kind = if value.is_some() { VALUE } else { TOMBSTONE };
        self.write(kind, key.as_bytes(), bytes)
    }

    pub(super) fn page(&self, prefix: &str, request: &PageRequest) -> Page {
        let after = request.after.as_deref().map(str::as_bytes);
        let alive = self.alive();
        let mut matching = alive
            .iter()
            .filter(|(key, _)| key.starts_with(prefix.as_bytes()))
            .filter(|(key, _)| after.is_none_or(|after| **key > after))
            .filter_map(|(key, value)| Some((core::str::from_utf8(key).ok()?, value)));
        let entries: Vec<Entry> = matching
            .by_ref()
            .take(request.limit.max(1))
            .map(|(key, value)| Entry::new(key, Metadata::new(value.len() as u64)))
            .collect();
        let more = matching.next().is_some();
        let next = entries.last().filter(|_| more).map(|entry| entry.key.clone());
        Page::new(entries, next)
    }

    /// The values that there are, by key.
    fn alive(&self) -> BTreeMap<&[u8], &[u8]> {
        let mut alive = BTreeMap::new();
        for (key, value) in self.records() {
            match value {
                Some(value) => alive.insert(key, value),
                None => alive.remove(key),
            };
        }
        alive
    }

    fn compact(&mut self) -> Result<(), StorageError> {
        let alive = self.alive();
        let owned: Vec<(Vec<u8>, Vec<u8>)> =
            alive.iter().map(|(key, value)| (key.to_vec(), value.to_vec())).collect();
        self.start = HALF - self.start;
        self.end = self.start;
        (self.start..self.start + HALF).step_by(SECTOR).for_each(|at| self.chip.erase(at));
        owned.iter().try_for_each(|(key, value)| self.write(VALUE, key, value))
    }

    fn write(&mut self, kind: u8, key: &[u8], value: &[u8]) -> Result<(), StorageError> {
        let too_long = |_| StorageError::http(413).with_detail("the flash store takes 64 KiB");
        let [low, high] = u16::try_from(value.len()).map_err(too_long)?.to_le_bytes();
        // Keys are 64 bytes at most.
        let header = [kind, key.len() as u8, low, high];
        for part in [&header, key, value] {
            self.chip.write(self.end, part)?;
            self.end += part.len();
        }
        Ok(())
    }

    /// The records of the half in use, oldest first.
    fn records(&self) -> impl Iterator<Item = (&[u8], Option<&[u8]>)> {
        let mut rest = &self.chip.bytes()[self.start..self.end];
        core::iter::from_fn(move || {
            let ([kind, key, low, high], body) = rest.split_first_chunk::<HEADER>()?;
            let (key, body) = body.split_at_checked(usize::from(*key))?;
            let (value, next) =
                body.split_at_checked(usize::from(u16::from_le_bytes([*low, *high])))?;
            rest = next;
            Some((key, (*kind == VALUE).then_some(value)))
        })
    }
}
