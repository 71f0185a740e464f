//! Writing: streams, limits, conditions, and bodies that break off.

use std::io;

use axum::body::{Body, Bytes};
use axum::http::{Method, StatusCode};
use futures_util::stream;
use storage_mux::sim::{FakeClock, Fault, FaultStorage};
use storage_mux::{MemoryStorage, MuxMode, SharedStorage, StorageError};

use crate::client::World;
use crate::service::Limits;

fn limited(body_bytes: u64, conditional_body_bytes: usize) -> World {
    let limits = Limits { body_bytes, conditional_body_bytes, ..Limits::default() };
    World::with(MuxMode::Failover, limits, None)
}

fn chunks(parts: Vec<Result<&'static str, io::Error>>) -> Body {
    Body::from_stream(stream::iter(parts.into_iter().map(|part| part.map(Bytes::from))))
}

#[tokio::test]
async fn a_streamed_body_arrives_whole_and_replaces_what_was_there() {
    let world = World::new();
    world.mux.set("k", "a longer value").await.expect("stored");
    let body = chunks(vec![Ok("in "), Ok(""), Ok("parts")]);
    let answer = world.ask(Method::PUT, "/objects/k", &[], body).await;
    assert_eq!(answer.status, StatusCode::NO_CONTENT);
    assert_eq!(world.mux.get("k").await.expect("stored"), "in parts");
}

#[tokio::test]
async fn a_body_over_the_limit_leaves_nothing_behind() {
    let world = limited(5, 3);
    assert_eq!(world.put("/objects/k", "12345", &[]).await.status, StatusCode::NO_CONTENT);
    world.mux.delete("k").await.expect("deleted");
    let announced = world.put("/objects/k", "", &[("content-length", "6")]).await;
    assert_eq!(announced.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert!(announced.json()["message"].as_str().expect("text").contains("5 bytes"));
    let streamed = chunks(vec![Ok("1234"), Ok("56")]);
    let answer = world.ask(Method::PUT, "/objects/k", &[], streamed).await;
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
    let conditional = world.put("/objects/k", "1234", &[("if-none-match", "*")]).await;
    assert_eq!(conditional.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(world.mux.has("k").await, Ok(false));
    assert!(world.mux.stats().backends.iter().all(|backend| backend.in_flight == 0));
}

#[tokio::test]
async fn a_body_that_breaks_off_leaves_the_old_value() {
    let world = World::new();
    world.mux.set("k", "old").await.expect("stored");
    let broken = chunks(vec![Ok("new"), Err(io::Error::other("the client has gone"))]);
    let answer = world.ask(Method::PUT, "/objects/k", &[], broken).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert_eq!(world.mux.get("k").await.expect("the old value"), "old");
    assert!(world.mux.stats().backends.iter().all(|backend| backend.in_flight == 0));
}

#[tokio::test]
async fn conditions_of_writers_are_decided_by_the_store() {
    let world = World::new();
    let create = [("if-none-match", "*")];
    let first = world.put("/objects/k", "one", &create).await;
    assert_eq!(first.status, StatusCode::NO_CONTENT);
    let tag = first.header("etag").expect("a tag").to_owned();
    assert_eq!(
        world.put("/objects/k", "two", &create).await.status,
        StatusCode::PRECONDITION_FAILED
    );
    let stale = [("if-match", "\"other\"")];
    assert_eq!(
        world.put("/objects/k", "two", &stale).await.status,
        StatusCode::PRECONDITION_FAILED
    );
    let second = world.put("/objects/k", "two", &[("if-match", &tag)]).await;
    assert_eq!(second.status, StatusCode::NO_CONTENT);
    let again = world.put("/objects/k", "three", &[("if-match", &tag)]).await;
    assert_eq!(again.status, StatusCode::PRECONDITION_FAILED);
    let nothing = world.put("/objects/none", "v", &[("if-match", &tag)]).await;
    assert_eq!(nothing.status, StatusCode::PRECONDITION_FAILED);
    assert_eq!(world.mux.get("k").await.expect("stored"), "two");
    for (name, value) in [
        ("if-match", "*"),
        ("if-match", "W/\"x\""),
        ("if-match", "\"a\", \"b\""),
        ("if-match", "x"),
        ("if-none-match", "\"x\""),
    ] {
        let answer = world.put("/objects/k", "v", &[(name, value)]).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{name}: {value}");
    }
    let both = [("if-match", tag.as_str()), ("if-none-match", "*")];
    assert_eq!(world.put("/objects/k", "v", &both).await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_mirror_has_no_condition_for_writers() {
    let world = World::with(MuxMode::Mirror, Limits::default(), None);
    let answer = world.put("/objects/k", "v", &[("if-none-match", "*")]).await;
    assert_eq!(answer.status, StatusCode::NOT_IMPLEMENTED);
    assert_eq!(answer.json()["code"], "STORAGE.UNSUPPORTED");
}

#[tokio::test]
async fn a_key_that_no_backend_takes_is_a_clear_refusal() {
    let world = World::new();
    let limit = world.mux.backend_stats("a").map(|_| {
        use storage_mux::LocalStorage;
        world.mux.capabilities().max_key_bytes()
    });
    let limit = limit.expect("a backend");
    let path = |length: usize| format!("/objects/{}", "k".repeat(length));
    assert_eq!(world.put(&path(limit), "v", &[]).await.status, StatusCode::NO_CONTENT);
    assert_eq!(world.put(&path(limit + 1), "v", &[]).await.status, StatusCode::URI_TOO_LONG);
    assert_eq!(world.get(&path(limit + 1), &[]).await.status, StatusCode::URI_TOO_LONG);
    assert_eq!(world.put("/objects/a%00b", "v", &[]).await.status, StatusCode::BAD_REQUEST);
    let delete = world.ask(Method::DELETE, "/objects/a%00b", &[], Body::empty()).await;
    assert_eq!(delete.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn when_every_backend_fails_the_answer_says_when_to_come_back() {
    let stores = ["a", "b"].map(|name| {
        let store = FaultStorage::new(MemoryStorage::new(), FakeClock::new());
        store.set_always(Fault::Fail(StorageError::http(500)));
        (name, SharedStorage::new(store))
    });
    let world = World::over(stores, MuxMode::Failover, Limits::default(), None);
    let answer = world.put("/objects/k", "v", &[]).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert_eq!(answer.json()["code"], "STORAGE_MUX.ALL_BACKENDS_DOWN");
    let health = world.get("/health", &[]).await;
    assert_eq!(health.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(health.json()["backends"]["a"], "down");
}
