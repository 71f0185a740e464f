//! What all foreign stores have in common in their values: parts that change, and lengths that lie.

use alloc::format;
use alloc::vec::Vec;

use bytes::Bytes;

use crate::error::{NetworkFault, StorageError};

/// How often a partial write with conditions begins again when others write to the key meanwhile.
pub(super) const PARTIAL_TRIES: u32 = 8;

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
    StorageError::http(413).with_detail(format!(
        "a partial write rewrites the whole value, which may have {limit} bytes at most"
    ))
}

/// A write stream that is collected in memory and has grown past its limit.
#[cfg(feature = "opendal")]
pub(super) fn too_long(limit: u64) -> StorageError {
    StorageError::http(413).with_detail(format!(
        "the backend writes a stream in one piece, which may have {limit} bytes at most"
    ))
}

/// A value that is not as long as it was said to be: the connection broke, or the value changed
/// while it was read. Transient, as a new read may find it whole.
pub(super) fn wrong_length(given: u64, announced: u64) -> StorageError {
    StorageError::network(NetworkFault::Reset)
        .with_detail(format!("the value broke off after {given} of {announced} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
