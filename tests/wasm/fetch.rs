//! The storage behind `fetch`, against the server of `server.mjs`.
//!
//! The address of the server is known when the tests are compiled: nothing else reaches a page.
#![cfg(all(target_arch = "wasm32", target_os = "unknown"))]

use core::pin::pin;
use core::time::Duration;

use futures_util::future::{Either, join, select};
use futures_util::{SinkExt, StreamExt};
use storage_mux::backend::FetchStorage;
use storage_mux::runtime::wasm::{WasmClock, entropy_seed};
use storage_mux::{
    AbortController, Backend, Clock, Condition, ErrorClass, LocalStorage, MuxMode, MuxOptions,
    NetworkFault, OpContext, Operation, PageRequest, SeededRng, StorageError, StorageErrorKind,
    StorageMux, Version, classify, conformance,
};
use wasm_bindgen_test::wasm_bindgen_test;

const SERVER: &str = match option_env!("STORAGE_MUX_TEST_SERVER") {
    Some(address) => address,
    None => "http://127.0.0.1:1",
};

/// A folder of the server that no other test has.
fn fresh() -> FetchStorage {
    FetchStorage::new(format!("{SERVER}/{:016x}", entropy_seed()))
}

/// The part of the server where things go wrong.
fn faulty() -> FetchStorage {
    FetchStorage::new(format!("{SERVER}/fault/"))
}

fn cx() -> OpContext {
    OpContext::new()
}

/// Spec: CF-1, P-7
#[wasm_bindgen_test]
async fn a_server_conforms_in_all_that_http_can_say() {
    let report = conformance::run(&fresh()).await.unwrap_or_else(|failures| panic!("{failures}"));
    assert!(!report.checked().is_empty());
    let lacking = [Operation::List, Operation::SetPartial];
    for rule in report.skipped() {
        assert!(
            rule.needs().iter().any(|operation| lacking.contains(operation)),
            "{} was skipped",
            rule.id()
        );
    }
}

/// Spec: CF-2
#[wasm_bindgen_test]
async fn muxes_over_servers_conform() {
    for mode in [MuxMode::Failover, MuxMode::Shield, MuxMode::Mirror] {
        let mux = StorageMux::builder(WasmClock::new(), SeededRng::new(1))
            .backend(Backend::new("a", fresh()))
            .backend(Backend::new("b", fresh()))
            .options(MuxOptions::new().with_mode(mode))
            .build()
            .expect("a mux");
        conformance::run(&mux).await.unwrap_or_else(|failures| panic!("{mode}: {failures}"));
    }
}

/// Spec: P-3, MX-5
#[wasm_bindgen_test]
async fn what_http_cannot_say_is_unsupported_and_not_declared() {
    let storage = fresh();
    for operation in Operation::ALL {
        let can = !matches!(operation, Operation::List | Operation::SetPartial);
        assert_eq!(storage.capabilities().contains(operation), can, "{operation}");
    }
    let listed = storage.list("", &PageRequest::default(), &cx()).await;
    assert_eq!(listed, Err(StorageError::unsupported()));
    let written = storage.set_partial("k", 0, "x".into(), &cx()).await;
    assert_eq!(written, Err(StorageError::unsupported()));
}

/// Spec: E-1, E-2, P-7
#[wasm_bindgen_test]
async fn each_status_is_the_error_that_it_means() {
    let storage = faulty();
    for missing in ["status/404", "status/410"] {
        assert!(storage.get(missing, &cx()).await.expect_err("missing").is_key_not_found());
        assert!(storage.stat(missing, &cx()).await.expect_err("missing").is_key_not_found());
        assert!(storage.get_stream(missing, &cx()).await.expect_err("none").is_key_not_found());
        assert_eq!(storage.has(missing, &cx()).await, Ok(false));
        assert_eq!(storage.delete(missing, &cx()).await, Ok(()));
        // A write that does not find its place is not told that a key is missing.
        let refused = storage.set(missing, "v".into(), &cx()).await.expect_err("refused");
        assert!(matches!(refused.kind(), StorageErrorKind::Http { status: 404 | 410, .. }));
    }
    let classes = [
        (400, ErrorClass::Semantic),
        (401, ErrorClass::Semantic),
        (403, ErrorClass::Semantic),
        (409, ErrorClass::Semantic),
        (408, ErrorClass::Transient),
        (429, ErrorClass::Transient),
        (500, ErrorClass::Transient),
        (503, ErrorClass::Transient),
        (599, ErrorClass::Transient),
    ];
    for (status, class) in classes {
        let key = format!("status/{status}");
        let errors = [
            storage.get(&key, &cx()).await.expect_err("refused"),
            storage.has(&key, &cx()).await.expect_err("refused"),
            storage.stat(&key, &cx()).await.expect_err("refused"),
            storage.delete(&key, &cx()).await.expect_err("refused"),
            storage.get_range(&key, 0..1, &cx()).await.expect_err("refused"),
            storage.set(&key, "v".into(), &cx()).await.expect_err("refused"),
            storage.get_stream(&key, &cx()).await.map(drop).expect_err("refused"),
            storage.set_if(&key, "v".into(), Condition::Absent, &cx()).await.expect_err("refused"),
        ];
        for error in errors {
            assert_eq!(error, StorageError::http(status), "{error}");
            assert_eq!(classify(&error), class, "{error}");
        }
    }
}

/// Spec: E-1, HE-2
#[wasm_bindgen_test]
async fn a_retry_after_is_kept_whether_it_is_a_number_or_a_date() {
    let storage = faulty();
    let after = async |key: &str| {
        let error = storage.get(key, &cx()).await.expect_err("refused");
        error.retry_after()
    };
    assert_eq!(after("status/503/after/120").await, Some(Duration::from_secs(120)));
    assert_eq!(after("status/429/after/0").await, Some(Duration::ZERO));
    assert_eq!(after("status/429/after/ 7 ").await, Some(Duration::from_secs(7)));
    // More than can be told is for ever; nonsense is nothing.
    let endless = "status/503/after/99999999999999999999999999";
    assert_eq!(after(endless).await, Some(Duration::from_secs(u64::MAX)));
    for nonsense in ["soon", "-5", "1.5.2", "NaN"] {
        assert_eq!(after(&format!("status/503/after/{nonsense}")).await, None, "{nonsense}");
    }
    assert_eq!(after("status/503").await, None);
    // Dates have whole seconds, and a moment passes.
    let wait = after("later/503/90000").await.expect("a date");
    assert!((80..=90).contains(&wait.as_secs()), "{wait:?}");
    assert_eq!(after("later/429/-90000").await, Some(Duration::ZERO), "a date gone by");
}

/// Spec: E-1, E-2
#[wasm_bindgen_test]
async fn a_server_that_does_not_answer_is_a_network_fault() {
    let dropped = faulty().get("dropped", &cx()).await.expect_err("no answer");
    assert_eq!(dropped, StorageError::network(NetworkFault::Other), "{dropped}");
    // The port for which nobody listens.
    let nobody = FetchStorage::new("http://127.0.0.1:1/");
    let refused = nobody.get("k", &cx()).await.expect_err("no server");
    assert_eq!(refused, StorageError::network(NetworkFault::Other), "{refused}");
    assert_eq!(classify(&refused), ErrorClass::Transient);
    let nowhere = FetchStorage::new("http://[").get("k", &cx()).await.expect_err("no address");
    assert_eq!(nowhere, StorageError::network(NetworkFault::Other), "{nowhere}");
}

/// Spec: SM-5, E-1
#[wasm_bindgen_test]
async fn an_answer_that_breaks_off_is_an_error_and_never_a_short_value() {
    let storage = faulty();
    let reset = StorageError::network(NetworkFault::Reset);
    assert_eq!(storage.get("torn", &cx()).await, Err(reset.clone()));
    let mut reader = storage.get_stream("torn", &cx()).await.expect("begun");
    let mut last = None;
    while let Some(chunk) = reader.next().await {
        assert!(last.is_none(), "a chunk after an error");
        last = chunk.err();
    }
    assert_eq!(last, Some(reset));
    assert!(reader.next().await.is_none(), "after an error the stream ends");
}

/// Spec: P-7
#[wasm_bindgen_test]
async fn a_range_is_right_whatever_the_server_makes_of_it() {
    let storage = faulty();
    // A server that sends all of it.
    assert_eq!(storage.get_range("whole", 3..6, &cx()).await.expect("a part"), "345");
    assert_eq!(storage.get_range("whole", 8..100, &cx()).await.expect("a part"), "89");
    let past = storage.get_range("whole", 10..11, &cx()).await;
    assert_eq!(past, Err(StorageError::range_not_satisfiable()));
    // One that sends another part.
    let shifted = storage.get_range("shifted", 2..6, &cx()).await;
    assert_eq!(shifted, Err(StorageError::network(NetworkFault::Other)));
    assert_eq!(storage.get_range("shifted", 5..9, &cx()).await.expect("a part"), "5678");
    // One that sends less than was asked for, though there is more.
    let short = storage.get_range("short/10", 2..6, &cx()).await;
    assert_eq!(short, Err(StorageError::network(NetworkFault::Other)));
    assert_eq!(storage.get_range("short/10", 2..4, &cx()).await.expect("a part"), "23");
    // The same is right where there is no more, and cannot be known where the size is not told.
    assert_eq!(storage.get_range("short/4", 2..6, &cx()).await.expect("a part"), "23");
    let untold = storage.get_range("short/*", 2..6, &cx()).await;
    assert_eq!(untold, Err(StorageError::network(NetworkFault::Other)));
}

/// Spec: SM-5, P-7
#[wasm_bindgen_test]
async fn a_part_that_nobody_asked_for_is_not_taken_for_the_whole() {
    let storage = faulty();
    let expected = StorageError::network(NetworkFault::Other);
    assert_eq!(storage.get("shifted", &cx()).await, Err(expected.clone()));
    let stream = storage.get_stream("shifted", &cx()).await.map(drop);
    assert_eq!(stream, Err(expected));
}

/// Spec: P-7
#[wasm_bindgen_test]
async fn a_server_that_hides_the_size_cannot_stat_and_a_weak_tag_is_no_version() {
    let storage = faulty();
    let stat = storage.stat("vague", &cx()).await.expect_err("no size");
    assert_eq!(stat, StorageError::unsupported(), "{stat}");
    assert_eq!(storage.has("vague", &cx()).await, Ok(true));
    let written = storage.set("vague", "v".into(), &cx()).await.expect("taken");
    assert_eq!(written.version, None);
    for unknown in ["W/\"alike\"", "no tag", "\"two\", \"tags\"", "\"line\nbreak\"", ""] {
        let condition = Condition::VersionMatches(Version::new(unknown));
        let refused = fresh().set_if("k", "v".into(), condition, &cx()).await;
        assert!(refused.expect_err("no such version").is_precondition_failed(), "{unknown:?}");
    }
}

/// Spec: P-7
#[wasm_bindgen_test]
async fn what_stands_is_told_by_the_write_and_by_the_stat() {
    let storage = fresh();
    let written = storage.set("k", "value".into(), &cx()).await.expect("stored");
    let stat = storage.stat("k", &cx()).await.expect("there");
    assert_eq!((stat.size, &stat.version), (5, &written.version));
    let year = 365 * 24 * 60 * 60 * 1_000;
    assert!(stat.modified_unix_ms.is_some_and(|ms| ms > 50 * year), "{stat:?}");
    let version = written.version.expect("versioned");
    // A conditional write to a key that is gone.
    storage.delete("k", &cx()).await.expect("deleted");
    let gone = Condition::VersionMatches(version);
    let refused = storage.set_if("k", "v".into(), gone.clone(), &cx()).await;
    assert!(refused.expect_err("gone").is_precondition_failed());
    // A server that calls it not found.
    let refused = faulty().set_if("status/404", "v".into(), gone, &cx()).await;
    assert!(refused.expect_err("gone").is_precondition_failed());
}

/// Spec: P-7
#[wasm_bindgen_test]
async fn a_key_that_an_address_would_resolve_is_refused() {
    let storage = fresh();
    for key in [".", "..", "a/../b", "./a", "a/."] {
        let refused = storage.set(key, "v".into(), &cx()).await.expect_err("refused");
        assert_eq!(refused.code(), "STORAGE.INVALID_KEY", "{key}");
    }
    for key in ["...", "a/..b", "%2e%2e/a", ".a", "a//b", "/a", "a/"] {
        storage.set(key, key.to_owned().into(), &cx()).await.expect("stored");
        assert_eq!(storage.get(key, &cx()).await.expect("there"), key);
    }
}

/// Spec: AB-4, AB-5
#[wasm_bindgen_test]
async fn a_dropped_future_an_aborted_call_and_a_dropped_stream_abort_their_requests() {
    let storage = faulty();
    let clock = WasmClock::new();
    let hanging = async || {
        let state = storage.get("hanging", &cx()).await.expect("told");
        String::from_utf8(state.to_vec()).expect("text")
    };
    // Waits until the server sees it so, but not for ever.
    let comes_to = async |expected: &str| {
        for _ in 0..200 {
            if hanging().await == expected {
                return;
            }
            clock.sleep(Duration::from_millis(10)).await;
        }
        panic!("{} and not {expected}", hanging().await);
    };
    let before = hanging().await;
    let aborted: u32 = before
        .trim_end_matches('}')
        .rsplit(':')
        .next()
        .and_then(|count| count.parse().ok())
        .expect("a count");
    assert!(before.starts_with("{\"open\":0,"), "{before}");
    let seen = |open: u32, more: u32| format!("{{\"open\":{open},\"aborted\":{}}}", aborted + more);

    {
        let (context, begun) = (cx(), seen(1, 0));
        let call = pin!(storage.get("hang", &context));
        assert!(matches!(select(call, pin!(comes_to(&begun))).await, Either::Right(_)));
    }
    comes_to(&seen(0, 1)).await;

    let controller = AbortController::new();
    let context = OpContext::new().with_signal(controller.signal());
    let abort = async {
        comes_to(&seen(1, 1)).await;
        controller.abort();
    };
    let (result, ()) = join(storage.has("hang", &context), abort).await;
    assert_eq!(result, Err(StorageError::aborted()));
    comes_to(&seen(0, 2)).await;

    let mut reader = storage.get_stream("stall", &cx()).await.expect("begun");
    assert_eq!(reader.next().await.expect("a chunk").expect("sent"), "0123456789");
    drop(reader);
    comes_to(&seen(0, 3)).await;
}

/// Spec: BH-1, FO-1
#[wasm_bindgen_test]
async fn a_mux_leaves_a_server_that_hangs_for_one_that_answers() {
    let well = fresh();
    well.set("hang", "value".into(), &cx()).await.expect("stored");
    let mux = StorageMux::builder(WasmClock::new(), SeededRng::new(1))
        .backend(Backend::new("hangs", faulty()))
        .backend(Backend::new("well", well))
        .options(MuxOptions::new().with_backend_timeout(Duration::from_millis(100)))
        .build()
        .expect("a mux");
    assert_eq!(mux.get("hang").await.expect("the second answers"), "value");
    assert_eq!(mux.stats().backends[0].timeouts, 1);
}

/// Spec: P-3
#[wasm_bindgen_test]
async fn headers_of_ones_own_are_sent_and_illegal_ones_fail_the_call() {
    let storage = faulty().with_header("x-token", "secret");
    assert_eq!(storage.get("echo", &cx()).await.expect("told"), "GET secret");
    assert!(!format!("{storage:?}").contains("secret"), "a secret in a log");
    for (name, value) in [("x-token", "secret\nbreak"), ("se cret", "v"), ("", "secret")] {
        let illegal = faulty().with_header(name, value);
        let refused = illegal.get("echo", &cx()).await.expect_err("no such header");
        assert_eq!(refused, StorageError::new(StorageErrorKind::Other), "{refused}");
        assert!(!format!("{refused} {refused:?}").contains("cret"), "{refused:?}");
    }
}

/// Spec: E-5
#[wasm_bindgen_test]
async fn an_address_that_cannot_be_asked_is_not_repeated_in_the_error() {
    for address in ["http://user:secret@127.0.0.1:1/", "http://secret:port/", "secret://[/"] {
        let refused = FetchStorage::new(address).get("k", &cx()).await.expect_err("no answer");
        assert_eq!(refused, StorageError::network(NetworkFault::Other), "{refused}");
        assert!(!format!("{refused} {refused:?}").contains("secret"), "{refused:?}");
    }
}

/// Spec: P-7, SM-2
#[wasm_bindgen_test]
async fn a_write_stream_is_one_put_at_its_close() {
    let storage = fresh();
    let mut writer = storage.set_stream("k", &cx()).await.expect("opened");
    for chunk in ["a", "b", "c"] {
        writer.send(chunk.into()).await.expect("taken");
    }
    assert_eq!(storage.has("k", &cx()).await, Ok(false));
    writer.close().await.expect("stored");
    assert_eq!(storage.get("k", &cx()).await.expect("there"), "abc");
    // A refusal is the error of the close, also when it is asked again.
    let mut refused = faulty().set_stream("status/507", &cx()).await.expect("opened");
    refused.send("a".into()).await.expect("taken");
    for _ in 0..2 {
        assert_eq!(refused.close().await, Err(StorageError::http(507)));
    }
}
