//! Errors as answers.

use axum::Json;
use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::response::{IntoResponse, Response};
use storage_mux::{MuxCode, StorageError, StorageErrorKind};

/// An answer that is not what was asked for: a status, and what to do about it as JSON.
#[derive(Debug)]
pub(super) struct Failure {
    status: StatusCode,
    code: Option<&'static str>,
    message: String,
    retry_after: Option<u64>,
}

impl Failure {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, code: None, message: message.into(), retry_after: None }
    }
}

impl From<StorageError> for Failure {
    fn from(error: StorageError) -> Self {
        let status = match error.kind() {
            StorageErrorKind::KeyNotFound => StatusCode::NOT_FOUND,
            StorageErrorKind::InvalidKey => StatusCode::BAD_REQUEST,
            StorageErrorKind::Unsupported => StatusCode::NOT_IMPLEMENTED,
            StorageErrorKind::Http { status: 412, .. } => StatusCode::PRECONDITION_FAILED,
            StorageErrorKind::Http { status: 413, .. } => StatusCode::PAYLOAD_TOO_LARGE,
            StorageErrorKind::Http { status: 416, .. } => StatusCode::RANGE_NOT_SATISFIABLE,
            StorageErrorKind::Http { status: 429 | 503, .. } => StatusCode::SERVICE_UNAVAILABLE,
            StorageErrorKind::Mux(mux) => match mux.code() {
                MuxCode::AllBackendsDown | MuxCode::BackendDraining | MuxCode::BackendAborted => {
                    StatusCode::SERVICE_UNAVAILABLE
                }
                MuxCode::BackendTimeout => StatusCode::GATEWAY_TIMEOUT,
                _ => StatusCode::BAD_GATEWAY,
            },
            _ => StatusCode::BAD_GATEWAY,
        };
        let asked = error.retry_after().map(|wait| wait.as_secs().max(1));
        let retry_after = asked.or((status == StatusCode::SERVICE_UNAVAILABLE).then_some(1));
        Self { status, code: Some(error.code()), message: error.to_string(), retry_after }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let body = serde_json::json!({ "code": self.code, "message": self.message });
        let mut response = (self.status, Json(body)).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        response
    }
}
