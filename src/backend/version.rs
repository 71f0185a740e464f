//! The text of a version, made of what foreign stores compare: entity tags and identifiers.

use alloc::string::String;

use crate::port::Version;

/// What parts an entity tag from a version identifier in the text of a version. Neither can hold
/// it: both travel in the head of an HTTP message.
const SEPARATOR: char = '\n';

/// Some stores compare entity tags, others their own version identifiers: a version keeps both.
pub(super) fn version(e_tag: Option<&str>, version: Option<&str>) -> Option<Version> {
    let mut text = String::from(e_tag.unwrap_or_default());
    if let Some(version) = version {
        text.push(SEPARATOR);
        text.push_str(version);
    }
    (!text.is_empty()).then(|| Version::new(text))
}

/// The entity tag and the version identifier of which a version was made.
pub(super) fn version_parts(version: &Version) -> (Option<&str>, Option<&str>) {
    let text = version.as_str();
    let (e_tag, version) = match text.split_once(SEPARATOR) {
        Some((e_tag, version)) => (e_tag, Some(version)),
        None => (text, None),
    };
    ((!e_tag.is_empty()).then_some(e_tag), version)
}
