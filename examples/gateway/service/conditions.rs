//! Ranges and conditions, as RFC 9110 has them. Pure: headers and metadata in, a verdict out.

use std::ops::Range;
use std::time::{Duration, SystemTime};

use axum::http::HeaderName;
use axum::http::header::{
    CONTENT_RANGE, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE, RANGE,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use storage_mux::{Metadata, Version};

use super::failure::Failure;

/// What part of a value to answer with.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    /// Bytes from the start to before the end, at least one.
    Range(Range<u64>),
    /// The range begins past the end.
    Unsatisfiable,
}

/// The entity tag of a version. One that no header can hold is none.
pub(super) fn tag(version: Option<&Version>) -> Option<HeaderValue> {
    let version = version?.as_str().trim_matches('"');
    let plain = |byte: u8| byte == 0x21 || (0x23..=0x7e).contains(&byte);
    let fits = !version.is_empty() && version.bytes().all(plain);
    fits.then(|| HeaderValue::try_from(format!("\"{version}\"")).ok())?
}

/// The time of a change as HTTP writes it.
pub(super) fn modified(metadata: &Metadata) -> Option<HeaderValue> {
    let at =
        SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(metadata.modified_unix_ms?))?;
    HeaderValue::try_from(httpdate::fmt_http_date(at)).ok()
}

/// Whether a reader's conditions let it have the value: 304 where it has it already.
pub(super) fn for_read(headers: &HeaderMap, metadata: &Metadata) -> Result<(), StatusCode> {
    let tag = tag(metadata.version.as_ref());
    // A tag tells more than a time, which counts only where there is no tag.
    let fits = if headers.contains_key(IF_MATCH) {
        names(headers, IF_MATCH.as_str(), tag.as_ref(), false)
    } else {
        is_unchanged_since(headers, IF_UNMODIFIED_SINCE, metadata).unwrap_or(true)
    };
    if !fits {
        return Err(StatusCode::PRECONDITION_FAILED);
    }
    let is_known = if headers.contains_key(IF_NONE_MATCH) {
        names(headers, IF_NONE_MATCH.as_str(), tag.as_ref(), true)
    } else {
        is_unchanged_since(headers, IF_MODIFIED_SINCE, metadata).unwrap_or(false)
    };
    if is_known { Err(StatusCode::NOT_MODIFIED) } else { Ok(()) }
}

/// Whether the last change is no later than the second in a header; `None` where one of the two
/// times is not there or no time.
fn is_unchanged_since(headers: &HeaderMap, header: HeaderName, known: &Metadata) -> Option<bool> {
    let since = httpdate::parse_http_date(headers.get(header)?.to_str().ok()?).ok()?;
    let since = since.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Some(Duration::from_millis(known.modified_unix_ms?).as_secs() <= since.as_secs())
}

/// What a writer asks of the value that is there.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// That there is none.
    Absent,
    /// That it has this tag.
    Tag(HeaderValue),
}

/// The condition of a writer, if it has one that a store can decide.
pub(super) fn for_write(headers: &HeaderMap) -> Result<Option<Wanted>, Failure> {
    let (matches, none) = (headers.get(IF_MATCH), headers.get(IF_NONE_MATCH));
    let refused = |why: &str| Err(Failure::new(StatusCode::BAD_REQUEST, why));
    // What is not looked at must not be passed over: a write would be lost, or replace the whole.
    if headers.contains_key(IF_UNMODIFIED_SINCE) {
        return refused("a write takes no If-Unmodified-Since; give the tag in If-Match");
    }
    if headers.contains_key(CONTENT_RANGE) {
        return refused("a write is of the whole value and takes no Content-Range");
    }
    match (matches.map(HeaderValue::as_bytes), none.map(HeaderValue::as_bytes)) {
        (None, None) => Ok(None),
        (None, Some(b"*")) => Ok(Some(Wanted::Absent)),
        (None, Some(_)) => refused("a write takes If-None-Match: * alone"),
        (Some(_), Some(_)) => refused("a write takes If-Match or If-None-Match, not both"),
        (Some(b"*"), None) => refused("a write takes one tag in If-Match"),
        (Some(tag), None) if is_strong_tag(tag) => Ok(matches.cloned().map(Wanted::Tag)),
        (Some(_), None) => refused("a write takes one tag in If-Match, in quotes"),
    }
}

/// The part of a value of `size` bytes that the headers ask for. Several ranges, another unit and
/// nonsense are answered with the whole, as they may be.
pub(super) fn part(headers: &HeaderMap, metadata: &Metadata) -> Part {
    let size = metadata.size;
    let Some(text) = headers.get(RANGE).and_then(|value| value.to_str().ok()) else {
        return Part::Whole;
    };
    if let Some(wanted) = headers.get(IF_RANGE) {
        // A date is not looked at: only a tag tells versions of one second apart.
        if tag(metadata.version.as_ref()).as_ref() != Some(wanted) {
            return Part::Whole;
        }
    }
    let Some((first, last)) = text.strip_prefix("bytes=").and_then(|range| range.split_once('-'))
    else {
        return Part::Whole;
    };
    match (first.trim().parse::<u64>(), last.trim().parse::<u64>()) {
        (Ok(first), Ok(last)) if first <= last && first < size => {
            Part::Range(first..last.saturating_add(1).min(size))
        }
        (Ok(first), Ok(last)) if first <= last => Part::Unsatisfiable,
        (Ok(first), Err(_)) if last.trim().is_empty() && first < size => Part::Range(first..size),
        (Ok(_), Err(_)) if last.trim().is_empty() => Part::Unsatisfiable,
        (Err(_), Ok(suffix)) if first.trim().is_empty() && suffix > 0 && size > 0 => {
            Part::Range(size.saturating_sub(suffix)..size)
        }
        (Err(_), Ok(_)) if first.trim().is_empty() => Part::Unsatisfiable,
        _ => Part::Whole,
    }
}

/// Whether a header lists the tag, or `*`. Readers that have the value already compare weakly.
fn names(headers: &HeaderMap, header: &str, tag: Option<&HeaderValue>, weakly: bool) -> bool {
    let lists = headers.get_all(header).into_iter().filter_map(|value| value.to_str().ok());
    lists.flat_map(|list| list.split(',')).map(str::trim).any(|listed| {
        let listed = if weakly { listed.strip_prefix("W/").unwrap_or(listed) } else { listed };
        listed == "*" || tag.is_some_and(|tag| tag.as_bytes() == listed.as_bytes())
    })
}

/// Whether it is one tag in quotes, which only equal values share.
fn is_strong_tag(tag: &[u8]) -> bool {
    let inner = tag.strip_prefix(b"\"").and_then(|tag| tag.strip_suffix(b"\""));
    inner.is_some_and(|inner| !inner.is_empty() && !inner.contains(&b'"'))
}
