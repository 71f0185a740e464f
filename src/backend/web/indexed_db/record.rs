//! What is kept beside a value, and how a value is changed in part.

use alloc::format;
use core::ops::Range;

use js_sys::{Array, Uint8Array};
use wasm_bindgen::JsValue;

use super::IndexedDbStorage;
use crate::backend::web::bytes::zeroed;
use crate::error::StorageError;
use crate::port::{Condition, Metadata, Version, Written};
use crate::runtime::wasm::entropy_seed;

/// What is known of a value without reading it. To the host it is an array of both.
pub(super) struct Record {
    size: u64,
    version: Version,
}

impl Record {
    /// The record of a value that is written now.
    pub(super) fn new(value: &Uint8Array) -> Self {
        // No two writes draw the same 64 bits, also not in two tabs, and none needs to read first.
        let version = Version::new(format!("{:016x}", entropy_seed()));
        Self { size: value.length().into(), version }
    }

    /// The record as it was kept; none where there is none.
    pub(super) fn from_host(kept: &JsValue) -> Option<Self> {
        let fields = Array::is_array(kept).then(|| Array::from(kept))?;
        // A size is below 2^53, so the cast keeps it whole.
        let size = fields.get(0).as_f64()? as u64;
        Some(Self { size, version: Version::new(fields.get(1).as_string()?) })
    }

    pub(super) fn to_host(&self) -> JsValue {
        let version = JsValue::from_str(self.version.as_str());
        Array::of2(&JsValue::from_f64(self.size as f64), &version).into()
    }

    pub(super) fn written(&self) -> Written {
        Written::with_version(self.version.clone())
    }
}

impl From<Record> for Metadata {
    fn from(record: Record) -> Self {
        Self::new(record.size).with_version(record.version)
    }
}

/// Whether a condition holds for what is known of the value.
pub(super) fn holds(condition: &Condition, record: Option<&Record>) -> bool {
    match condition {
        Condition::Absent => record.is_none(),
        Condition::VersionMatches(wanted) => record.is_some_and(|held| held.version == *wanted),
    }
}

/// `old` with `bytes` written over it from `offset` on, and zero bytes where neither reaches.
pub(super) fn patched(
    old: Uint8Array,
    offset: u64,
    bytes: &[u8],
) -> Result<Uint8Array, StorageError> {
    if bytes.is_empty() {
        return Ok(old);
    }
    let target = target(old.length(), offset, bytes.len())?;
    let new = if target.end > old.length() {
        let grown = zeroed(target.end as usize)?;
        grown.set(&old, 0);
        grown
    } else {
        old
    };
    new.subarray(target.start, target.end).copy_from(bytes);
    Ok(new)
}

/// Where a partial write of `len` bytes lands in a value of `old_len` bytes.
fn target(old_len: u32, offset: u64, len: usize) -> Result<Range<u32>, StorageError> {
    let end = offset.saturating_add(len as u64);
    let refused = || {
        StorageError::http(413).with_detail(
            "a partial write may extend a value in the browser to 1 GiB and no further",
        )
    };
    if end > u64::from(old_len).max(IndexedDbStorage::MAX_EXTENDED_BYTES) {
        return Err(refused());
    }
    let place = |at: u64| u32::try_from(at).map_err(|_| refused());
    Ok(place(offset)?..place(end)?)
}
