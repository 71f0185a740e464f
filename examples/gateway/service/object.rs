//! Reading and deleting objects.

use std::ops::Range;

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::header::{
    ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, IF_MATCH, IF_NONE_MATCH,
    IF_UNMODIFIED_SINCE, LAST_MODIFIED,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt, stream};
use storage_mux::{Metadata, StorageError};

use super::Gateway;
use super::conditions::{Part, for_read, modified, part, tag};
use super::failure::Failure;

/// Another has written between the look at a value and its bytes.
const CHANGED: &str = "the value changed while it was read; ask again";

/// `GET` and `HEAD`.
///
/// The metadata is read before the value. Where the value is replaced in between, the answer has
/// the tag of the old one, so that whoever keeps it asks again; and where its length differs, the
/// answer fails or breaks off and is not a mix of two.
pub(super) async fn read(
    State(gateway): State<Gateway>,
    Path(key): Path<String>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    super::upload::check_key(&gateway, &key)?;
    let metadata = gateway.stat(&key).await?;
    let mut response = match for_read(&headers, &metadata) {
        Ok(()) => answer(&gateway, &key, &metadata, &method, &headers).await?,
        Err(status) => status.into_response(),
    };
    let known = response.headers_mut();
    known.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    for (name, value) in
        [(ETAG, tag(metadata.version.as_ref())), (LAST_MODIFIED, modified(&metadata))]
    {
        value.map(|value| known.insert(name, value));
    }
    Ok(response)
}

async fn answer(
    gateway: &Gateway,
    key: &str,
    metadata: &Metadata,
    method: &Method,
    headers: &HeaderMap,
) -> Result<Response, Failure> {
    let size = metadata.size;
    // Only GET has ranges: HEAD tells of the whole.
    let wanted = if *method == Method::HEAD { Part::Whole } else { part(headers, metadata) };
    let (status, range) = match wanted {
        Part::Unsatisfiable => {
            let all = [(CONTENT_RANGE, format!("bytes */{size}"))];
            let why = Failure::new(
                StatusCode::RANGE_NOT_SATISFIABLE,
                format!("the range begins past the end: there are {size} bytes"),
            );
            return Ok((all, why).into_response());
        }
        Part::Range(range) => (StatusCode::PARTIAL_CONTENT, range),
        Part::Whole => (StatusCode::OK, 0..size),
    };
    let body = if *method == Method::HEAD {
        Body::empty()
    } else {
        body(gateway, key, size, range.clone()).await?
    };
    let mut response = (status, body).into_response();
    let known = response.headers_mut();
    known.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    known.insert(CONTENT_LENGTH, range.end.saturating_sub(range.start).into());
    if status == StatusCode::PARTIAL_CONTENT {
        let which = format!("bytes {}-{}/{size}", range.start, range.end.saturating_sub(1));
        HeaderValue::try_from(which).map(|which| known.insert(CONTENT_RANGE, which)).ok();
    }
    Ok(response)
}

/// A short range in one piece, everything else out of a stream: memory is bounded either way.
async fn body(gateway: &Gateway, key: &str, size: u64, range: Range<u64>) -> Result<Body, Failure> {
    let length = range.end.saturating_sub(range.start);
    if length < size && length <= gateway.limits().range_bytes {
        match gateway.mux().get_range(key, range.clone()).await {
            Err(error) if error == StorageError::unsupported() => {}
            // The length is announced: another would garble the connection.
            Ok(piece) if u64::try_from(piece.len()) != Ok(length) => {
                return Err(Failure::new(StatusCode::SERVICE_UNAVAILABLE, CHANGED));
            }
            other => return Ok(Body::from(other?)),
        }
    }
    let whole = gateway.mux().get_stream(key).await?;
    let to_end = range.end == size;
    Ok(Body::from_stream(cut(whole, range, to_end)))
}

/// The bytes of a range, out of a stream of the whole. What follows the range is not read; where
/// it goes `to_end` nothing may follow, and the last of it is held back until that is certain.
fn cut<S>(
    whole: S,
    range: Range<u64>,
    to_end: bool,
) -> impl Stream<Item = Result<Bytes, StorageError>>
where
    S: Stream<Item = Result<Bytes, StorageError>> + Unpin,
{
    let left = range.end.saturating_sub(range.start);
    let changed = || StorageError::other(CHANGED);
    stream::unfold((whole, range.start, left), move |(mut whole, mut skip, left)| async move {
        if left == 0 {
            return None;
        }
        loop {
            let mut chunk = match whole.next().await {
                Some(Ok(chunk)) => chunk,
                Some(Err(error)) => return Some((Err(error), (whole, 0, 0))),
                None => return Some((Err(changed()), (whole, 0, 0))),
            };
            let before = chunk.len().min(usize::try_from(skip).unwrap_or(usize::MAX));
            let _ = chunk.split_to(before);
            skip = skip.saturating_sub(u64::try_from(before).unwrap_or(u64::MAX));
            if chunk.is_empty() {
                continue;
            }
            let mut is_longer = u64::try_from(chunk.len()).unwrap_or(u64::MAX) > left;
            chunk.truncate(usize::try_from(left).unwrap_or(usize::MAX));
            let left = left.saturating_sub(u64::try_from(chunk.len()).unwrap_or(u64::MAX));
            while to_end && left == 0 && !is_longer {
                match whole.next().await {
                    None => break,
                    Some(Ok(more)) => is_longer = !more.is_empty(),
                    Some(Err(error)) => return Some((Err(error), (whole, 0, 0))),
                }
            }
            if to_end && is_longer {
                return Some((Err(changed()), (whole, 0, 0)));
            }
            return Some((Ok(chunk), (whole, 0, left)));
        }
    })
}

/// `DELETE`. A key that holds nothing is deleted already. No store deletes under a condition, and
/// one that was not looked at could remove what its writer never saw.
pub(super) async fn delete(
    State(gateway): State<Gateway>,
    Path(key): Path<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Failure> {
    super::upload::check_key(&gateway, &key)?;
    if [IF_MATCH, IF_NONE_MATCH, IF_UNMODIFIED_SINCE].iter().any(|name| headers.contains_key(name))
    {
        let why = "a value cannot be deleted under a condition; delete without one";
        return Err(Failure::new(StatusCode::NOT_IMPLEMENTED, why));
    }
    gateway.mux().delete(&key).await?;
    Ok(StatusCode::NO_CONTENT)
}
