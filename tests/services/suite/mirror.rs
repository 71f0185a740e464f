//! A mirror of two S3 servers.

use std::time::Instant;

use storage_mux::{MuxMode, SharedStorage};

use crate::backends::{Mux, TIMEOUT, mux, s3, until_up};
use crate::ledger::Writer;
use crate::server::{Kind, Server};

fn pair(left: &Server, right: &Server) -> Mux {
    mux(
        MuxMode::Mirror,
        TIMEOUT,
        [("left", SharedStorage::new(s3(left))), ("right", SharedStorage::new(s3(right)))],
    )
}

/// Spec: MI-3, BH-1
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_acknowledged_write_is_with_each_peer_that_was_there() {
    let left = Server::start(Kind::S3).await;
    let mut right = Server::start(Kind::S3).await;
    let mux = pair(&left, &right);
    let both = Writer::start(mux.clone(), "both");
    both.acknowledges(40).await;
    let both = both.stop().await;
    let partials = || mux.stats().total_fanout_partials;
    assert_eq!(partials(), 0);

    let alone = Writer::start(mux.clone(), "alone");
    right.kill();
    alone.acknowledges(40).await;
    right.restart().await;
    until_up(&mux, "right").await;
    right.hang();
    alone.acknowledges(40).await;
    let alone = alone.stop().await;
    assert!(partials() > 0, "that a peer lacks writes is told");
    right.go_on();
    until_up(&mux, "right").await;

    let again = Writer::start(mux.clone(), "again");
    let before = partials();
    again.acknowledges(40).await;
    let again = again.stop().await;
    assert_eq!(partials(), before, "both are there again");

    for ledger in [&both, &alone, &again] {
        assert_eq!(ledger.refused, Vec::<String>::new());
        assert_eq!(ledger.held_by(&s3(&left)).await.len(), ledger.acknowledged.len());
    }
    for ledger in [&both, &again] {
        assert_eq!(ledger.held_by(&s3(&right)).await.len(), ledger.acknowledged.len());
    }
    let there = alone.held_by(&s3(&right)).await.len();
    let partial = usize::try_from(before).unwrap();
    assert!(there < alone.acknowledged.len() && there + partial >= alone.acknowledged.len());
}

/// Spec: MI-1, MI-2
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_waits_for_no_peer_that_hangs() {
    let left = Server::start(Kind::S3).await;
    let mut right = Server::start(Kind::S3).await;
    let mux = pair(&left, &right);
    mux.set("k", "v").await.unwrap();
    for hung in [&left, &right] {
        hung.hang();
        let begun = Instant::now();
        assert_eq!(mux.get("k").await.unwrap(), "v");
        assert!(begun.elapsed() < TIMEOUT, "{:?}", begun.elapsed());
        hung.go_on();
    }
    right.kill();
    assert_eq!(mux.get("k").await.unwrap(), "v");
}
