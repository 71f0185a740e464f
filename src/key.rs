//! Keys: UTF-8 text, never normalised, and the rules that make one illegal everywhere.

use crate::error::StorageError;

/// Checks a key against the rules that every backend shares.
///
/// A backend calls this first in each keyed operation, with its own limit. The check touches
/// nothing and allocates nothing for a legal key.
///
/// # Errors
///
/// `STORAGE.INVALID_KEY` for an empty key, a key with a NUL, and a key of more than `max_bytes`
/// bytes.
///
/// ```
/// use storage_mux::validate_key;
///
/// assert!(validate_key("a/b", 3).is_ok());
/// assert!(validate_key("a/bc", 3).is_err());
/// assert!(validate_key("", 3).is_err());
/// assert!(validate_key("a\0", 3).is_err());
/// ```
pub fn validate_key(key: &str, max_bytes: usize) -> Result<(), StorageError> {
    if key.is_empty() {
        return Err(StorageError::invalid_key("the key is empty"));
    }
    if key.len() > max_bytes {
        return Err(StorageError::invalid_key("the key is longer than the backend takes"));
    }
    if key.as_bytes().contains(&0) {
        return Err(StorageError::invalid_key("the key holds a NUL"));
    }
    Ok(())
}
