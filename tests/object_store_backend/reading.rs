//! Reads whose store does not keep its word, and ranges.

use std::pin::Pin;

use bytes::Bytes;
use futures_util::StreamExt;
use object_store::memory::InMemory;
use storage_mux::backend::ObjectStoreBackend;
use storage_mux::{
    Condition, ErrorClass, OpContext, Storage, StorageError, StorageErrorKind, Version, classify,
};

use crate::fake::{Fake, failure};
use crate::support::{Scratch, drive, get, set};

/// A store that holds ten bytes and gives these chunks instead.
fn store(chunks: Vec<object_store::Result<Bytes>>) -> (Fake, ObjectStoreBackend<Fake>) {
    let fake = Fake::default();
    let backend = ObjectStoreBackend::new(fake.clone());
    set(&backend, "k", "0123456789").unwrap();
    fake.script().body = Some(chunks);
    (fake, backend)
}

fn chunk(text: &'static str) -> object_store::Result<Bytes> {
    Ok(Bytes::from_static(text.as_bytes()))
}

/// Everything a read stream gives, its end and a few more polls included.
fn streamed(backend: &ObjectStoreBackend<Fake>) -> (Vec<u8>, Vec<StorageError>) {
    drive(async {
        let mut reader = backend.get_stream("k", &OpContext::new()).await.expect("it opens");
        let (mut bytes, mut errors) = (Vec::new(), Vec::new());
        while let Some(item) = reader.next().await {
            match item {
                Ok(chunk) => bytes.extend_from_slice(&chunk),
                Err(error) => errors.push(error),
            }
            assert!(errors.len() < 3, "the error comes once");
        }
        for _ in 0..10 {
            assert!(Pin::new(&mut reader).next().await.is_none(), "the end is the end");
        }
        (bytes, errors)
    })
}

/// Case ST-04. Spec: SM-5
#[test]
fn a_stream_that_ends_before_its_size_ends_in_an_error() {
    for (chunks, given) in
        [(vec![], 0), (vec![chunk("0123")], 4), (vec![chunk("0123"), chunk(""), chunk("45678")], 9)]
    {
        let (fake, backend) = store(chunks);
        let (bytes, errors) = streamed(&backend);
        assert_eq!(bytes.len(), given);
        let [error] = errors.as_slice() else { panic!("one error, not {errors:?}") };
        assert_eq!(classify(error), ErrorClass::Transient);
        assert!(error.to_string().contains(&format!("{given} of 10 bytes")), "{error}");
        let polls = fake.polls();
        assert!(polls <= given + 2, "not polled again after the error, but {polls} times");
    }
}

/// Spec: SM-5
#[test]
fn a_stream_of_just_its_size_ends_cleanly() {
    for chunks in [
        vec![chunk("0123456789")],
        vec![chunk(""), chunk("01234"), chunk(""), chunk("56789"), chunk("")],
    ] {
        let (_, backend) = store(chunks);
        assert_eq!(streamed(&backend), (b"0123456789".to_vec(), vec![]));
    }
}

/// Spec: SM-5
#[test]
fn a_stream_of_more_than_its_size_ends_in_an_error() {
    let (_, backend) = store(vec![chunk("0123456789"), chunk("0")]);
    let (bytes, errors) = streamed(&backend);
    assert_eq!((bytes.len(), errors.len()), (10, 1));
}

/// Spec: SM-5
#[test]
fn a_stream_that_fails_gives_the_error_once_and_ends() {
    let (_, backend) = store(vec![chunk("0123"), Err(failure("cut")), chunk("456789")]);
    let (bytes, errors) = streamed(&backend);
    assert_eq!(bytes, b"0123");
    assert_eq!(errors, [StorageError::other("cut")]);
}

/// Spec: SM-5
#[test]
fn a_stream_of_empty_chunks_without_end_ends_in_an_error() {
    let (fake, backend) = store((0..100_000).map(|_| chunk("")).collect());
    let (bytes, errors) = streamed(&backend);
    assert_eq!((bytes.len(), errors.len()), (0, 1));
    assert!(fake.polls() < 10_000, "it is not waited for for ever");
}

/// A file that is cut short while it is read gives empty chunks for ever.
///
/// Spec: SM-5
#[test]
fn a_file_that_is_cut_short_while_it_is_read_ends_in_an_error() {
    let scratch = Scratch::new();
    let backend = scratch.backend();
    set(&backend, "k.bin", &"x".repeat(100_000)).unwrap();
    let result = drive(async {
        let mut reader = backend.get_stream("k.bin", &OpContext::new()).await?;
        let file = std::fs::OpenOptions::new().write(true).open(scratch.root().join("k.bin"));
        file.and_then(|file| file.set_len(20_000)).expect("the file can be cut");
        let mut given = 0;
        while let Some(chunk) = reader.next().await {
            given += chunk?.len();
        }
        Ok::<usize, StorageError>(given)
    });
    assert_eq!(classify(&result.expect_err("the end is missing")), ErrorClass::Transient);
}

/// Spec: P-7
#[test]
fn a_whole_value_of_the_wrong_length_is_an_error() {
    for chunks in [vec![chunk("0123")], vec![chunk("0123456789"), chunk("0")]] {
        let (_, backend) = store(chunks);
        let error = get(&backend, "k").expect_err("the length is wrong");
        assert_eq!(classify(&error), ErrorClass::Transient, "{error}");
    }
}

/// Spec: P-7
#[test]
fn ranges_ask_the_store_once_and_again_only_to_explain() {
    let (fake, backend) = store(vec![]);
    fake.script().body = None;
    fake.calls();
    let cx = OpContext::new();
    let range = |start, end| drive(backend.get_range("k", start..end, &cx));
    assert_eq!(range(2, 5).unwrap(), "234");
    assert_eq!(fake.calls(), ["get"]);
    assert_eq!(range(8, u64::MAX).unwrap(), "89");
    assert_eq!(range(3, 3).unwrap(), "");
    assert_eq!(fake.calls(), ["get", "head"]);
    assert_eq!(range(10, 11), Err(StorageError::range_not_satisfiable()));
    assert_eq!(range(10, 10), Err(StorageError::range_not_satisfiable()));
    assert_eq!(fake.calls(), ["get", "head", "head"]);
    fake.script().errors.push_back(failure("broken"));
    assert_eq!(range(2, 5), Err(StorageError::other("broken")));
    let missing = drive(backend.get_range("missing", 0..1, &cx)).expect_err("no value");
    assert_eq!(*missing.kind(), StorageErrorKind::KeyNotFound);
}

/// Servers of S3 have refused more as a number that they cannot read.
///
/// Spec: P-7
#[test]
fn no_store_is_asked_for_a_byte_that_a_signed_number_cannot_count() {
    let (fake, backend) = store(vec![]);
    fake.script().body = None;
    let last = i64::MAX.unsigned_abs();
    let range = |range| drive(backend.get_range("k", range, &OpContext::new()));
    for (end, asked) in [(last - 1, last - 1), (last, last), (last + 1, last), (u64::MAX, last)] {
        assert_eq!(range(8..end).unwrap(), "89");
        assert_eq!(fake.script().range_end, Some(asked));
    }
    fake.script().range_end = None;
    for start in [last, u64::MAX - 1] {
        assert_eq!(range(start..u64::MAX), Err(StorageError::range_not_satisfiable()));
    }
    assert_eq!(fake.script().range_end, None, "the size tells enough");
}

/// Spec: P-7
#[test]
fn stat_tells_size_version_and_time() {
    let scratch = Scratch::new();
    let backend = scratch.backend();
    let cx = OpContext::new();
    let written = drive(backend.set("k", "0123".into(), &cx)).unwrap();
    let known = drive(backend.stat("k", &cx)).unwrap();
    assert_eq!(known.size, 4);
    assert!(known.version.is_some());
    assert_eq!(known.version, written.version);
    let file = std::fs::metadata(scratch.root().join("k%f")).unwrap();
    let modified = file.modified().unwrap().duration_since(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(known.modified_unix_ms.map(u128::from), Some(modified.as_millis()));
    let page = drive(backend.list("", &Default::default(), &cx)).unwrap();
    assert_eq!(page.entries[0].metadata, known);
}

/// Spec: P-3, MX-5
#[test]
fn conditional_writes_are_there_when_the_store_is_said_to_have_them() {
    let cx = OpContext::new();
    let backend = ObjectStoreBackend::new(InMemory::new());
    let refused = drive(backend.set_if("k", "v".into(), Condition::Absent, &cx));
    assert_eq!(refused, Err(StorageError::unsupported()));

    let backend = backend.with_conditional_writes(true);
    let made = drive(backend.set_if("k", "v".into(), Condition::Absent, &cx)).unwrap();
    let current = Condition::VersionMatches(made.version.expect("memory has versions"));
    assert!(drive(backend.set_if("k", "w".into(), current.clone(), &cx)).is_ok());
    for stale in [current, Condition::VersionMatches(Version::new(""))] {
        let lost = drive(backend.set_if("k", "x".into(), stale, &cx));
        assert_eq!(lost, Err(StorageError::precondition_failed()));
    }
    assert_eq!(get(&backend, "k").unwrap(), b"w");

    // Some stores answer that there is nothing to update.
    let fake = Fake::default();
    let backend = ObjectStoreBackend::new(fake.clone()).with_conditional_writes(true);
    let gone = object_store::Error::NotFound { path: "k".into(), source: "gone".into() };
    fake.script().errors.push_back(gone);
    let condition = Condition::VersionMatches(Version::new("\"1\"\n2"));
    let lost = drive(backend.set_if("k", "x".into(), condition, &cx));
    assert_eq!(lost, Err(StorageError::precondition_failed()));
}

/// Spec: P-3, MX-5
#[test]
fn a_store_that_can_only_create_has_that_half() {
    let cx = OpContext::new();
    let fake = Fake::default();
    let backend = ObjectStoreBackend::new(fake.clone()).with_create_only_writes();
    assert!(backend.capabilities().contains(storage_mux::Operation::SetIf));
    let made = drive(backend.set_if("k", "v".into(), Condition::Absent, &cx)).unwrap();
    let lost = drive(backend.set_if("k", "w".into(), Condition::Absent, &cx));
    assert_eq!(lost, Err(StorageError::precondition_failed()));
    fake.calls();
    let current = Condition::VersionMatches(made.version.expect("memory has versions"));
    let refused = drive(backend.set_if("k", "x".into(), current, &cx));
    assert_eq!(refused, Err(StorageError::unsupported()));
    assert!(fake.calls().is_empty(), "the store is not asked for what it does not have");
    assert_eq!(get(&backend, "k").unwrap(), b"v");
    // A partial write creates under the condition and rewrites without one.
    fake.script().meddling = [("new", "theirs")].into();
    drive(backend.set_partial("new", 0, "ours".into(), &cx)).unwrap();
    assert_eq!(get(&backend, "new").unwrap(), b"oursrs");
}

/// Spec: P-7
#[test]
fn a_partial_write_with_conditions_loses_no_other_write() {
    let cx = OpContext::new();
    let fake = Fake::default();
    let backend = ObjectStoreBackend::new(fake.clone());
    set(&backend, "k", "0123456789").unwrap();
    let meddle = |times: usize| fake.script().meddling = vec![("k", "abcdefghij"); times].into();

    meddle(1);
    drive(backend.set_partial("k", 3, "___".into(), &cx)).unwrap();
    assert_eq!(get(&backend, "k").unwrap(), b"012___6789", "without conditions it is lost");

    let backend = backend.with_conditional_writes(true);
    meddle(2);
    drive(backend.set_partial("k", 3, "___".into(), &cx)).unwrap();
    assert_eq!(get(&backend, "k").unwrap(), b"abc___ghij");

    meddle(1_000);
    let error = drive(backend.set_partial("k", 3, "___".into(), &cx)).expect_err("it never ends");
    assert_eq!(classify(&error), ErrorClass::Transient);
    assert_eq!(get(&backend, "k").unwrap(), b"abcdefghij");

    // A key that appears meanwhile is not overwritten either.
    fake.script().meddling = [("new", "theirs")].into();
    drive(backend.set_partial("new", 0, "ours".into(), &cx)).unwrap();
    assert_eq!(get(&backend, "new").unwrap(), b"oursrs");
}

/// Spec: P-7
#[test]
fn a_partial_write_stays_within_its_limit() {
    let cx = OpContext::new();
    let fake = Fake::default();
    let backend = ObjectStoreBackend::new(fake.clone()).with_max_partial_bytes(10);
    let partial =
        |offset, bytes: &'static str| drive(backend.set_partial("k", offset, bytes.into(), &cx));
    assert_eq!(partial(8, "89"), Ok(()));
    for (offset, bytes) in [(9, "9a"), (10, "a"), (u64::MAX, "a"), (u64::MAX - 1, "abc")] {
        assert_eq!(partial(offset, bytes), Err(StorageError::http(413)));
    }
    assert_eq!(get(&backend, "k").unwrap(), b"\0\0\0\0\0\0\0\089");
    set(&backend, "k", "a value that is too long").unwrap();
    fake.calls();
    assert_eq!(partial(0, "a"), Err(StorageError::http(413)));
    assert_eq!(fake.calls(), ["get"], "nothing is written");
}
