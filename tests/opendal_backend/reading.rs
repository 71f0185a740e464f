//! Values, ranges and read streams.

use std::pin::pin;

use bytes::Bytes;
use futures_util::StreamExt;
use opendal::{Error, ErrorKind};
use storage_mux::{NetworkFault, OpContext, Storage, StorageError, StorageErrorKind};

use crate::fake::{Fake, plain};
use crate::support::drive;

fn holding(value: &'static str) -> Fake {
    let fake = Fake::new(plain());
    fake.script().put("k", value.into());
    fake
}

/// The chunks of a value, and what the stream ends with.
fn streamed(fake: &Fake) -> Result<(Vec<u8>, Option<StorageError>), StorageError> {
    drive(async {
        let mut chunks = pin!(fake.backend().get_stream("k", &OpContext::new()).await?);
        let mut value = Vec::new();
        while let Some(chunk) = chunks.next().await {
            match chunk {
                Ok(chunk) => value.extend_from_slice(&chunk),
                Err(error) => {
                    assert!(chunks.next().await.is_none(), "an error is the last item");
                    return Ok((value, Some(error)));
                }
            }
        }
        assert!(chunks.next().await.is_none(), "the end stays the end");
        Ok((value, None))
    })
}

/// Spec: P-7, SM-5
#[test]
fn a_stream_whose_length_is_not_as_announced_ends_in_an_error() {
    let reset = Some(StorageError::network(NetworkFault::Reset));
    let fake = holding("0123");
    assert_eq!(streamed(&fake), Ok((b"0123".to_vec(), None)));
    fake.script().lies = Some(5);
    assert_eq!(streamed(&fake), Ok((b"0123".to_vec(), reset.clone())));
    fake.script().lies = Some(3);
    assert_eq!(streamed(&fake), Ok((Vec::new(), reset)));
}

/// Spec: P-7, SM-5
#[test]
fn a_service_that_tells_no_length_with_the_value_is_asked_for_it() {
    let fake = holding("0123");
    fake.script().silent = true;
    assert_eq!(streamed(&fake), Ok((b"0123".to_vec(), None)));
    assert!(fake.calls().contains(&"stat k".to_owned()));
    fake.script().silent = false;
    assert_eq!(streamed(&fake), Ok((b"0123".to_vec(), None)));
    assert_eq!(fake.calls(), ["read k bytes=0-"], "one request where the length comes along");
}

/// Spec: P-7
#[test]
fn a_missing_value_is_told_when_the_stream_is_opened() {
    for silent in [false, true] {
        let fake = Fake::new(plain());
        fake.script().silent = silent;
        assert_eq!(streamed(&fake), Err(StorageError::key_not_found()));
    }
}

/// Spec: P-7
#[test]
fn ranges_never_leave_the_value_that_the_service_is_asked_for() {
    let fake = holding("0123");
    let range = |range| drive(fake.backend().get_range("k", range, &OpContext::new()));
    assert_eq!(range(1..3), Ok(Bytes::from("12")));
    assert_eq!(range(1..u64::MAX), Ok(Bytes::from("123")));
    assert_eq!(range(3..4), Ok(Bytes::from("3")));
    assert_eq!(fake.calls().last().map(String::as_str), Some("read k bytes=3-3"));
    assert_eq!(range(2..2), Ok(Bytes::new()));
    assert_eq!(range(4..5), Err(StorageError::range_not_satisfiable()));
    assert_eq!(range(4..4), Err(StorageError::range_not_satisfiable()));
    assert_eq!(fake.calls(), ["stat k"; 3], "nothing of these was read");
}

/// Spec: P-7
#[test]
fn a_directory_is_no_value() {
    let fake = holding("0123");
    fake.script().errors.push_back(Error::new(ErrorKind::IsADirectory, "a directory"));
    let error = drive(fake.backend().get("k", &OpContext::new())).unwrap_err();
    assert_eq!(*error.kind(), StorageErrorKind::KeyNotFound);
}
