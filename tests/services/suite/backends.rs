//! The servers as backends of a mux, and muxes with timeouts that a test can wait for.

use std::path::Path;
use std::time::{Duration, Instant};

use object_store::ClientOptions;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::local::LocalFileSystem;
use opendal::{Operator, services};
use storage_mux::backend::{ObjectStoreBackend, OpendalBackend};
use storage_mux::retry::{Backoff, RetryOptions};
use storage_mux::runtime::tokio::TokioClock;
use storage_mux::{
    Backend, BackendStatus, MuxMode, MuxOptions, SeededRng, SharedStorage, StorageMux,
};

use crate::server::{BUCKET, Server};

pub(crate) type Mux = StorageMux<SharedStorage, TokioClock, SeededRng>;

/// How long a backend may take. Long beside what they take on a busy machine, short beside a test.
pub(crate) const TIMEOUT: Duration = Duration::from_millis(800);

/// The same for streams, whose chunks are some megabytes.
pub(crate) const STREAM_TIMEOUT: Duration = Duration::from_secs(3);

/// What a backend rests after its first failure.
const COOLDOWN: Duration = Duration::from_millis(150);

/// What it rests at most: longer than all others may take to time out, or each call would pay for
/// one that hangs.
const LONGEST_COOLDOWN: Duration = Duration::from_millis(2_400);

/// S3 through `object_store`, its own retries off.
pub(crate) fn s3(server: &Server) -> ObjectStoreBackend<AmazonS3> {
    let options = ClientOptions::new().with_allow_http(true).with_timeout(Duration::from_secs(20));
    let store = AmazonS3Builder::new()
        .with_endpoint(server.url())
        .with_bucket_name(BUCKET)
        .with_region("us-east-1")
        .with_access_key_id("key")
        .with_secret_access_key("secret")
        .with_client_options(options)
        .with_retry(object_store::RetryConfig { max_retries: 0, ..Default::default() })
        .build()
        .expect("nothing is missing");
    ObjectStoreBackend::new(store).with_conditional_writes(true).with_sorted_listing(true)
}

/// S3 through OpenDAL.
pub(crate) fn s3_by_opendal(server: &Server) -> OpendalBackend {
    let service = services::S3::default()
        .endpoint(&server.url())
        .bucket(BUCKET)
        .region("us-east-1")
        .access_key_id("key")
        .secret_access_key("secret")
        .disable_config_load()
        .disable_ec2_metadata();
    operator(service)
}

pub(crate) fn redis(server: &Server) -> OpendalBackend {
    let address = format!("redis://127.0.0.1:{}", server.port());
    operator(services::Redis::default().endpoint(&address))
}

pub(crate) fn web_dav(server: &Server) -> OpendalBackend {
    operator(services::Webdav::default().endpoint(&server.url()))
}

pub(crate) fn disk(folder: &Path) -> ObjectStoreBackend<LocalFileSystem> {
    let store = LocalFileSystem::new_with_prefix(folder).expect("the folder is there");
    ObjectStoreBackend::on_folder(store, folder)
}

fn operator(service: impl opendal::Builder) -> OpendalBackend {
    // Without its default features OpenDAL has no HTTP until it is told so.
    opendal::install_default();
    OpendalBackend::new(Operator::new(service).expect("nothing is missing"))
}

/// A mux over backends with names.
pub(crate) fn mux<const N: usize>(
    mode: MuxMode,
    timeout: Duration,
    backends: [(&'static str, SharedStorage); N],
) -> Mux {
    let retry = RetryOptions::new()
        .with_max_attempts(2)
        .with_backoff(Backoff::constant(Duration::from_millis(5)));
    let options = MuxOptions::new()
        .with_mode(mode)
        .with_backend_timeout(timeout)
        .with_cooldown(COOLDOWN, LONGEST_COOLDOWN)
        .with_retry(retry);
    StorageMux::builder(TokioClock::new(), SeededRng::new(7))
        .backends(backends.map(|(name, storage)| Backend::new(name, storage)))
        .options(options)
        .build()
        .expect("the options are legal")
}

/// Calls the mux until it takes the backend for healthy.
pub(crate) async fn until_up(mux: &Mux, name: &str) {
    let end = Instant::now() + Duration::from_secs(10);
    while mux.backend_stats(name).expect("it is there").status != BackendStatus::Up {
        assert!(Instant::now() < end, "{name} does not come back");
        // Whatever this call gets, it lets a backend whose cooldown is over be tried.
        let _ = mux.set("nudge", "").await;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
