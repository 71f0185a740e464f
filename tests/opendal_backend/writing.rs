//! Writes: streams, what a drop leaves behind, conditions and parts of values.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, SinkExt};
use opendal::{Capability, Error, ErrorKind, Execute, Executor};
use storage_mux::{
    Condition, ErrorClass, OpContext, Storage, StorageError, StorageErrorKind, Version, classify,
};

use crate::fake::{Fake, plain};
use crate::support::{drive, get, memory, set};

fn conditional() -> Capability {
    Capability { write_with_if_not_exists: true, write_with_if_match: true, ..plain() }
}

fn failure() -> Error {
    Error::new(ErrorKind::Unexpected, "on cue").set_temporary()
}

/// Spec: P-7, SM-2
#[test]
fn chunks_go_to_the_service_as_they_come_and_are_visible_at_the_close() {
    let fake = Fake::new(plain());
    drive(async {
        let mut writer = fake.backend().set_stream("k", &OpContext::new()).await.unwrap();
        for chunk in ["ab", "", "c"] {
            writer.send(chunk.into()).await.unwrap();
        }
        assert!(fake.script().values.is_empty(), "nothing is visible before the close");
        writer.close().await.unwrap();
        writer.close().await.unwrap();
        let late = writer.send("d".into()).await.unwrap_err();
        assert_eq!(*late.kind(), StorageErrorKind::Http { status: 409, retry_after: None });
    });
    assert_eq!(fake.calls(), ["write k 2", "write k 1", "close k"]);
    assert_eq!(get(&fake.backend(), "k").unwrap(), b"abc");
}

/// Spec: P-7, SM-2
#[test]
fn a_service_that_takes_a_value_in_one_piece_gets_it_at_the_close() {
    let fake = Fake::new(Capability { write_can_multi: false, ..plain() });
    drive(async {
        let mut writer = fake.backend().set_stream("k", &OpContext::new()).await.unwrap();
        writer.send("ab".into()).await.unwrap();
        writer.send("c".into()).await.unwrap();
        assert_eq!(fake.calls(), Vec::<String>::new());
        writer.close().await.unwrap();
    });
    assert_eq!(fake.calls(), ["write k 3", "close k"]);
}

/// Spec: P-7
#[test]
fn what_is_collected_has_its_limit() {
    let backend = memory().with_max_collected_bytes(4);
    let write = |chunks: &[&'static str]| {
        drive(async {
            let mut writer = backend.set_stream("k", &OpContext::new()).await?;
            for chunk in chunks {
                writer.send(Bytes::from(*chunk)).await?;
            }
            writer.close().await
        })
    };
    assert_eq!(write(&["12", "34"]), Ok(()));
    assert_eq!(write(&["12", "345"]), Err(StorageError::http(413)));
    assert_eq!(get(&backend, "k").unwrap(), b"1234", "the one before still stands");
}

/// Spec: P-7, SM-2
#[test]
fn a_chunk_or_a_close_that_fails_ends_the_stream_and_tells_the_service() {
    for at_close in [false, true] {
        let fake = Fake::new(plain());
        set(&fake.backend(), "k", "old").unwrap();
        fake.calls();
        drive(async {
            let mut writer = fake.backend().set_stream("k", &OpContext::new()).await.unwrap();
            match at_close {
                true => fake.script().errors.push_back(failure()),
                false => fake.script().chunk_errors.push_back(failure()),
            }
            let sent = writer.send("new".into()).await;
            assert_eq!(sent.is_ok(), at_close);
            let error = writer.close().await.unwrap_err();
            assert_eq!(classify(&error), ErrorClass::Transient);
            assert_eq!(writer.send("more".into()).await, Err(error.clone()));
            assert_eq!(writer.close().await, Err(error));
        });
        assert_eq!(fake.calls().last().map(String::as_str), Some("abort k"));
        assert_eq!(get(&fake.backend(), "k").unwrap(), b"old");
    }
}

/// Work that was handed over.
#[derive(Clone, Default)]
struct Tray(Arc<Mutex<Vec<BoxFuture<'static, ()>>>>);

impl Execute for Tray {
    fn execute(&self, work: BoxFuture<'static, ()>) {
        self.0.lock().unwrap().push(work);
    }
}

/// Spec: P-7, AB-5
#[test]
fn a_dropped_stream_is_given_up_by_the_executor_it_was_given() {
    let (fake, tray) = (Fake::new(plain()), Tray::default());
    let backend = fake.backend().with_executor(Executor::with(tray.clone()));
    let cx = OpContext::new();
    drop(drive(backend.set_stream("k", &cx)).unwrap());
    assert!(tray.0.lock().unwrap().is_empty(), "the service holds nothing of this one");

    let mut ready = drive(backend.set_stream("k", &cx)).unwrap();
    drive(ready.send("ab".into())).unwrap();
    drop(ready);
    let mut busy = drive(backend.set_stream("k", &cx)).unwrap();
    assert_eq!(busy.feed("cd".into()).now_or_never(), Some(Ok(())));
    drop(busy);
    assert_eq!(fake.calls(), ["write k 2"]);
    for work in tray.0.lock().unwrap().drain(..) {
        drive(work);
    }
    assert_eq!(fake.calls(), ["abort k", "write k 2", "abort k"]);
    assert!(fake.script().values.is_empty());
}

/// Spec: P-7, AB-5
#[tokio::test]
async fn a_dropped_stream_is_given_up_by_the_runtime_of_the_moment() {
    let fake = Fake::new(plain());
    let mut writer = fake.backend().set_stream("k", &OpContext::new()).await.unwrap();
    writer.send("ab".into()).await.unwrap();
    drop(writer);
    tokio::task::yield_now().await;
    assert_eq!(fake.calls(), ["write k 2", "abort k"]);
}

/// Spec: P-7
#[test]
fn a_condition_reaches_the_service_and_a_version_it_never_gave_does_not() {
    let fake = Fake::new(conditional());
    let (backend, cx) = (fake.backend(), OpContext::new());
    let first = drive(backend.set_if("k", "1".into(), Condition::Absent, &cx)).unwrap();
    let refused = Err(StorageError::precondition_failed());
    let again = backend.set_if("k", "2".into(), Condition::Absent, &cx);
    assert_eq!(drive(again).map(drop), refused);
    let version = Condition::VersionMatches(first.version.unwrap());
    drive(backend.set_if("k", "3".into(), version.clone(), &cx)).unwrap();
    assert_eq!(drive(backend.set_if("k", "4".into(), version, &cx)).map(drop), refused);
    assert_eq!(get(&backend, "k").unwrap(), b"3");

    fake.calls();
    let empty = Condition::VersionMatches(Version::new(""));
    assert_eq!(drive(backend.set_if("k", "5".into(), empty, &cx)).map(drop), refused);
    assert_eq!(fake.calls(), Vec::<String>::new());
    // Some services say so where there is nothing to replace.
    fake.script().errors.push_back(Error::new(ErrorKind::NotFound, "nothing there"));
    let stale = Condition::VersionMatches(Version::new("\"7\""));
    assert_eq!(drive(backend.set_if("k", "6".into(), stale, &cx)).map(drop), refused);
}

/// Spec: P-7
#[test]
fn a_partial_write_with_conditions_loses_no_write_of_another() {
    let fake = Fake::new(conditional());
    let (backend, cx) = (fake.backend(), OpContext::new());
    set(&backend, "k", "0123").unwrap();
    fake.script().interlopers.push_back(("k", "abcd"));
    drive(backend.set_partial("k", 1, "XY".into(), &cx)).unwrap();
    assert_eq!(get(&backend, "k").unwrap(), b"aXYd");

    // Without them the last one wins, as the documentation says.
    let backend = backend.with_conditional_writes(false);
    fake.script().interlopers.push_back(("k", "efgh"));
    drive(backend.set_partial("k", 0, "Z".into(), &cx)).unwrap();
    assert_eq!(get(&backend, "k").unwrap(), b"ZXYd");
}

/// Spec: P-7
#[test]
fn a_partial_write_has_its_limit() {
    let (backend, cx) = (memory().with_max_partial_bytes(4), OpContext::new());
    assert_eq!(drive(backend.set_partial("k", 2, "34".into(), &cx)), Ok(()));
    let past = drive(backend.set_partial("k", 3, "45".into(), &cx));
    assert_eq!(past, Err(StorageError::http(413)));
    assert_eq!(get(&backend, "k").unwrap(), b"\0\x0034");
}

/// Spec: P-7
#[test]
fn deleting_what_the_service_does_not_find_succeeds() {
    let fake = Fake::new(plain());
    fake.script().errors.push_back(Error::new(ErrorKind::NotFound, "nothing there"));
    assert_eq!(drive(fake.backend().delete("k", &OpContext::new())), Ok(()));
}
