//! Who may use the service.

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

use super::Gateway;
use super::failure::Failure;

/// A token, as its digest: digests of equal length are compared in a time that tells nothing of
/// the token.
pub(super) struct Bearer([u8; 32]);

impl Bearer {
    pub(super) fn new(token: &str) -> Self {
        Self(Sha256::digest(token.as_bytes()).into())
    }

    fn accepts(&self, header: Option<&HeaderValue>) -> bool {
        let given = header
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        given.is_some_and(|(_, token)| Self::new(token.trim()).0 == self.0)
    }
}

/// Lets a request through that carries the token, where there is one.
pub(super) async fn check(
    State(gateway): State<Gateway>,
    request: Request,
    next: Next,
) -> Response {
    let header = request.headers().get(AUTHORIZATION);
    if gateway.0.bearer.as_ref().is_none_or(|bearer| bearer.accepts(header)) {
        return next.run(request).await;
    }
    let refusal =
        Failure::new(StatusCode::UNAUTHORIZED, "send Authorization: Bearer and the token");
    ([(WWW_AUTHENTICATE, "Bearer")], refusal).into_response()
}
