//! Values that others change: between a look and a read, and behind a condition.

use axum::body::{Body, to_bytes};
use axum::http::{Method, StatusCode};
use object_store::memory::InMemory;
use storage_mux::backend::ObjectStoreBackend;
use storage_mux::{MuxMode, SharedStorage};

use crate::client::World;
use crate::meddler::Meddler;
use crate::service::Limits;

const KEY: &str = "/objects/k";
const PAST: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
const FUTURE: &str = "Fri, 31 Dec 9999 23:59:59 GMT";

#[tokio::test]
async fn a_value_that_changes_its_length_while_it_is_read_never_passes_for_whole() {
    for range_bytes in [100, 0] {
        for (headers, new) in [
            (&[][..], "0123456789 and more"),
            (&[][..], "01234"),
            (&[("range", "bytes=2-")][..], "01234"),
            (&[("range", "bytes=2-8")][..], "01234"),
        ] {
            let storage = Meddler::default();
            let limits = Limits { range_bytes, ..Limits::default() };
            let stores = [("a", SharedStorage::new(storage.clone()))];
            let world = World::over(stores, MuxMode::Failover, limits, None);
            world.mux.set("k", "0123456789").await.expect("stored");
            storage.meddle([new.into()]);
            let response = world.begin(Method::GET, KEY, headers, Body::empty()).await;
            let is_refused = response.status() == StatusCode::SERVICE_UNAVAILABLE;
            let is_whole = to_bytes(response.into_body(), usize::MAX).await.is_ok();
            assert!(is_refused || !is_whole, "{headers:?} {new:?} {range_bytes}");
            assert!(world.mux.stats().backends.iter().all(|backend| backend.in_flight == 0));
        }
    }
}

#[tokio::test]
async fn a_head_has_no_ranges() {
    let world = World::new();
    world.mux.set("k", "0123456789").await.expect("stored");
    for range in ["bytes=0-1", "bytes=99-"] {
        let head = world.ask(Method::HEAD, KEY, &[("range", range)], Body::empty()).await;
        assert_eq!((head.status, head.header("content-length")), (StatusCode::OK, Some("10")));
        assert_eq!(head.header("content-range"), None);
    }
}

#[tokio::test]
async fn a_write_or_delete_under_a_condition_that_nobody_decides_does_nothing() {
    let world = World::new();
    world.mux.set("k", "kept").await.expect("stored");
    for header in [("if-unmodified-since", FUTURE), ("content-range", "bytes 0-0/4")] {
        assert_eq!(world.put(KEY, "v", &[header]).await.status, StatusCode::BAD_REQUEST);
    }
    for header in [("if-match", "\"x\""), ("if-none-match", "*"), ("if-unmodified-since", PAST)] {
        let answer = world.ask(Method::DELETE, KEY, &[header], Body::empty()).await;
        assert_eq!(answer.status, StatusCode::NOT_IMPLEMENTED, "{header:?}");
    }
    assert_eq!(world.mux.get("k").await.expect("still there"), "kept");
}

#[tokio::test]
async fn a_time_is_a_condition_of_readers_where_they_give_no_tag() {
    // A store that knows the time of a change, as the memory of this crate does not.
    let store = ObjectStoreBackend::new(InMemory::new());
    let stores = [("a", SharedStorage::new(store))];
    let world = World::over(stores, MuxMode::Failover, Limits::default(), None);
    world.mux.set("k", "v").await.expect("stored");
    let answer = world.get(KEY, &[]).await;
    let tag = answer.header("etag").expect("a tag").to_owned();
    let now = answer.header("last-modified").expect("a time").to_owned();
    for (headers, expected) in [
        (vec![("if-modified-since", FUTURE)], 304),
        (vec![("if-modified-since", now.as_str())], 304),
        (vec![("if-unmodified-since", now.as_str())], 200),
        (vec![("if-modified-since", PAST)], 200),
        (vec![("if-modified-since", "soon")], 200),
        (vec![("if-unmodified-since", PAST)], 412),
        (vec![("if-unmodified-since", FUTURE)], 200),
        (vec![("if-unmodified-since", PAST), ("if-match", tag.as_str())], 200),
        (vec![("if-modified-since", FUTURE), ("if-none-match", "\"other\"")], 200),
    ] {
        assert_eq!(world.get(KEY, &headers).await.status.as_u16(), expected, "{headers:?}");
    }
}
