//! Streams of S3 that nobody ends, and streams whose server goes away.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use storage_mux::{ErrorClass, MuxMode, OpContext, SharedStorage, Storage, classify};

use crate::backends::{STREAM_TIMEOUT, mux, s3, s3_by_opendal};
use crate::server::{Kind, Server};

const MIB: usize = 1024 * 1024;

/// Files of uploads that were begun and neither completed nor aborted.
fn unfinished(server: &Server) -> usize {
    let folder = server.values().parent().map(Path::to_path_buf).expect("it lies in the server's");
    let names = fs::read_dir(folder).expect("the folder is there").flatten();
    names.filter(|each| each.file_name().to_string_lossy().starts_with(".upload")).count()
}

async fn begun_and_dropped<S: Storage>(server: &Server, storage: &S) {
    let mut sink = storage.set_stream("film", &OpContext::new()).await.unwrap();
    for _ in 0..12 {
        sink.send(Bytes::from(vec![7; MIB])).await.unwrap();
    }
    sink.flush().await.unwrap();
    assert!(unfinished(server) > 0, "parts have arrived");
    drop(sink);
    let end = Instant::now() + Duration::from_secs(5);
    while unfinished(server) > 0 {
        assert!(Instant::now() < end, "the upload is not aborted");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(!storage.has("film", &OpContext::new()).await.unwrap());
}

/// Spec: P-7, AB-5
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upload_that_is_dropped_is_aborted_at_the_server() {
    let server = Server::start(Kind::S3).await;
    begun_and_dropped(&server, &s3(&server)).await;
    begun_and_dropped(&server, &s3_by_opendal(&server)).await;
}

/// Spec: SM-1, SM-3, SM-5
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_stream_whose_server_is_killed_or_hung_ends_in_an_error() {
    for (hangs, by_opendal) in [(false, false), (true, false), (false, true), (true, true)] {
        let mut server = Server::start(Kind::S3).await;
        let storage = match by_opendal {
            true => SharedStorage::new(s3_by_opendal(&server)),
            false => SharedStorage::new(s3(&server)),
        };
        let mux = mux(MuxMode::Failover, STREAM_TIMEOUT, [("s3", storage)]);
        // More than the sockets between the two hold.
        let size = 32 * MIB;
        put(&server, size).await;
        let mut chunks = mux.get_stream("film").await.unwrap();
        let mut seen = chunks.next().await.expect("a first chunk").unwrap().len();
        if hangs {
            server.hang()
        } else {
            server.kill()
        }
        let end = loop {
            match chunks.next().await {
                Some(Ok(chunk)) => seen += chunk.len(),
                end => break end,
            }
        };
        let error = end.expect("no clean end with bytes missing").unwrap_err();
        assert_eq!(classify(&error), ErrorClass::Transient, "{error}");
        assert!(seen < size);
        assert!(chunks.next().await.is_none());
    }
}

/// Puts a value of this size there.
async fn put(server: &Server, size: usize) {
    let value = Bytes::from(vec![7; size]);
    s3(server).set("film", value, &OpContext::new()).await.unwrap();
}
