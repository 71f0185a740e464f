//! Reading, with ranges and conditions; deleting; listing.

use axum::body::Body;
use axum::http::{Method, StatusCode};
use storage_mux::{MuxMode, PageRequest};

use crate::client::World;
use crate::service::Limits;

const VALUE: &str = "0123456789";

async fn stored(limits: Limits) -> World {
    let world = World::with(MuxMode::Failover, limits, None);
    world.mux.set("dir/key", VALUE).await.expect("stored");
    world
}

#[tokio::test]
async fn a_value_goes_in_and_out_by_its_key() {
    let world = World::new();
    for (path, key) in [
        ("/objects/plain", "plain"),
        ("/objects/a/b/c", "a/b/c"),
        ("/objects/a%20b%2Fc%25", "a b/c%"),
        ("/objects/%E4%B8%AD", "中"),
    ] {
        assert_eq!(world.put(path, key, &[]).await.status, StatusCode::NO_CONTENT, "{path}");
        assert_eq!(world.mux.get(key).await.expect("stored"), key, "{path}");
        let answer = world.get(path, &[]).await;
        assert_eq!((answer.status, answer.text()), (StatusCode::OK, key), "{path}");
        assert_eq!(answer.header("content-length"), Some(key.len().to_string().as_str()));
        assert_eq!(answer.header("accept-ranges"), Some("bytes"));
    }
    let missing = world.get("/objects/nothing", &[]).await;
    assert_eq!(missing.status, StatusCode::NOT_FOUND);
    assert_eq!(missing.json()["code"], "STORAGE.KEY_NOT_FOUND");
}

#[tokio::test]
async fn head_tells_what_get_would_and_sends_nothing() {
    let world = stored(Limits::default()).await;
    let head = world.ask(Method::HEAD, "/objects/dir/key", &[], Body::empty()).await;
    let get = world.get("/objects/dir/key", &[]).await;
    assert_eq!((head.status, head.body.len()), (StatusCode::OK, 0));
    for name in ["content-length", "etag", "last-modified", "accept-ranges"] {
        assert_eq!(head.header(name), get.header(name), "{name}");
    }
    assert_eq!(head.header("content-length"), Some("10"));
    let missing = world.ask(Method::HEAD, "/objects/nothing", &[], Body::empty()).await;
    assert_eq!(missing.status, StatusCode::NOT_FOUND);
}

/// Both ways of reading a range: in one piece, and out of a stream.
#[tokio::test]
async fn ranges_follow_rfc_9110() {
    for range_bytes in [100, 0] {
        let world = stored(Limits { range_bytes, ..Limits::default() }).await;
        for (asked, status, body, told) in [
            ("bytes=0-0", 206, "0", "bytes 0-0/10"),
            ("bytes=2-4", 206, "234", "bytes 2-4/10"),
            ("bytes=7-", 206, "789", "bytes 7-9/10"),
            ("bytes=9-99", 206, "9", "bytes 9-9/10"),
            ("bytes=0-9", 206, VALUE, "bytes 0-9/10"),
            ("bytes=-3", 206, "789", "bytes 7-9/10"),
            ("bytes=-99", 206, VALUE, "bytes 0-9/10"),
            ("bytes=5-2", 200, VALUE, ""),
            ("bytes=0-1,4-5", 200, VALUE, ""),
            ("lines=0-1", 200, VALUE, ""),
            ("bytes=a-b", 200, VALUE, ""),
        ] {
            let answer = world.get("/objects/dir/key", &[("range", asked)]).await;
            assert_eq!((answer.status.as_u16(), answer.text()), (status, body), "{asked}");
            assert_eq!(answer.header("content-range").unwrap_or_default(), told, "{asked}");
            let length = body.len().to_string();
            assert_eq!(answer.header("content-length"), Some(length.as_str()), "{asked}");
        }
        for asked in ["bytes=10-", "bytes=10-12", "bytes=99-", "bytes=-0"] {
            let answer = world.get("/objects/dir/key", &[("range", asked)]).await;
            assert_eq!(answer.status, StatusCode::RANGE_NOT_SATISFIABLE, "{asked}");
            assert_eq!(answer.header("content-range"), Some("bytes */10"), "{asked}");
        }
    }
}

#[tokio::test]
async fn conditions_of_readers_compare_tags() {
    let world = stored(Limits::default()).await;
    let tag = world.get("/objects/dir/key", &[]).await.header("etag").expect("a tag").to_owned();
    let weak = format!("W/{tag}");
    let among = format!("\"other\", {tag}");
    for (name, value, status) in [
        ("if-none-match", tag.as_str(), 304),
        ("if-none-match", weak.as_str(), 304),
        ("if-none-match", among.as_str(), 304),
        ("if-none-match", "*", 304),
        ("if-none-match", "\"other\"", 200),
        ("if-match", tag.as_str(), 200),
        ("if-match", "*", 200),
        ("if-match", among.as_str(), 200),
        ("if-match", weak.as_str(), 412),
        ("if-match", "\"other\"", 412),
    ] {
        let answer = world.get("/objects/dir/key", &[(name, value)]).await;
        assert_eq!(answer.status.as_u16(), status, "{name}: {value}");
        assert_eq!(answer.header("etag"), Some(tag.as_str()), "{name}: {value}");
        assert_eq!(answer.body.is_empty(), status != 200, "{name}: {value}");
    }
    let fresh = [("range", "bytes=0-1"), ("if-range", tag.as_str())];
    assert_eq!(world.get("/objects/dir/key", &fresh).await.text(), "01");
    let stale = [("range", "bytes=0-1"), ("if-range", "\"other\"")];
    assert_eq!(world.get("/objects/dir/key", &stale).await.text(), VALUE);
}

#[tokio::test]
async fn deleting_is_done_once_and_again() {
    let world = stored(Limits::default()).await;
    for _ in 0..2 {
        let answer = world.ask(Method::DELETE, "/objects/dir/key", &[], Body::empty()).await;
        assert_eq!(answer.status, StatusCode::NO_CONTENT);
        assert_eq!(world.mux.has("dir/key").await, Ok(false));
    }
}

#[tokio::test]
async fn a_listing_is_paged_and_its_limits_are_told() {
    let world = World::new();
    for key in ["a/1", "a/2", "a/3", "b"] {
        world.mux.set(key, "v").await.expect("stored");
    }
    let first = world.get("/objects?prefix=a/&limit=2", &[]).await.json();
    let keys = |page: &serde_json::Value| {
        let entries = page["entries"].as_array().expect("entries").clone();
        entries.iter().map(|entry| entry["key"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(keys(&first), ["a/1", "a/2"]);
    assert_eq!(first["entries"][0]["size"], 1);
    let next =
        format!("/objects?prefix=a/&limit=2&after={}", first["next"].as_str().expect("more"));
    let second = world.get(&next, &[]).await.json();
    assert_eq!((keys(&second), second["next"].is_null()), (vec!["a/3".to_owned()], true));
    assert_eq!(keys(&world.get("/objects", &[]).await.json()).len(), 4);
    assert_eq!(keys(&world.get("/objects/", &[]).await.json()).len(), 4);
    let whole = world.mux.list("", &PageRequest::default()).await.expect("listed");
    assert_eq!(whole.entries.len(), 4);
    for bad in ["limit=0", "limit=1001", "limit=x", "limit=-1", "colour=red"] {
        let answer = world.get(&format!("/objects?{bad}"), &[]).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{bad}");
        assert!(answer.json()["message"].is_string(), "{bad}");
    }
}

/// The peers of a mirror count versions each for itself, so a tag would hold for one of them.
#[tokio::test]
async fn a_mirror_sends_no_tags_and_no_condition_holds_by_chance() {
    let world = World::with(MuxMode::Mirror, Limits::default(), None);
    world.mux.set("k", VALUE).await.expect("stored");
    for _ in 0..8 {
        let plain = world.get("/objects/k", &[]).await;
        assert_eq!((plain.status, plain.header("etag")), (StatusCode::OK, None));
        let known = world.get("/objects/k", &[("if-none-match", "\"1\"")]).await;
        assert_eq!(known.status, StatusCode::OK);
        let asked = world.get("/objects/k", &[("if-match", "\"1\"")]).await;
        assert_eq!(asked.status, StatusCode::PRECONDITION_FAILED);
    }
}
