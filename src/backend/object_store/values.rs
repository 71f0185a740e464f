//! What is known of an object, in the words of the ports, and versions there and back.

use ::object_store::path::Path;
use ::object_store::{ObjectMeta, PutResult, UpdateVersion};

use crate::backend::version::{version, version_parts};
use crate::error::StorageError;
use crate::port::{Metadata, Version, Written};

/// The path of just this name.
///
/// # Errors
///
/// `INVALID_KEY` where the store would take it for another, or for none.
pub(super) fn path_of(name: &str) -> Result<Path, StorageError> {
    match Path::parse(name) {
        Ok(path) if path.as_ref() == name && !name.is_empty() => Ok(path),
        Ok(_) => Err(StorageError::invalid_key("the store would change the key")),
        Err(error) => {
            Err(StorageError::invalid_key("the store refuses the key").with_source(error))
        }
    }
}

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

/// The version of an object as the store compares it. `None` where it has none to compare.
pub(super) fn update_version(version: &Version) -> Option<UpdateVersion> {
    let (e_tag, version) = version_parts(version);
    let version = UpdateVersion { e_tag: e_tag.map(Into::into), version: version.map(Into::into) };
    (version.e_tag.is_some() || version.version.is_some()).then_some(version)
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
}
