//! S3 as the origin of a shield, and the disk as its mirror.

use std::fs;

use storage_mux::{MuxMode, SharedStorage};

use crate::backends::{TIMEOUT, disk, mux, s3, until_up};
use crate::ledger::{Writer, get};
use crate::server::{Kind, Server, folder};

/// Spec: SH-2, SH-3, BH-1
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_acknowledged_write_is_with_the_origin_and_its_mirror() {
    let mut origin = Server::start(Kind::S3).await;
    let folder = folder();
    let mux = mux(
        MuxMode::Shield,
        TIMEOUT,
        [("origin", SharedStorage::new(s3(&origin))), ("disk", SharedStorage::new(disk(&folder)))],
    );
    let writer = Writer::start(mux.clone(), "stream");
    writer.acknowledges(40).await;

    origin.kill();
    writer.refuses(5).await;
    // The copy stands in for reads.
    assert_eq!(mux.get("stream/000000").await.unwrap(), "value 0");
    origin.restart().await;
    until_up(&mux, "origin").await;
    writer.acknowledges(40).await;

    origin.hang();
    writer.refuses(2).await;
    assert_eq!(mux.get("stream/000001").await.unwrap(), "value 1");
    origin.go_on();
    until_up(&mux, "origin").await;
    writer.acknowledges(40).await;

    let ledger = writer.stop().await;
    assert_eq!(ledger.held_by(&s3(&origin)).await.len(), ledger.acknowledged.len());
    assert_eq!(ledger.held_by(&disk(&folder)).await.len(), ledger.acknowledged.len());
    assert_eq!(mux.stats().total_fanout_partials, 0, "the mirror was always there");
    assert!(get(&disk(&folder), "nowhere").await.unwrap_err().is_key_not_found());
    fs::remove_dir_all(folder).unwrap();
}
