//! What OpenDAL knows of a value, in the words of the ports.

use std::time::{SystemTime, UNIX_EPOCH};

use ::opendal::Metadata as Foreign;

use crate::backend::version::version;
use crate::port::{Metadata, Written};

pub(super) fn metadata(known: &Foreign) -> Metadata {
    let mut metadata = Metadata::new(known.content_length());
    if let Some(version) = version(known.etag(), known.version()) {
        metadata = metadata.with_version(version);
    }
    match known.last_modified().and_then(|time| unix_ms(time.into())) {
        Some(modified) => metadata.with_modified_unix_ms(modified),
        None => metadata,
    }
}

pub(super) fn written(known: &Foreign) -> Written {
    version(known.etag(), known.version()).map_or_else(Written::default, Written::with_version)
}

fn unix_ms(time: SystemTime) -> Option<u64> {
    u64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}
