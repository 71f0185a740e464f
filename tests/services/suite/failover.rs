//! Failover from S3 to Redis to the disk, under a stream of writes.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use futures_util::SinkExt;
use storage_mux::{ErrorClass, MuxMode, SharedStorage, StorageError, classify};

use crate::backends::{Mux, STREAM_TIMEOUT, TIMEOUT, disk, mux, redis, s3, until_up};
use crate::ledger::{Writer, get};
use crate::server::{Kind, Server, folder};

fn three(timeout: Duration, first: &Server, second: &Server, folder: &Path) -> Mux {
    mux(
        MuxMode::Failover,
        timeout,
        [
            ("s3", SharedStorage::new(s3(first))),
            ("redis", SharedStorage::new(redis(second))),
            ("disk", SharedStorage::new(disk(folder))),
        ],
    )
}

/// Spec: FO-1, FO-4, BH-1, HE-4
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_acknowledged_write_is_with_one_of_three_while_the_first_is_killed_and_hung() {
    let mut first = Server::start(Kind::S3).await;
    let mut second = Server::start(Kind::Redis).await;
    let folder = folder();
    let mux = three(TIMEOUT, &first, &second, &folder);
    let writer = Writer::start(mux.clone(), "stream");

    writer.acknowledges(30).await;
    first.kill();
    writer.acknowledges(30).await;
    first.restart().await;
    until_up(&mux, "s3").await;
    writer.acknowledges(30).await;
    first.hang();
    writer.acknowledges(60).await;
    second.kill();
    writer.acknowledges(30).await;
    second.restart().await;
    writer.acknowledges(30).await;
    first.go_on();
    until_up(&mux, "s3").await;
    writer.acknowledges(30).await;

    let ledger = writer.stop().await;
    assert_eq!(ledger.refused, Vec::<String>::new(), "one of three was always there");
    let by_s3 = ledger.held_by(&s3(&first)).await;
    let by_redis = ledger.held_by(&redis(&second)).await;
    let by_disk = ledger.held_by(&disk(&folder)).await;
    for (name, held) in [("s3", &by_s3), ("redis", &by_redis), ("disk", &by_disk)] {
        assert!(held.len() >= 20, "{name} served {} writes", held.len());
    }
    let held: BTreeSet<&str> = by_s3.into_iter().chain(by_redis).chain(by_disk).collect();
    let lost: Vec<_> = ledger.acknowledged.keys().filter(|k| !held.contains(k.as_str())).collect();
    assert!(lost.is_empty(), "lost of {}: {lost:?}", ledger.acknowledged.len());

    // A hung backend costs a timeout when it is tried and not with every write.
    let slow = ledger.times.iter().filter(|time| **time >= TIMEOUT).count();
    assert!(slow >= 1 && slow * 4 < ledger.times.len(), "{slow} of {}", ledger.times.len());
    fs::remove_dir_all(folder).unwrap();
}

/// Spec: FO-3, BH-2
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_finds_what_the_second_took_while_the_first_was_away() {
    let mut first = Server::start(Kind::S3).await;
    let second = Server::start(Kind::Redis).await;
    let folder = folder();
    let mux = three(TIMEOUT, &first, &second, &folder);
    mux.set("before", "1").await.unwrap();
    first.kill();
    mux.set("meanwhile", "2").await.unwrap();
    assert_eq!(mux.get("meanwhile").await.unwrap(), "2");
    // As the documentation says: who did not get a write says so when it is asked again.
    first.restart().await;
    until_up(&mux, "s3").await;
    assert!(mux.get("meanwhile").await.unwrap_err().is_key_not_found());
    assert_eq!(mux.get("before").await.unwrap(), "1");
    assert_eq!(get(&redis(&second), "meanwhile").await.unwrap(), "2");
    fs::remove_dir_all(folder).unwrap();
}

/// Spec: SM-2, SM-5
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_stream_that_a_killed_or_hung_server_cuts_is_refused_and_leaves_nothing() {
    for hangs in [false, true] {
        let mut first = Server::start(Kind::S3).await;
        let second = Server::start(Kind::Redis).await;
        let folder = folder();
        let mux = three(STREAM_TIMEOUT, &first, &second, &folder);
        mux.set("film", "old").await.unwrap();

        let chunk = Bytes::from(vec![7; 1024 * 1024]);
        let mut sink = mux.set_stream("film").await.unwrap();
        for _ in 0..12 {
            sink.send(chunk.clone()).await.unwrap();
        }
        if hangs {
            first.hang()
        } else {
            first.kill()
        }
        let error: StorageError = async {
            for _ in 0..40 {
                sink.send(chunk.clone()).await?;
            }
            sink.close().await
        }
        .await
        .expect_err("its server is away");
        assert_eq!(classify(&error), ErrorClass::Transient, "{error}");

        if hangs {
            first.go_on()
        } else {
            first.restart().await
        }
        assert_eq!(get(&s3(&first), "film").await.unwrap(), "old");
        assert!(get(&redis(&second), "film").await.unwrap_err().is_key_not_found());
        assert!(get(&disk(&folder), "film").await.unwrap_err().is_key_not_found());
        fs::remove_dir_all(folder).unwrap();
    }
}
