//! Over a real S3 server, in a process of its own on loopback.
//!
//! - `callers`: many callers at once, through a mux and without.
//! - `copy`: a value far larger than memory should hold, streamed to two stores and back.

mod callers;
mod copy;

use object_store::ClientOptions;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use tokio::runtime::Runtime;

pub use callers::rows as callers;
pub use copy::rows as copy;

/// A client of the server on this port, its own retries off.
///
/// # Panics
///
/// Where it cannot be built.
#[must_use]
pub fn client(port: u16) -> AmazonS3 {
    AmazonS3Builder::new()
        .with_endpoint(format!("http://127.0.0.1:{port}"))
        .with_bucket_name("bucket")
        .with_region("us-east-1")
        .with_access_key_id("key")
        .with_secret_access_key("secret")
        // The limit of a request holds for its whole body, however large.
        .with_client_options(ClientOptions::new().with_allow_http(true).with_timeout_disabled())
        .with_retry(object_store::RetryConfig { max_retries: 0, ..Default::default() })
        .build()
        .expect("nothing is missing")
}

/// A runtime as a service has it: a thread for each processor.
fn runtime() -> Runtime {
    let built = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    built.expect("a runtime")
}
