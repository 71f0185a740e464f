//! Health and statistics.

use axum::http::StatusCode;

use crate::client::World;

#[tokio::test]
async fn health_tells_each_backend_and_asks_none() {
    let world = World::new();
    let answer = world.get("/health", &[]).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.json()["backends"]["a"], "up");
    assert_eq!(answer.json()["backends"]["b"], "up");
    assert_eq!(world.mux.stats().total_calls, 0);
}

#[tokio::test]
async fn statistics_come_as_json_and_as_the_text_of_prometheus() {
    let world = World::new();
    world.put("/objects/k", "v", &[]).await;
    let json = world.get("/stats", &[]).await.json();
    assert_eq!(json["mode"], "failover");
    assert_eq!(json["total_calls"], 1);
    assert_eq!(json["backends"][0]["name"], "a");
    assert_eq!(json["backends"][0]["hits"], 1);

    let text = world.get("/metrics", &[]).await;
    assert_eq!(text.header("content-type"), Some("text/plain; version=0.0.4"));
    let lines: Vec<&str> = text.text().lines().collect();
    for line in [
        "storage_mux_calls_total{mode=\"failover\"} 1",
        "storage_mux_backend_up{backend=\"a\"} 1",
        "storage_mux_backend_hits_total{backend=\"a\"} 1",
        "storage_mux_backend_hits_total{backend=\"b\"} 0",
        "storage_mux_backend_in_flight{backend=\"a\"} 0",
        "# TYPE storage_mux_backend_hits_total counter",
    ] {
        assert!(lines.contains(&line), "{line} is not in\n{}", text.text());
    }
    // A figure that is not there yet is left out, and no other line is of another form.
    let has = |start: &str| lines.iter().any(|line| line.starts_with(start));
    assert!(has("storage_mux_backend_latency_p50_seconds{backend=\"a\"} "));
    assert!(!has("storage_mux_backend_latency_p50_seconds{backend=\"b\"} "));
    let accepted = world.get("/stats", &[("accept", "text/plain")]).await;
    assert_eq!(accepted.header("content-type"), Some("text/plain; version=0.0.4"));
}
