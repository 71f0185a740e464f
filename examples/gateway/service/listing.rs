//! Listing keys, a page at a time.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use storage_mux::PageRequest;

use super::Gateway;
use super::failure::Failure;

/// The most keys on a page.
const MAX_LIMIT: usize = 1_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    #[serde(default)]
    prefix: String,
    after: Option<String>,
    limit: Option<usize>,
}

/// `GET /objects?prefix=&after=&limit=`: keys in order, and where the next page begins.
pub(super) async fn list(
    State(gateway): State<Gateway>,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Result<Json<Value>, Failure> {
    let Query(Wanted { prefix, after, limit }) =
        wanted.map_err(|error| Failure::new(StatusCode::BAD_REQUEST, error.body_text()))?;
    let limit = limit.unwrap_or(MAX_LIMIT);
    if limit == 0 || limit > MAX_LIMIT {
        let why = format!("limit must be from 1 to {MAX_LIMIT}");
        return Err(Failure::new(StatusCode::BAD_REQUEST, why));
    }
    let request = match after {
        Some(after) => PageRequest::after(after, limit),
        None => PageRequest::first(limit),
    };
    let page = gateway.mux().list(&prefix, &request).await?;
    let entries: Vec<Value> = page
        .entries
        .iter()
        .map(|entry| {
            json!({
                "key": entry.key,
                "size": entry.metadata.size,
                "version": entry.metadata.version.as_ref().map(|version| version.as_str().trim_matches('"')),
                "modified_unix_ms": entry.metadata.modified_unix_ms,
            })
        })
        .collect();
    Ok(Json(json!({ "entries": entries, "next": page.next })))
}
