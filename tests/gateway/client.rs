//! A gateway over memory, and requests to it.

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{HeaderMap, Method, Request, StatusCode};
use axum::response::Response;
use serde_json::Value;
use storage_mux::retry::RetryOptions;
use storage_mux::runtime::tokio::TokioClock;
use storage_mux::{
    Backend, MemoryStorage, MuxMode, MuxOptions, SeededRng, SharedStorage, StorageMux,
};
use tower::ServiceExt;

use crate::service::{self, Gateway, Limits, Mux};

/// A gateway and the mux behind it.
pub(crate) struct World {
    pub(crate) mux: Mux,
    router: Router,
}

/// An answer, read to its end.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("text")
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("text"))
    }
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(MuxMode::Failover, Limits::default(), None)
    }

    pub(crate) fn with(mode: MuxMode, limits: Limits, token: Option<&str>) -> Self {
        let storages = ["a", "b"].map(|name| (name, SharedStorage::new(MemoryStorage::new())));
        Self::over(storages, mode, limits, token)
    }

    pub(crate) fn over(
        storages: impl IntoIterator<Item = (&'static str, SharedStorage)>,
        mode: MuxMode,
        limits: Limits,
        token: Option<&str>,
    ) -> Self {
        let options = MuxOptions::new().with_mode(mode).with_retry(RetryOptions::none());
        let mux = StorageMux::builder(TokioClock::new(), SeededRng::new(1))
            .backends(storages.into_iter().map(|(name, storage)| Backend::new(name, storage)))
            .options(options)
            .build()
            .expect("two backends");
        let gateway = Gateway::new(mux.clone(), limits, token.map(str::to_owned));
        Self { mux, router: service::router(gateway) }
    }

    pub(crate) async fn ask(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Answer {
        let (parts, body) = self.begin(method, path, headers, body).await.into_parts();
        let body = to_bytes(body, usize::MAX).await.expect("a whole body");
        Answer { status: parts.status, headers: parts.headers, body }
    }

    /// The answer before its body is read.
    pub(crate) async fn begin(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Response {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(body.into()).expect("a request");
        self.router.clone().oneshot(request).await.expect("an answer")
    }

    pub(crate) async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.ask(Method::GET, path, headers, Body::empty()).await
    }

    pub(crate) async fn put(&self, path: &str, body: &str, headers: &[(&str, &str)]) -> Answer {
        self.ask(Method::PUT, path, headers, body.to_owned()).await
    }
}
