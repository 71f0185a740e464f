//! Names, kinds, attributes and status, to the letter.

use futures_util::{SinkExt, StreamExt};
use opentelemetry::Value;
use opentelemetry::trace::{SpanKind, Status};
use storage_mux::retry::RetryOptions;
use storage_mux::sim::Fault;
use storage_mux::{Backend, Condition, MemoryStorage, OpContext, SharedStorage, StorageError};

use crate::scene::{Scene, keys, text, value};
use crate::support::{ms, plain};

/// Spec: OT-1
#[test]
fn one_failover_is_one_parent_and_two_attempts_with_their_outcomes() {
    let scene = Scene::new();
    let (mux, stores) = scene.mux(2, plain());
    stores[0].push(Fault::DelayThenFail(ms(5), StorageError::http(503)));
    scene.run(mux.get("k")).expect("b answers");
    assert_eq!(scene.outcomes_of_the_one_call(), ["transient", "ok"]);

    let (calls, attempts) = scene.calls_and_attempts();
    let call = &calls[0];
    assert_eq!((&*call.name, &call.span_kind), ("storage-mux.get", &SpanKind::Internal));
    assert_eq!(keys(call), ["mux.mode", "mux.key"]);
    assert_eq!((text(call, "mux.mode"), text(call, "mux.key")), ("failover".into(), "k".into()));
    assert_eq!(call.status, Status::Unset);

    let expected = [("a", 0, 5.0, Status::error("transient")), ("b", 1, 0.0, Status::Unset)];
    assert_eq!(attempts.len(), 2);
    for (attempt, (name, index, latency, status)) in attempts.iter().zip(expected) {
        assert_eq!(
            (&*attempt.name, &attempt.span_kind),
            ("storage-mux.attempt", &SpanKind::Client)
        );
        assert_eq!(
            keys(attempt),
            ["mux.backend.name", "mux.attempt.index", "mux.mode", "mux.outcome", "mux.latency.ms"]
        );
        assert_eq!(text(attempt, "mux.backend.name"), name);
        assert_eq!(value(attempt, "mux.attempt.index"), &Value::I64(index));
        assert_eq!(text(attempt, "mux.mode"), "failover");
        assert_eq!(value(attempt, "mux.latency.ms"), &Value::F64(latency));
        assert_eq!(attempt.status, status);
    }
}

/// Spec: OT-1
#[test]
fn an_attempt_is_an_error_where_the_backend_failed_and_not_where_it_answered() {
    let scene = Scene::new();
    let (mux, stores) = scene.mux(1, plain());
    scene.run(mux.get("k")).expect("ok");
    scene.run(mux.get("missing")).expect_err("semantic");
    stores[0].push(Fault::Hang);
    let cx = OpContext::new().with_deadline(storage_mux::Instant::from_epoch(ms(10)));
    scene.run(mux.with(&cx).get("k")).expect_err("abort");
    stores[0].push(Fault::Hang);
    scene.run(mux.get("k")).expect_err("timeout");
    stores[0].push(Fault::Fail(StorageError::http(500)));
    scene.run(mux.get("k")).expect_err("transient");

    let (_, attempts) = scene.calls_and_attempts();
    let seen: Vec<_> =
        attempts.iter().map(|span| (text(span, "mux.outcome"), span.status.clone())).collect();
    let expected = [
        ("ok", Status::Unset),
        ("semantic", Status::Unset),
        ("abort", Status::Unset),
        ("timeout", Status::error("timeout")),
        ("transient", Status::error("transient")),
    ];
    assert_eq!(seen, expected.map(|(outcome, status)| (outcome.to_string(), status)));
}

/// Spec: OT-1
#[test]
fn each_operation_has_its_span_and_one_without_a_key_has_no_key() {
    let scene = Scene::new();
    let (mux, _) = scene.mux(1, plain());
    scene
        .run(async {
            mux.get("k").await?;
            mux.set("k", "v").await?;
            mux.set_partial("k", 0, "w").await?;
            mux.has("k").await?;
            mux.stat("k").await?;
            mux.get_range("k", 0..1).await?;
            mux.set_if("new", "v", Condition::Absent).await?;
            mux.list("", &Default::default()).await?;
            let mut reader = mux.get_stream("k").await?;
            while reader.next().await.transpose()?.is_some() {}
            let mut writer = mux.set_stream("k").await?;
            writer.send("v".into()).await?;
            writer.close().await?;
            mux.delete("k").await
        })
        .expect("memory has every operation");
    let (calls, attempts) = scene.calls_and_attempts();
    let names: Vec<_> = calls.iter().map(|span| &*span.name).collect();
    let operations = [
        "get",
        "set",
        "set_partial",
        "has",
        "stat",
        "get_range",
        "set_if",
        "list",
        "get_stream",
        "set_stream",
        "delete",
    ];
    assert_eq!(names, operations.map(|operation| format!("storage-mux.{operation}")));
    assert_eq!(attempts.len(), calls.len());
    for call in &calls {
        assert_eq!(keys(call).contains(&"mux.key"), call.name != "storage-mux.list");
    }
}

/// Spec: IN-1, OT-1
#[test]
fn the_spans_of_a_nested_mux_hang_under_the_attempt_that_asked_it() {
    let scene = Scene::new();
    let leaf = || Backend::new("leaf", SharedStorage::new(MemoryStorage::new()));
    let inner = scene.builder(plain()).backend(leaf()).build().expect("an inner mux");
    let inner = Backend::new("inner", SharedStorage::from(inner));
    let outer = scene.builder(plain()).backend(inner).build().expect("an outer mux");
    scene.run(outer.has("k")).expect("answers");

    // A child ends before its parent.
    let spans = scene.spans();
    let names: Vec<_> = spans.iter().map(|span| &*span.name).collect();
    let (call, attempt) = ("storage-mux.has", "storage-mux.attempt");
    assert_eq!(names, [attempt, call, attempt, call]);
    for (child, parent) in spans.iter().zip(&spans[1..]) {
        assert_eq!(child.parent_span_id, parent.span_context.span_id());
    }
    assert_eq!(text(&spans[0], "mux.backend.name"), "leaf");
    assert_eq!(text(&spans[2], "mux.backend.name"), "inner");
}

/// Spec: OT-1, RC-3
#[test]
fn an_attempt_is_one_span_whatever_its_tries() {
    let scene = Scene::new();
    let (mux, stores) = scene.mux(1, plain().with_retry(RetryOptions::default()));
    stores[0].push(Fault::Fail(StorageError::http(500)));
    scene.run(mux.get("k")).expect("the second try");
    assert_eq!(stores[0].calls(), 2);
    assert_eq!(scene.outcomes_of_the_one_call(), ["ok"]);
}
