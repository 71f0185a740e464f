//! Uploads in parts: order, back-pressure, and ends of every kind.

use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_util::future::join_all;
use object_store::path::Path;
use object_store::{Error, ObjectStoreExt, UploadPart};
use storage_mux::backend::MuxObjectStore;
use storage_mux::sim::{Fault, StreamFault, run};
use storage_mux::{SharedStorage, StorageError};

use crate::eager::Eager;
use crate::support::{drive, faulty};

fn poll(part: &mut UploadPart) -> Poll<object_store::Result<()>> {
    Pin::new(part).poll(&mut Context::from_waker(Waker::noop()))
}

fn path() -> Path {
    "k".into()
}

/// Every order in which three parts can be awaited.
const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// Spec: SM-2, P-7
#[test]
fn parts_are_kept_in_the_order_of_the_calls_whichever_is_awaited_first() {
    for order in ORDERS {
        let (store, storage, clock) = faulty();
        storage.push_stream(StreamFault::new(1, Fault::Delay(Duration::from_secs(1))));
        let value = run(&clock, async {
            let mut upload = store.put_multipart(&path()).await.unwrap();
            let mut parts: Vec<_> =
                ["one ", "two ", "three"].map(|part| Some(upload.put_part(part.into()))).into();
            for at in order {
                parts[at].take().unwrap().await.unwrap();
            }
            upload.complete().await.unwrap();
            store.get(&path()).await.unwrap().bytes().await.unwrap()
        });
        assert_eq!(value.expect("no part waits for ever"), "one two three", "{order:?}");
    }
}

/// Spec: SM-2
#[test]
fn a_part_that_is_polled_once_and_left_holds_nobody_up() {
    for order in ORDERS {
        let (store, storage, clock) = faulty();
        storage.push_stream(StreamFault::new(0, Fault::Delay(Duration::from_secs(1))));
        let ended = run(&clock, async {
            let mut upload = store.put_multipart(&path()).await.unwrap();
            let mut parts: Vec<_> = ["a", "b", "c"].map(|part| upload.put_part(part.into())).into();
            for at in order {
                assert!(poll(&mut parts[at]).is_pending());
            }
            // All but one keep the place that they took and are never polled again.
            let mut last = parts.swap_remove(order[2]);
            (&mut last).await.unwrap();
            upload.complete().await.unwrap();
            store.get(&path()).await.unwrap().bytes().await.unwrap()
        });
        assert_eq!(ended.expect("the one that is polled goes on"), "abc", "{order:?}");
    }
}

/// Spec: SM-2
#[test]
fn a_part_waits_until_the_stream_has_room() {
    let (store, storage, _) = faulty();
    storage.push_stream(StreamFault::new(1, Fault::Hang));
    let mut upload = drive(store.put_multipart(&path())).unwrap();
    let mut first = upload.put_part("a".into());
    let mut second = upload.put_part("b".into());
    assert!(matches!(poll(&mut first), Poll::Ready(Ok(()))));
    for _ in 0..3 {
        assert!(poll(&mut second).is_pending(), "the stream has taken one chunk and no more");
    }
}

/// Spec: SM-2
#[test]
fn parts_wake_one_another() {
    let (store, storage, clock) = faulty();
    storage.push_stream(StreamFault::new(3, Fault::Delay(Duration::from_secs(1))));
    let value = run(&clock, async {
        let mut upload = store.put_multipart(&path()).await.unwrap();
        let parts = (0..20_u8).map(|part| upload.put_part(vec![part; 3].into()));
        let parts: Vec<_> = parts.collect();
        // Each of them is polled only when it is woken.
        for taken in join_all(parts.into_iter().rev()).await {
            taken.unwrap();
        }
        upload.complete().await.unwrap();
        store.get(&path()).await.unwrap().bytes().await.unwrap()
    });
    let expected: Vec<u8> = (0..20).flat_map(|part| [part; 3]).collect();
    assert_eq!(value.expect("nobody waits for ever"), expected);
}

/// Spec: SM-2
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parts_on_several_threads_arrive_in_order() {
    let (store, ..) = faulty();
    for _ in 0..50 {
        let mut upload = store.put_multipart(&path()).await.unwrap();
        let parts = (0..64_u8).map(|part| tokio::spawn(upload.put_part(vec![part; 100].into())));
        let parts: Vec<_> = parts.collect();
        for part in parts.into_iter().rev() {
            part.await.unwrap().unwrap();
        }
        upload.complete().await.unwrap();
        let value = store.get(&path()).await.unwrap().bytes().await.unwrap();
        let expected: Vec<u8> = (0..64).flat_map(|part| [part; 100]).collect();
        assert_eq!(value, expected);
    }
}

/// Spec: SM-2
#[test]
fn complete_stores_the_parts_that_nobody_awaited() {
    let (store, ..) = faulty();
    drive(async {
        let mut upload = store.put_multipart(&path()).await.unwrap();
        drop(upload.put_part("a".into()));
        let kept = upload.put_part("b".into());
        upload.put_part(object_store::PutPayload::new()).await.unwrap();
        upload.complete().await.unwrap();
        kept.await.unwrap();
        assert_eq!(store.get(&path()).await.unwrap().bytes().await.unwrap(), "ab");
        let late = upload.put_part("c".into()).await;
        assert!(matches!(late, Err(Error::Generic { .. })), "{late:?}");
        assert!(upload.abort().await.is_err(), "it is complete");
        assert_eq!(store.get(&path()).await.unwrap().bytes().await.unwrap(), "ab");
    });
    drive(async {
        let mut upload = store.put_multipart(&Path::from("empty")).await.unwrap();
        upload.complete().await.unwrap();
        assert_eq!(store.head(&Path::from("empty")).await.unwrap().size, 0);
    });
}

/// Spec: P-7, SM-2
#[test]
fn an_upload_that_is_dropped_or_aborted_leaves_nothing() {
    for aborts in [true, false] {
        let (store, storage, _) = faulty();
        storage.push_stream(StreamFault::new(1, Fault::Hang));
        let mut upload = drive(store.put_multipart(&path())).unwrap();
        let mut taken = upload.put_part("a".into());
        assert!(poll(&mut taken).is_ready());
        let mut waiting = upload.put_part("b".into());
        assert!(poll(&mut waiting).is_pending());
        if aborts {
            drive(upload.abort()).unwrap();
            assert!(drive(upload.complete()).is_err());
            assert!(drive(upload.put_part("c".into())).is_err());
            drive(upload.abort()).expect("once more is no harm");
        } else {
            drop(upload);
        }
        assert!(drive(waiting).is_err(), "a part of an upload that is gone ends");
        assert!(storage.inner().is_empty());
        let missing = drive(store.head(&path()));
        assert!(matches!(missing, Err(Error::NotFound { .. })), "{missing:?}");
    }
}

/// Spec: SM-2, SM-5
#[test]
fn a_stream_that_fails_fails_its_parts_and_leaves_nothing() {
    for after in 0..3 {
        let (store, storage, _) = faulty();
        let broken = Fault::Fail(StorageError::http(503));
        storage.push_stream(StreamFault::new(after, broken));
        let mut upload = drive(store.put_multipart(&path())).unwrap();
        let results = drive(join_all([upload.put_part("a".into()), upload.put_part("b".into())]));
        for (at, result) in results.iter().enumerate() {
            assert_eq!(result.is_ok(), at < after, "part {at}, broken after {after}: {result:?}");
        }
        for _ in 0..2 {
            let error = drive(upload.complete()).unwrap_err();
            let Error::Generic { source, .. } = error else { panic!("{error}") };
            assert_eq!(source.downcast_ref(), Some(&StorageError::http(503)));
        }
        assert!(storage.inner().is_empty());
    }
}

/// Spec: P-7
#[test]
fn an_upload_that_cannot_be_opened_says_why() {
    let (store, storage, _) = faulty();
    storage.push(Fault::Fail(StorageError::http(401)));
    let error = drive(store.put_multipart(&path())).unwrap_err();
    assert!(matches!(error, Error::Unauthenticated { .. }), "{error}");
}

/// A part that looks while another has the stream sees it taken; the wake that it came for must
/// reach it once the stream is back.
#[test]
fn a_wake_that_finds_the_stream_taken_is_given_again() {
    let storage = Eager::default();
    let store = MuxObjectStore::new(SharedStorage::new(storage.clone()));
    let mut upload = drive(store.put_multipart(&path())).unwrap();
    let mut first = upload.put_part("a".into());
    *storage.other.lock().unwrap() = Some(upload.put_part("b".into()));
    assert!(matches!(poll(&mut first), Poll::Ready(Ok(()))));
    assert!(storage.woken.0.load(Ordering::Relaxed), "nobody else is there to go on");
    let second = storage.other.lock().unwrap().take().unwrap();
    drive(second).unwrap();
    drive(upload.complete()).unwrap();
}
