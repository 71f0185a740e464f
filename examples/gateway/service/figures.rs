//! Health and statistics, for people, load balancers and Prometheus.

use std::fmt::Write;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use storage_mux::{BackendStats, BackendStatus, MuxStats};

use super::Gateway;

/// `GET /health`: 200 while any backend is up, else 503. It asks no backend, and no token.
pub(super) async fn health(State(gateway): State<Gateway>) -> Response {
    let stats = gateway.mux().stats();
    let up = stats.backends.iter().any(|backend| backend.status == BackendStatus::Up);
    let status = if up { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let backends: serde_json::Map<_, _> = stats
        .backends
        .iter()
        .map(|backend| (backend.name.to_string(), json!(backend.status)))
        .collect();
    (status, Json(json!({ "up": up, "backends": backends }))).into_response()
}

/// `GET /stats`: JSON, or the text of Prometheus for whoever asks for `text/plain`.
pub(super) async fn stats(State(gateway): State<Gateway>, headers: HeaderMap) -> Response {
    let accepts = headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if accepts.trim_start().starts_with("text/plain") {
        return metrics(State(gateway)).await;
    }
    Json(gateway.mux().stats()).into_response()
}

/// `GET /metrics`: the text of Prometheus.
pub(super) async fn metrics(State(gateway): State<Gateway>) -> Response {
    let text = prometheus(&gateway.mux().stats());
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
}

/// One figure of a backend.
type Figure = fn(&BackendStats) -> Option<f64>;

/// The figures of each backend: name, type, help and value.
const FIGURES: [(&str, &str, &str, Figure); 9] = [
    ("up", "gauge", "1 while calls go to the backend.", |b| {
        Some(f64::from(u8::from(b.status == BackendStatus::Up)))
    }),
    ("hits_total", "counter", "Attempts that were answered.", |b| count(b.hits)),
    ("misses_total", "counter", "Attempts that found no key.", |b| count(b.misses)),
    ("errors_total", "counter", "Attempts that failed.", |b| count(b.errors)),
    ("timeouts_total", "counter", "Attempts that timed out.", |b| count(b.timeouts)),
    (
        "cancelled_total",
        "counter",
        "Attempts given up, by the caller or for a peer that answered first.",
        |b| count(b.cancelled),
    ),
    ("in_flight", "gauge", "Calls under way.", |b| count(b.in_flight)),
    ("latency_p50_seconds", "gauge", "Median latency.", |b| seconds(b.p50_latency)),
    ("latency_p99_seconds", "gauge", "99th percentile of latency.", |b| seconds(b.p99_latency)),
];

fn prometheus(stats: &MuxStats) -> String {
    let mut text = String::new();
    for (name, help, value) in [
        ("calls_total", "Calls that were begun.", stats.total_calls),
        ("failovers_total", "Moves from one backend to the next.", stats.total_failovers),
        ("fanout_partials_total", "Writes that some backends lack.", stats.total_fanout_partials),
    ] {
        header(&mut text, name, "counter", help);
        let _ = writeln!(text, "storage_mux_{name}{{mode=\"{}\"}} {value}", stats.mode);
    }
    for (name, kind, help, figure) in FIGURES {
        header(&mut text, &format!("backend_{name}"), kind, help);
        for backend in &stats.backends {
            if let Some(value) = figure(backend) {
                let label = escaped(backend.name.as_str());
                let _ = writeln!(text, "storage_mux_backend_{name}{{backend=\"{label}\"}} {value}");
            }
        }
    }
    text
}

fn header(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP storage_mux_{name} {help}\n# TYPE storage_mux_{name} {kind}");
}

/// A label value as the format wants it.
fn escaped(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[expect(clippy::cast_precision_loss, reason = "Prometheus counts in floating point")]
const fn count(value: u64) -> Option<f64> {
    Some(value as f64)
}

fn seconds(value: Option<Duration>) -> Option<f64> {
    value.map(|value| value.as_secs_f64())
}
