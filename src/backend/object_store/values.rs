//! What is known of an object, in the words of the ports, and versions there and back.

use alloc::string::String;
use alloc::vec::Vec;

use ::object_store::{ObjectMeta, PutResult, UpdateVersion};
use bytes::Bytes;

use crate::error::StorageError;
use crate::port::{Metadata, Version, Written};

/// What parts an entity tag from a version identifier in the text of a version. Neither can hold
/// it: both travel in the head of an HTTP message.
const SEPARATOR: char = '\n';

pub(super) fn metadata(object: &ObjectMeta) -> Metadata {
    let mut metadata = Metadata::new(object.size);
    if let Some(version) = version(object.e_tag.as_deref(), object.version.as_deref()) {
        metadata = metadata.with_version(version);
    }
    match u64::try_from(object.last_modified.timestamp_millis()) {
        Ok(modified) => metadata.with_modified_unix_ms(modified),
        Err(_) => metadata,
    }
}

pub(super) fn written(result: &PutResult) -> Written {
    version(result.e_tag.as_deref(), result.version.as_deref())
        .map_or_else(Written::default, Written::with_version)
}

/// Some stores compare entity tags, others their own version identifiers: a version keeps both.
fn version(e_tag: Option<&str>, version: Option<&str>) -> Option<Version> {
    let mut text = String::from(e_tag.unwrap_or_default());
    if let Some(version) = version {
        text.push(SEPARATOR);
        text.push_str(version);
    }
    (!text.is_empty()).then(|| Version::new(text))
}

/// The version of an object as the store compares it. `None` where it has none to compare.
pub(super) fn update_version(version: &Version) -> Option<UpdateVersion> {
    let text = version.as_str();
    let (e_tag, version) = match text.split_once(SEPARATOR) {
        Some((e_tag, version)) => (e_tag, Some(version)),
        None => (text, None),
    };
    let version = UpdateVersion {
        e_tag: (!e_tag.is_empty()).then(|| e_tag.into()),
        version: version.map(Into::into),
    };
    (version.e_tag.is_some() || version.version.is_some()).then_some(version)
}

/// `old` with `bytes` written over it from `offset` on, and zero bytes where neither reaches.
///
/// # Errors
///
/// HTTP 413 where the result would be longer than `limit`, HTTP 507 where the memory has no room.
pub(super) fn patched(
    old: &[u8],
    offset: u64,
    bytes: &[u8],
    limit: u64,
) -> Result<Bytes, StorageError> {
    let end = offset.saturating_add(bytes.len() as u64);
    let too_large = || too_large(limit);
    if end > limit {
        return Err(too_large());
    }
    let start = usize::try_from(offset).map_err(|_| too_large())?;
    let len = usize::try_from(end).map_err(|_| too_large())?.max(old.len());
    let mut new = Vec::new();
    new.try_reserve_exact(len).map_err(|_| StorageError::http(507))?;
    new.extend_from_slice(old);
    new.resize(len, 0);
    if let Some(place) = new.get_mut(start..start.saturating_add(bytes.len())) {
        place.copy_from_slice(bytes);
    }
    Ok(new.into())
}

pub(super) fn too_large(limit: u64) -> StorageError {
    StorageError::http(413).with_detail(alloc::format!(
        "a partial write rewrites the whole value, which may have {limit} bytes at most"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spec: P-3
    #[test]
    fn a_version_leads_back_to_what_the_store_compares() {
        let same = |e_tag: Option<&str>, id: Option<&str>| {
            let update = version(e_tag, id).and_then(|version| update_version(&version));
            let back = update.map(|update| (update.e_tag, update.version));
            assert_eq!(back, Some((e_tag.map(Into::into), id.map(Into::into))));
        };
        same(Some("\"1\""), None);
        same(None, Some("1700000000000000"));
        same(Some("\"1\""), Some("1700000000000000"));
        assert!(version(None, None).is_none() && version(Some(""), None).is_none());
        assert!(update_version(&Version::new("")).is_none());
        assert_ne!(version(Some("a"), Some("b")), version(Some("b"), Some("a")));
    }

    /// Spec: P-7
    #[test]
    fn a_partial_write_keeps_the_rest_and_ends_at_its_limit() {
        let patch = |offset, bytes: &[u8]| patched(b"0123", offset, bytes, 8);
        assert_eq!(patch(1, b"ab"), Ok("0ab3".into()));
        assert_eq!(patch(3, b"ab"), Ok("012ab".into()));
        assert_eq!(patch(6, b"ab"), Ok("0123\0\0ab".into()));
        assert_eq!(patch(0, b""), Ok("0123".into()));
        for (offset, bytes) in [(7, &b"ab"[..]), (8, b"a"), (u64::MAX, b"a"), (u64::MAX, b"")] {
            assert_eq!(patch(offset, bytes), Err(StorageError::http(413)));
        }
    }
}
