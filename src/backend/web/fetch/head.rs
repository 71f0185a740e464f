//! What the head of an answer says.

use core::ops::Range;
use core::time::Duration;

use js_sys::Date;

use super::exchange::Exchange;
use crate::error::StorageError;
use crate::port::{Metadata, Version, Written};

/// The error that a refusal means.
pub(super) fn refusal(answer: &Exchange) -> StorageError {
    let error = StorageError::http(answer.status());
    match answer.header("retry-after").and_then(|text| wait(&text)) {
        Some(wait) => error.with_retry_after(wait),
        None => error,
    }
}

/// How long a `Retry-After` asks to wait: it is a number of seconds or a date.
fn wait(text: &str) -> Option<Duration> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // Digits that do not fit are a very long time.
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    // Every date of HTTP begins with the name of a day; hosts take much else for a date.
    if !text.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return None;
    }
    // A date is of the wall clock, so it is the host's that it is compared with.
    let ms = Date::parse(text) - Date::now();
    (!ms.is_nan()).then(|| Duration::try_from_secs_f64(ms / 1_000.0).unwrap_or_default())
}

/// What `HEAD` tells of a value.
pub(super) fn metadata(answer: &Exchange) -> Result<Metadata, StorageError> {
    let size = answer.header("content-length").and_then(|text| text.trim().parse().ok());
    let Some(size) = size else {
        return Err(StorageError::unsupported().with_detail("the answer has no Content-Length"));
    };
    let mut metadata = Metadata::new(size);
    metadata.version = version(answer);
    let modified = answer.header("last-modified").map(|text| Date::parse(&text));
    // A number of milliseconds since 1970; the cast takes what is no such number for zero.
    metadata.modified_unix_ms = modified.filter(|ms| *ms >= 0.0).map(|ms| ms as u64);
    Ok(metadata)
}

/// What the answer to a write tells of the value that now stands.
pub(super) fn written(answer: &Exchange) -> Written {
    Written { version: version(answer) }
}

/// The version of a value: its entity tag, if that is a strong one. A weak one says that two values
/// are alike, which is not enough to replace one of them by.
fn version(answer: &Exchange) -> Option<Version> {
    answer.header("etag").filter(|tag| is_strong(tag)).map(Version::new)
}

/// Whether a text can be a strong entity tag.
pub(super) fn is_strong(tag: &str) -> bool {
    let inside = tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"'));
    inside
        .is_some_and(|inside| inside.bytes().all(|byte| byte > b' ' && byte != b'"' && byte < 127))
}

/// Whether an answer brings the part that was asked for: from its start to its end, or to the end of
/// the value. A page that may not see the header has to believe it.
pub(super) fn brings(answer: &Exchange, wanted: &Range<u64>) -> bool {
    let Some(text) = answer.header("content-range") else { return true };
    sent(&text).is_some_and(|(part, size)| {
        part.start == wanted.start && (part.end >= wanted.end || size == Some(part.end))
    })
}

/// The part that a `Content-Range` names, and the size of the whole where that is told.
fn sent(text: &str) -> Option<(Range<u64>, Option<u64>)> {
    let (part, size) = text.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = part.split_once('-')?;
    let (first, last): (u64, u64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    Some((first..last.checked_add(1)?, size.trim().parse().ok()))
}
