//! The address of a key.

use alloc::string::String;

use js_sys::encode_uri_component;

use super::FetchStorage;
use crate::error::StorageError;
use crate::key::validate_key;

/// The address of `key` below `base`, which ends in a slash.
///
/// Different keys have different addresses: all but unreserved characters and slashes is encoded,
/// the percent sign too.
pub(super) fn address(base: &str, key: &str) -> Result<String, StorageError> {
    validate_key(key, FetchStorage::MAX_KEY_BYTES)?;
    let mut address = String::from(base);
    for (index, segment) in key.split('/').enumerate() {
        if matches!(segment, "." | "..") {
            return Err(StorageError::invalid_key("an address cannot hold the segments . and .."));
        }
        if index > 0 {
            address.push('/');
        }
        address.push_str(&String::from(encode_uri_component(segment)));
    }
    Ok(address)
}
