//! Writing objects: streamed, or whole where a condition decides.

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Path, State};
use axum::http::header::{CONTENT_LENGTH, ETAG};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::{SinkExt, StreamExt};
use storage_mux::{Condition, LocalStorage, StorageError};

use super::Gateway;
use super::conditions::{Wanted, for_write, tag};
use super::failure::Failure;

/// `PUT`.
///
/// A body without a condition goes through in chunks, as fast as the backends take them, and shows
/// only once all of it is there: whoever hangs up half-way leaves nothing behind.
pub(super) async fn write(
    State(gateway): State<Gateway>,
    Path(key): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Failure> {
    check_key(&gateway, &key)?;
    let condition = for_write(&headers)?;
    let limits = gateway.limits();
    let limit = match condition {
        Some(_) => {
            limits.body_bytes.min(u64::try_from(limits.conditional_body_bytes).unwrap_or(u64::MAX))
        }
        None => limits.body_bytes,
    };
    let announced = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    if announced.is_some_and(|length: u64| length > limit) {
        return Err(too_long(limit));
    }
    match condition {
        Some(wanted) => write_if(&gateway, &key, body, wanted, limit).await,
        None => write_stream(&gateway, &key, body, limit).await,
    }
}

async fn write_if(
    gateway: &Gateway,
    key: &str,
    body: Body,
    wanted: Wanted,
    limit: u64,
) -> Result<Response, Failure> {
    let limit_in_memory = usize::try_from(limit).unwrap_or(usize::MAX);
    let value: Bytes = to_bytes(body, limit_in_memory).await.map_err(|_| {
        let why =
            format!("the body broke off, or is over the {limit} bytes of a write with a condition");
        Failure::new(StatusCode::PAYLOAD_TOO_LARGE, why)
    })?;
    let condition = match wanted {
        Wanted::Absent => Condition::Absent,
        Wanted::Tag(wanted) => condition(gateway, key, &wanted).await?,
    };
    let written = gateway.mux().set_if(key, value, condition).await?;
    let mut response = StatusCode::NO_CONTENT.into_response();
    if let Some(tag) = tag(written.version.as_ref()) {
        response.headers_mut().insert(ETAG, tag);
    }
    Ok(response)
}

/// A tag as the version that it stands for. The store decides: a value that changes after this
/// look fails the condition all the same.
async fn condition(
    gateway: &Gateway,
    key: &str,
    wanted: &HeaderValue,
) -> Result<Condition, Failure> {
    let version = match gateway.mux().stat(key).await {
        Ok(metadata) => metadata.version,
        Err(error) if error.is_key_not_found() => None,
        Err(error) => return Err(error.into()),
    };
    match version {
        Some(version) if tag(Some(&version)).as_ref() == Some(wanted) => {
            Ok(Condition::VersionMatches(version))
        }
        _ => Err(Failure::from(StorageError::precondition_failed())),
    }
}

async fn write_stream(
    gateway: &Gateway,
    key: &str,
    body: Body,
    limit: u64,
) -> Result<Response, Failure> {
    let mut chunks = body.into_data_stream();
    let mut writer = gateway.mux().set_stream(key).await?;
    let mut length = 0_u64;
    // Leaving early drops the writer, and with it all that it has taken.
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|error| {
            Failure::new(StatusCode::BAD_REQUEST, format!("the body broke off: {error}"))
        })?;
        length = length.saturating_add(u64::try_from(chunk.len()).unwrap_or(u64::MAX));
        if length > limit {
            return Err(too_long(limit));
        }
        // Not `send`, which would wait for each chunk to be through before it takes the next.
        writer.feed(chunk).await?;
    }
    writer.close().await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// A key that no backend takes is refused here, by its length with the status that says so.
pub(super) fn check_key(gateway: &Gateway, key: &str) -> Result<(), Failure> {
    let limit = gateway.mux().capabilities().max_key_bytes();
    if key.len() > limit {
        let why = format!("the key is {} bytes long, {limit} at most", key.len());
        return Err(Failure::new(StatusCode::URI_TOO_LONG, why));
    }
    if key.contains('\0') {
        return Err(Failure::new(StatusCode::BAD_REQUEST, "a key holds no NUL"));
    }
    Ok(())
}

fn too_long(limit: u64) -> Failure {
    Failure::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        format!("the body may be {limit} bytes long at most"),
    )
}
