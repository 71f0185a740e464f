//! What the public suite cannot ask: limits, sharing and the streams of this store alone.

use alloc::format;
use alloc::string::ToString;
use alloc::vec;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};

use futures_core::Stream;
use futures_sink::Sink;

use super::*;

/// The result of a future that must not wait.
fn now<F: Future>(future: F) -> F::Output {
    match core::pin::pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("an operation of the memory store waits"),
    }
}

/// Spec: P-6
#[test]
fn a_clone_of_the_handle_sees_every_write() {
    let (one, cx) = (MemoryStorage::new(), OpContext::new());
    let two = one.clone();
    now(one.set("k", "v".into(), &cx)).unwrap();
    assert_eq!(now(two.get("k", &cx)).unwrap(), "v");
    now(two.delete("k", &cx)).unwrap();
    assert!(one.is_empty());
}

/// Spec: P-6
#[test]
fn a_listing_is_sorted_and_pages_hold_what_they_were_asked_for() {
    let (storage, cx) = (MemoryStorage::new(), OpContext::new());
    // Miri takes its time: a quarter of the keys.
    let count = if cfg!(miri) { 25 } else { 100 };
    let mut wanted: Vec<String> = (0..count).map(|n| format!("{}", n * 37 % count)).collect();
    for key in &wanted {
        now(storage.set(key, Bytes::new(), &cx)).unwrap();
    }
    wanted.sort();
    assert_eq!(storage.keys(), wanted);
    for limit in [1, 7, count - 1, count, count + 1, usize::MAX] {
        let (mut seen, mut request) = (Vec::new(), PageRequest::first(limit));
        loop {
            let page = now(storage.list("", &request, &cx)).unwrap();
            assert!(page.entries.len() == limit || page.next.is_none());
            seen.extend(page.entries.into_iter().map(|entry| entry.key));
            let Some(next) = page.next else { break };
            request = PageRequest::after(next, limit);
        }
        assert_eq!(seen, wanted, "in pages of {limit}");
    }
}

/// Spec: P-6, P-7
#[test]
fn a_partial_write_reaches_its_documented_limit_and_not_a_byte_further() {
    let (storage, cx) = (MemoryStorage::new(), OpContext::new());
    now(storage.set("k", "old".into(), &cx)).unwrap();
    let limit = MemoryStorage::MAX_EXTENDED_BYTES as u64;
    for offset in [limit, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
        let error = now(storage.set_partial("k", offset, "x".into(), &cx)).unwrap_err();
        assert_eq!(error, StorageError::http(413), "at {offset}");
        assert!(error.to_string().contains("1 GiB"));
    }
    assert_eq!(now(storage.get("k", &cx)).unwrap(), "old");
    let size = MemoryStorage::MAX_EXTENDED_BYTES;
    assert_eq!(table::target(3, limit - 2, 2), Ok(size - 2..size));
    assert!(table::target(3, limit - 1, 2).is_err());
    assert_eq!(table::target(size + 9, limit + 7, 2), Ok(size + 7..size + 9), "within is free");
    assert!(table::target(size + 9, limit + 8, 2).is_err());
    assert!(table::reserved(usize::MAX).is_err_and(|error| error == StorageError::http(507)));
}

/// Spec: P-7
#[test]
fn a_partial_write_of_nothing_far_past_the_end_asks_for_no_memory() {
    let (storage, cx) = (MemoryStorage::new(), OpContext::new());
    now(storage.set("k", "old".into(), &cx)).unwrap();
    now(storage.set_partial("k", u64::MAX, Bytes::new(), &cx)).unwrap();
    assert_eq!(now(storage.get("k", &cx)).unwrap(), "old");
}

/// Spec: P-7
#[test]
fn a_read_stream_cuts_at_the_chunk_size_without_copying_and_stays_ended() {
    let (storage, cx) = (MemoryStorage::new(), OpContext::new());
    let size = MemoryStorage::MAX_CHUNK_BYTES;
    for (len, sizes) in
        [(0, vec![]), (size, vec![size]), (size + 1, vec![size, 1]), (2 * size, vec![size, size])]
    {
        let value = Bytes::from(vec![7; len]);
        now(storage.set("k", value.clone(), &cx)).unwrap();
        let mut reader = now(storage.get_stream("k", &cx)).unwrap();
        let mut poll = || Pin::new(&mut reader).poll_next(&mut Context::from_waker(Waker::noop()));
        let mut at = value.as_ptr();
        for size in sizes {
            let Poll::Ready(Some(Ok(chunk))) = poll() else { panic!("the stream is too short") };
            assert_eq!((chunk.len(), chunk.as_ptr()), (size, at));
            at = at.wrapping_add(size);
        }
        assert_eq!((poll(), poll()), (Poll::Ready(None), Poll::Ready(None)));
    }
}

/// Spec: P-7
#[test]
fn a_read_stream_keeps_the_value_it_was_opened_on() {
    let (storage, cx) = (MemoryStorage::new(), OpContext::new());
    now(storage.set("k", "old".into(), &cx)).unwrap();
    let mut reader = now(storage.get_stream("k", &cx)).unwrap();
    now(storage.set("k", "new".into(), &cx)).unwrap();
    let first = Pin::new(&mut reader).poll_next(&mut Context::from_waker(Waker::noop()));
    assert_eq!(first, Poll::Ready(Some(Ok("old".into()))));
}

/// Spec: P-7
#[test]
fn a_closed_write_stream_takes_no_chunk_and_closes_again_without_a_second_write() {
    let (storage, cx) = (MemoryStorage::new(), OpContext::new());
    let mut waker = Context::from_waker(Waker::noop());
    let mut writer = now(storage.set_stream("k", &cx)).unwrap();
    Pin::new(&mut writer).start_send("one".into()).unwrap();
    assert_eq!(Pin::new(&mut writer).poll_close(&mut waker), Poll::Ready(Ok(())));
    let version = now(storage.stat("k", &cx)).unwrap().version;
    let refused = StorageError::http(409);
    assert_eq!(Pin::new(&mut writer).poll_ready(&mut waker), Poll::Ready(Err(refused.clone())));
    assert_eq!(Pin::new(&mut writer).start_send("two".into()), Err(refused));
    assert_eq!(Pin::new(&mut writer).poll_close(&mut waker), Poll::Ready(Ok(())));
    assert_eq!(now(storage.get("k", &cx)).unwrap(), "one");
    assert_eq!(now(storage.stat("k", &cx)).unwrap().version, version);
}

/// Spec: P-7
#[test]
fn a_key_that_was_removed_and_written_again_has_a_version_of_its_own() {
    let (storage, cx) = (MemoryStorage::new(), OpContext::new());
    let first = now(storage.set("k", "v".into(), &cx)).unwrap().version.unwrap();
    now(storage.delete("k", &cx)).unwrap();
    now(storage.set("k", "v".into(), &cx)).unwrap();
    let stale = Condition::VersionMatches(first);
    assert!(now(storage.set_if("k", "w".into(), stale, &cx)).unwrap_err().is_precondition_failed());
}

/// A value whose memory looks at the store when it is freed, as a lock in it could.
struct Nosy(MemoryStorage);

impl AsRef<[u8]> for Nosy {
    fn as_ref(&self) -> &[u8] {
        b"nosy"
    }
}

impl Drop for Nosy {
    fn drop(&mut self) {
        let _ = self.0.len();
    }
}

/// Spec: IS-3
#[test]
fn memory_that_looks_at_the_store_while_it_is_freed_is_not_freed_under_the_lock() {
    let (storage, cx) = (MemoryStorage::new(), OpContext::new());
    let plant = || {
        now(storage.set("k", Bytes::from_owner(Nosy(storage.clone())), &cx)).unwrap();
    };
    // A lock that is held would hang here.
    plant();
    now(storage.set("k", Bytes::new(), &cx)).unwrap();
    plant();
    now(storage.set_partial("k", 0, "x".into(), &cx)).unwrap();
    plant();
    let version = now(storage.stat("k", &cx)).unwrap().version.unwrap();
    now(storage.set_if("k", Bytes::new(), Condition::VersionMatches(version), &cx)).unwrap();
    plant();
    now(storage.delete("k", &cx)).unwrap();
    assert!(storage.is_empty());
}
