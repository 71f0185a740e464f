//! Who may use the gateway, and how it is started.

use std::path::PathBuf;

use axum::http::StatusCode;
use storage_mux::MuxMode;

use crate::arguments::Arguments;
use crate::client::World;
use crate::service::Limits;

fn parse(line: &str, token: Option<&str>) -> Result<Arguments, String> {
    Arguments::parse(line.split_whitespace().map(str::to_owned), token.map(str::to_owned))
}

#[tokio::test]
async fn with_a_token_every_route_but_health_asks_for_it() {
    let world = World::with(MuxMode::Failover, Limits::default(), Some("s3cret"));
    world.mux.set("k", "v").await.expect("stored");
    for path in ["/objects/k", "/objects", "/stats", "/metrics"] {
        let wrong: [&[(&str, &str)]; 5] = [
            &[],
            &[("authorization", "Bearer other")],
            &[("authorization", "Bearer s3cre")],
            &[("authorization", "Basic s3cret")],
            &[("authorization", "s3cret")],
        ];
        for headers in wrong {
            let answer = world.get(path, headers).await;
            assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{path} {headers:?}");
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        }
        for right in ["Bearer s3cret", "bearer s3cret"] {
            let answer = world.get(path, &[("authorization", right)]).await;
            assert_eq!(answer.status, StatusCode::OK, "{path}");
        }
    }
    assert_eq!(world.put("/objects/k", "w", &[]).await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(world.mux.get("k").await.expect("untouched"), "v");
    assert_eq!(world.get("/health", &[]).await.status, StatusCode::OK);
}

#[test]
fn off_loopback_a_token_is_asked_for() {
    for open in ["0.0.0.0:80", "192.168.1.5:8080", "[::]:80"] {
        let line = format!("mux.toml --listen {open}");
        let error = parse(&line, None).expect_err("open to all");
        assert!(error.contains("GATEWAY_TOKEN"), "{error}");
        assert!(parse(&line, Some("")).is_err(), "an empty token is none");
        assert!(parse(&line, Some("token")).is_ok());
    }
    for local in ["127.0.0.1:0", "127.1.2.3:80", "[::1]:80"] {
        assert!(parse(&format!("mux.toml --listen {local}"), None).is_ok(), "{local}");
    }
}

#[test]
fn the_command_line_is_read_and_mistakes_are_told() {
    let arguments = parse("mux.toml --max-body-bytes 10", None).expect("good arguments");
    assert_eq!(arguments.config, PathBuf::from("mux.toml"));
    assert_eq!(arguments.max_body_bytes, 10);
    assert_eq!(arguments.listen.to_string(), "127.0.0.1:8080");
    for bad in ["", "a b", "a --listen", "a --listen here", "a --max-body-bytes -1", "a --verbose"]
    {
        assert!(parse(bad, None).is_err(), "{bad}");
    }
}
