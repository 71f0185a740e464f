//! The storage in a browser's database.
#![cfg(all(target_arch = "wasm32", target_os = "unknown"))]

use core::cell::RefCell;
use core::future::Future;
use core::pin::pin;
use core::task::{Context, Waker};
use core::time::Duration;

use futures_util::future::{join, join_all};
use futures_util::{SinkExt, StreamExt};
use storage_mux::backend::IndexedDbStorage;
use storage_mux::runtime::wasm::{WasmClock, entropy_seed};
use storage_mux::{
    AbortController, Backend, Clock, Condition, LocalStorage, MuxMode, MuxOptions, OpContext,
    PageRequest, SeededRng, StorageMux, Version, conformance,
};
use wasm_bindgen_test::wasm_bindgen_test;

/// A database that no other test and no earlier run has.
fn fresh() -> IndexedDbStorage {
    IndexedDbStorage::new(fresh_name())
}

fn fresh_name() -> String {
    format!("storage-mux test {:016x}", entropy_seed())
}

fn passes(outcome: Result<conformance::Report, conformance::Failures>) -> conformance::Report {
    outcome.unwrap_or_else(|failures| panic!("{failures}"))
}

/// Spec: CF-1, P-7, P-3
#[wasm_bindgen_test]
async fn the_database_conforms_in_every_operation() {
    let report = passes(conformance::run(&fresh()).await);
    assert!(report.skipped().is_empty(), "{report:?}");
}

/// Spec: CF-2
#[wasm_bindgen_test]
async fn muxes_over_databases_conform() {
    for mode in [MuxMode::Failover, MuxMode::Shield, MuxMode::Mirror] {
        let mux = StorageMux::builder(WasmClock::new(), SeededRng::new(1))
            .backend(Backend::new("a", fresh()))
            .backend(Backend::new("b", fresh()))
            .options(MuxOptions::new().with_mode(mode))
            .build()
            .expect("a mux");
        passes(conformance::run(&mux).await);
    }
}

/// Spec: P-7
#[wasm_bindgen_test]
async fn a_value_outlives_its_handle_and_other_names_have_other_values() {
    let (name, cx) = (fresh_name(), OpContext::new());
    IndexedDbStorage::new(name.clone()).set("k", "kept".into(), &cx).await.expect("stored");
    assert_eq!(IndexedDbStorage::new(name).get("k", &cx).await.expect("kept"), "kept");
    assert!(!fresh().has("k", &cx).await.expect("asked"));
}

/// Spec: P-7
#[wasm_bindgen_test]
async fn a_listing_is_sorted_by_bytes_and_not_by_the_units_of_strings() {
    let (storage, cx) = (fresh(), OpContext::new());
    // As strings of UTF-16 the last two stand the other way round.
    let keys = ["A", "a", "a/b", "é", "\u{ff5e}", "\u{1f980}"];
    for key in keys.iter().rev() {
        storage.set(key, (*key).into(), &cx).await.expect("stored");
    }
    for limit in [1, 2, 100, usize::MAX] {
        let (mut found, mut request) = (Vec::new(), PageRequest::first(limit));
        loop {
            let page = storage.list("", &request, &cx).await.expect("listed");
            assert!(page.entries.len() <= limit);
            for entry in page.entries {
                assert_eq!(entry.metadata.size, entry.key.len() as u64);
                found.push(entry.key);
            }
            let Some(next) = page.next else { break };
            request = PageRequest::after(next, limit);
        }
        assert_eq!(found, keys, "in pages of {limit}");
    }
}

/// Spec: P-7
#[wasm_bindgen_test]
async fn pages_begin_at_any_place_inside_before_and_past_the_prefix() {
    let (storage, cx) = (fresh(), OpContext::new());
    for key in ["a", "b", "b/1", "b/2", "c"] {
        storage.set(key, "v".into(), &cx).await.expect("stored");
    }
    let cases: [(&str, &[&str]); 7] = [
        ("a", &["b", "b/1", "b/2"]),
        ("b", &["b/1", "b/2"]),
        ("b/1", &["b/2"]),
        ("b/10", &["b/2"]),
        ("b/2", &[]),
        ("c", &[]),
        ("zzz", &[]),
    ];
    for (after, expected) in cases {
        let page = storage.list("b", &PageRequest::after(after, 10), &cx).await.expect("listed");
        let found: Vec<&str> = page.entries.iter().map(|entry| &*entry.key).collect();
        assert_eq!((found.as_slice(), page.next), (expected, None), "after {after}");
    }
}

/// Spec: P-3, P-7
#[wasm_bindgen_test]
async fn of_many_conditional_writes_one_wins() {
    let (name, cx) = (fresh_name(), OpContext::new());
    // Handles of their own, as different tabs have them.
    let storages: Vec<_> = (0..10).map(|_| IndexedDbStorage::new(name.clone())).collect();
    let first =
        storages.iter().map(|storage| storage.set_if("k", "first".into(), Condition::Absent, &cx));
    assert_eq!(join_all(first).await.into_iter().filter(Result::is_ok).count(), 1);

    let version = storages[0].stat("k", &cx).await.expect("there").version.expect("versioned");
    let again = storages.iter().map(|storage| {
        storage.set_if("k", "again".into(), Condition::VersionMatches(version.clone()), &cx)
    });
    let results = join_all(again).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    for result in results {
        assert!(result.is_ok() || result.is_err_and(|error| error.is_precondition_failed()));
    }
    let unknown = Condition::VersionMatches(Version::new("no such version"));
    let refused = storages[0].set_if("k", "lost".into(), unknown, &cx).await;
    assert!(refused.expect_err("another version").is_precondition_failed());
    assert_eq!(storages[0].get("k", &cx).await.expect("there"), "again");
}

/// Spec: P-7
#[wasm_bindgen_test]
async fn partial_writes_of_many_handles_are_all_kept() {
    let (name, cx) = (fresh_name(), OpContext::new());
    let storages: Vec<_> = (0..8).map(|_| IndexedDbStorage::new(name.clone())).collect();
    let writes = storages.iter().enumerate().map(|(at, storage)| {
        let digit = at.to_string().into_bytes().into();
        storage.set_partial("k", at as u64, digit, &cx)
    });
    for written in join_all(writes).await {
        written.expect("written");
    }
    assert_eq!(storages[0].get("k", &cx).await.expect("there"), "01234567");
}

/// Spec: P-7
#[wasm_bindgen_test]
async fn a_partial_write_past_the_limit_is_refused_and_changes_nothing() {
    let (storage, cx) = (fresh(), OpContext::new());
    storage.set("k", "value".into(), &cx).await.expect("stored");
    let limit = IndexedDbStorage::MAX_EXTENDED_BYTES;
    for offset in [limit, limit + 1, u64::from(u32::MAX), 1 << 53, u64::MAX] {
        let refused = storage.set_partial("k", offset, "x".into(), &cx).await;
        let refused = refused.expect_err("too far");
        assert_eq!(refused, storage_mux::StorageError::http(413), "{offset}: {refused}");
        assert_eq!(storage.get("k", &cx).await.expect("there"), "value");
    }
}

/// Spec: P-7, SM-2
#[wasm_bindgen_test]
async fn a_write_stream_shows_nothing_until_it_is_closed_and_gives_its_result_again() {
    let (storage, cx) = (fresh(), OpContext::new());
    let mut dropped = storage.set_stream("k", &cx).await.expect("opened");
    dropped.send("lost".into()).await.expect("taken");
    drop(dropped);
    assert!(!storage.has("k", &cx).await.expect("asked"));

    let mut writer = storage.set_stream("k", &cx).await.expect("opened");
    for chunk in ["a", "", "bc"] {
        writer.send(chunk.into()).await.expect("taken");
        assert!(!storage.has("k", &cx).await.expect("asked"));
    }
    writer.close().await.expect("stored");
    writer.close().await.expect("still stored");
    let late = writer.send("d".into()).await.expect_err("closed");
    assert_eq!(late, storage_mux::StorageError::http(409));
    assert_eq!(storage.get("k", &cx).await.expect("there"), "abc");
}

/// Spec: P-7, SM-1
#[wasm_bindgen_test]
async fn a_read_stream_gives_the_value_as_it_was_when_it_was_opened() {
    let (storage, cx) = (fresh(), OpContext::new());
    let value: Vec<u8> = (0..200_000_u32).map(|n| (n % 251) as u8).collect();
    storage.set("k", value.clone().into(), &cx).await.expect("stored");
    let mut reader = storage.get_stream("k", &cx).await.expect("opened");
    storage.set("k", "new".into(), &cx).await.expect("stored");
    let mut read = Vec::new();
    while let Some(chunk) = reader.next().await {
        let chunk = chunk.expect("a chunk");
        assert!((1..=IndexedDbStorage::MAX_CHUNK_BYTES as usize).contains(&chunk.len()));
        read.extend_from_slice(&chunk);
    }
    assert_eq!(read, value);
}

/// Spec: AB-3, AB-5
#[wasm_bindgen_test]
async fn an_aborted_or_dropped_write_is_whole_or_not_at_all() {
    let (storage, cx) = (fresh(), OpContext::new());
    storage.set("k", "old".into(), &cx).await.expect("stored");
    // Polled so many times and then dropped.
    for polls in 1..8 {
        {
            let mut write = pin!(storage.set_partial("k", 0, "NEW".into(), &cx));
            for _ in 0..polls {
                let waker = Context::from_waker(Waker::noop());
                if write.as_mut().poll(&mut { waker }).is_ready() {
                    break;
                }
                WasmClock::new().sleep(Duration::from_millis(1)).await;
            }
        }
        let found = storage.get("k", &cx).await.expect("there");
        assert!(found == "old" || found == "NEW", "{found:?}");
        storage.set("k", "old".into(), &cx).await.expect("stored");
    }

    // The write is asked for and on its way when its future is dropped.
    {
        let mut write = pin!(storage.set("k", "NEW".into(), &cx));
        assert!(write.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    assert_eq!(storage.get("k", &cx).await.expect("there"), "old");

    let controller = AbortController::new();
    let aborted = OpContext::new().with_signal(controller.signal());
    let write = storage.set("k", "NEW".into(), &aborted);
    let (result, ()) = join(write, async { controller.abort() }).await;
    assert_eq!(result, Err(storage_mux::StorageError::aborted()));
    assert_eq!(storage.get("k", &cx).await.expect("there"), "old");
}

/// Spec: P-3
#[wasm_bindgen_test]
async fn a_connection_that_was_closed_is_opened_again() {
    let (storage, cx) = (fresh(), OpContext::new());
    storage.set("k", "v".into(), &cx).await.expect("stored");
    storage.close();
    assert_eq!(storage.get("k", &cx).await.expect("there"), "v");
    // Closed while it is opened.
    storage.close();
    let (found, ()) = join(storage.get("k", &cx), async { storage.close() }).await;
    assert_eq!(found.expect("there"), "v");
    assert_eq!(storage.get("k", &cx).await.expect("there"), "v");
}

/// Spec: P-3
#[wasm_bindgen_test]
async fn another_tab_may_delete_the_database_and_the_storage_begins_anew() {
    let (name, cx) = (fresh_name(), OpContext::new());
    let storage = IndexedDbStorage::new(name.clone());
    storage.set("k", "v".into(), &cx).await.expect("stored");
    // Ends only once every connection has let go.
    let deleted = js_sys::eval(&format!(
        "new Promise((done, failed) => {{
            const request = indexedDB.deleteDatabase({name:?});
            request.onsuccess = () => done(true);
            request.onerror = failed;
        }})"
    ));
    let deleted: js_sys::Promise = deleted.expect("a promise").into();
    deleted.await.expect("deleted");
    assert!(!storage.has("k", &cx).await.expect("asked"));
    storage.set("k", "new".into(), &cx).await.expect("stored");
    assert_eq!(storage.get("k", &cx).await.expect("there"), "new");
}

/// Spec: E-1, E-2
#[wasm_bindgen_test]
async fn a_database_of_someone_else_is_left_alone() {
    let (name, cx) = (fresh_name(), OpContext::new());
    let made = js_sys::eval(&format!(
        "new Promise((done, failed) => {{
            const request = indexedDB.open({name:?}, 7);
            request.onupgradeneeded = () => request.result.createObjectStore('theirs');
            request.onsuccess = () => {{ request.result.close(); done(true); }};
            request.onerror = failed;
        }})"
    ));
    let made: js_sys::Promise = made.expect("a promise").into();
    made.await.expect("made");
    let storage = IndexedDbStorage::new(name);
    let refused = storage.set("k", "v".into(), &cx).await.expect_err("not ours");
    assert_eq!(refused.code(), "STORAGE.OTHER", "{refused}");
    assert!(refused.to_string().contains("VersionError"), "{refused}");
    assert_eq!(storage_mux::classify(&refused), storage_mux::ErrorClass::Transient);
}

/// While it lives, the database's `put` is another function.
struct Puts(js_sys::Function);

impl Puts {
    fn replaced_by(text: &str) -> Self {
        let replace = js_sys::eval(&format!(
            "(() => {{
                const real = IDBObjectStore.prototype.put;
                IDBObjectStore.prototype.put = function (...args) {{ {text} }};
                return () => {{ IDBObjectStore.prototype.put = real; }};
            }})()"
        ));
        Self(replace.expect("replaced").into())
    }
}

impl Drop for Puts {
    fn drop(&mut self) {
        self.0.call0(&wasm_bindgen::JsValue::UNDEFINED).expect("put back");
    }
}

/// Spec: P-7, E-1, E-2
#[wasm_bindgen_test]
async fn a_write_that_the_browser_refuses_or_gives_up_is_no_success_and_leaves_the_old_value() {
    let (storage, cx) = (fresh(), OpContext::new());
    storage.set("k", "old".into(), &cx).await.expect("stored");
    let full = "throw new DOMException('no room', 'QuotaExceededError')";
    // The request succeeds; it is the end of the transaction that fails.
    let given_up = "const request = real.apply(this, args);
        request.onsuccess = () => this.transaction.abort();
        return request;";
    let refusals = [
        (full, storage_mux::StorageError::http(507)),
        (given_up, storage_mux::StorageError::new(storage_mux::StorageErrorKind::Other)),
    ];
    for (text, expected) in refusals {
        let puts = Puts::replaced_by(text);
        let refused = storage.set("k", "new".into(), &cx).await.expect_err("refused");
        assert_eq!(refused, expected, "{refused}");
        assert_eq!(storage_mux::classify(&refused), storage_mux::ErrorClass::Transient);
        let refused = storage.set_partial("k", 0, "new".into(), &cx).await;
        assert_eq!(refused, Err(expected));
        drop(puts);
        assert_eq!(storage.get("k", &cx).await.expect("there"), "old");
    }
}

/// Spec: P-3
#[wasm_bindgen_test]
async fn many_operations_at_once_share_one_opening() {
    let (storage, cx) = (fresh(), OpContext::new());
    let order = RefCell::new(Vec::new());
    let writes = (0..50).map(|n| {
        let (storage, cx, order) = (&storage, &cx, &order);
        async move {
            let key = format!("{n:02}");
            storage.set(&key, key.clone().into(), cx).await.expect("stored");
            order.borrow_mut().push(n);
        }
    });
    join_all(writes).await;
    assert_eq!(order.borrow().len(), 50);
    let page = storage.list("", &PageRequest::first(100), &cx).await.expect("listed");
    assert_eq!(page.entries.len(), 50);
}
