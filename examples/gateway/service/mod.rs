//! The service: its routes, who may use them, and how much.

mod bearer;
mod conditions;
mod failure;
mod figures;
mod listing;
mod object;
mod upload;

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use storage_mux::runtime::tokio::TokioClock;
use storage_mux::{Metadata, MuxMode, SeededRng, SharedStorage, StorageError, StorageMux};

use bearer::Bearer;

/// A mux as a configuration document makes it.
pub(crate) type Mux = StorageMux<SharedStorage, TokioClock, SeededRng>;

/// How much one request may ask for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The longest body of a `PUT`, in bytes.
    pub(crate) body_bytes: u64,
    /// The longest body of a `PUT` with a condition, which is held in memory, in bytes.
    pub(crate) conditional_body_bytes: usize,
    /// The longest range that is read in one piece; a longer one is cut out of the stream.
    pub(crate) range_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { body_bytes: 5 << 30, conditional_body_bytes: 8 << 20, range_bytes: 4 << 20 }
    }
}

/// What all requests share.
#[derive(Clone)]
pub(crate) struct Gateway(Arc<Shared>);

struct Shared {
    mux: Mux,
    /// Whether one version of a value is the same to all who serve it.
    has_tags: bool,
    limits: Limits,
    bearer: Option<Bearer>,
}

impl Gateway {
    /// A gateway to `mux`. With a token, every route but `/health` asks for it.
    pub(crate) fn new(mux: Mux, limits: Limits, token: Option<String>) -> Self {
        // The peers of a mirror count their versions each for itself, and any may answer.
        let has_tags = mux.stats().mode != MuxMode::Mirror;
        let bearer = token.map(|token| Bearer::new(&token));
        Self(Arc::new(Shared { mux, has_tags, limits, bearer }))
    }

    fn mux(&self) -> &Mux {
        &self.0.mux
    }

    fn limits(&self) -> Limits {
        self.0.limits
    }

    /// The metadata of a key, its version only where it means something to clients.
    async fn stat(&self, key: &str) -> Result<Metadata, StorageError> {
        let mut metadata = self.mux().stat(key).await?;
        if !self.0.has_tags {
            metadata.version = None;
        }
        Ok(metadata)
    }
}

/// The routes of a gateway.
pub(crate) fn router(gateway: Gateway) -> Router {
    let object = get(object::read).put(upload::write).delete(object::delete);
    Router::new()
        .route("/objects", get(listing::list))
        .route("/objects/", get(listing::list))
        .route("/objects/{*key}", object)
        .route("/stats", get(figures::stats))
        .route("/metrics", get(figures::metrics))
        .route_layer(from_fn_with_state(gateway.clone(), bearer::check))
        .route("/health", get(figures::health))
        .with_state(gateway)
}
