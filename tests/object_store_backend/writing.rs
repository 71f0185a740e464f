//! Write streams: parts, memory, errors, and what a drop leaves behind.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use futures_util::{FutureExt, SinkExt};
use object_store::memory::InMemory;
use storage_mux::backend::ObjectStoreBackend;
use storage_mux::{OpContext, Storage, StorageError};

use crate::fake::{Fake, failure, objects};
use crate::support::{Scratch, drive, get, keys, set};

const MIB: usize = 1024 * 1024;
const PART: usize = 5 * MIB;

/// Bytes that are counted while they are in memory.
struct Counted(Vec<u8>, Arc<AtomicUsize>);

impl Counted {
    fn chunk(bytes: Vec<u8>, live: &Arc<AtomicUsize>) -> Bytes {
        live.fetch_add(bytes.len(), Ordering::SeqCst);
        Bytes::from_owner(Self(bytes, live.clone()))
    }
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.1.fetch_sub(self.0.len(), Ordering::SeqCst);
    }
}

/// Bytes of which no two stretches near each other are alike.
fn pattern(len: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..65_537_u32).map(|at| (at ^ (at >> 8)) as u8).collect();
    while bytes.len() < len {
        bytes.extend_from_within(..);
    }
    bytes.truncate(len);
    bytes
}

async fn write<S: Storage>(
    backend: &S,
    key: &str,
    value: &[u8],
    chunk: usize,
) -> Result<(), StorageError> {
    let mut writer = backend.set_stream(key, &OpContext::new()).await?;
    for chunk in value.chunks(chunk) {
        writer.feed(Bytes::copy_from_slice(chunk)).await?;
    }
    writer.close().await
}

/// Spec: P-7
#[test]
fn values_below_a_part_are_one_put_and_larger_ones_equal_parts() {
    for (len, parts) in [
        (0, vec![]),
        (PART - 1, vec![]),
        (PART, vec![PART]),
        (PART + 1, vec![PART, 1]),
        (3 * PART + 7, vec![PART, PART, PART, 7]),
    ] {
        let value = pattern(len);
        for chunk in [30_000, PART - 1, 40 * MIB] {
            let fake = Fake::default();
            let backend = ObjectStoreBackend::new(fake.clone());
            drive(write(&backend, "k", &value, chunk)).unwrap();
            assert_eq!(fake.script().parts, parts, "{len} bytes by {chunk}");
            let calls: &[&str] = if parts.is_empty() { &["put"] } else { &["open", "complete"] };
            assert_eq!(fake.calls(), calls);
            assert!(get(&backend, "k").unwrap() == value, "{len} bytes by {chunk}");
        }
    }
}

/// Spec: P-7
#[test]
fn nothing_at_all_makes_an_empty_value() {
    let scratch = Scratch::new();
    let folder = scratch.backend();
    drive(write(&folder, "none", b"", 1)).unwrap();
    let hollow = async {
        let mut writer = folder.set_stream("hollow", &OpContext::new()).await?;
        writer.send(Bytes::new()).await?;
        writer.feed(Bytes::new()).await?;
        writer.close().await
    };
    drive(hollow).unwrap();
    assert_eq!(get(&folder, "none").unwrap(), b"");
    assert_eq!(keys(&folder, ""), ["hollow", "none"]);
}

/// Spec: SM-2
#[test]
fn memory_is_bounded_by_the_parts_in_flight_and_the_one_that_fills() {
    for (in_flight, chunk) in [(1, 100_000), (2, 100_000), (2, PART), (4, 3 * MIB)] {
        let fake = Fake::default();
        fake.script().discard = true;
        fake.script().part_polls = 500;
        let backend = ObjectStoreBackend::new(fake.clone()).with_parts(PART, in_flight);
        let live = Arc::new(AtomicUsize::new(0));
        let most = drive(async {
            let mut writer = backend.set_stream("k", &OpContext::new()).await.unwrap();
            let mut most = 0;
            for _ in 0..(45 * MIB / chunk) {
                writer.feed(Counted::chunk(vec![1; chunk], &live)).await.unwrap();
                most = most.max(live.load(Ordering::SeqCst));
            }
            writer.close().await.unwrap();
            most
        });
        // A chunk that straddles two parts is in memory for both.
        let bound = (in_flight + 1) * (PART + chunk) + chunk;
        assert!(most <= bound, "{most} bytes in memory, at most {bound}");
        assert_eq!(fake.script().in_flight, (0, in_flight), "all flew, and no more than allowed");
        assert_eq!(live.load(Ordering::SeqCst), 0, "nothing is kept");
    }
}

/// Spec: SM-2
#[test]
fn small_chunks_do_not_keep_alive_what_they_are_slices_of() {
    let live = Arc::new(AtomicUsize::new(0));
    let backend = ObjectStoreBackend::new(InMemory::new());
    drive(async {
        let mut writer = backend.set_stream("k", &OpContext::new()).await.unwrap();
        for _ in 0..100 {
            let large = Counted::chunk(vec![1; MIB], &live);
            writer.send(large.slice(10..20)).await.unwrap();
            drop(large);
            assert_eq!(live.load(Ordering::SeqCst), 0);
        }
        writer.close().await.unwrap();
    });
    assert_eq!(get(&backend, "k").unwrap().len(), 1_000);
}

/// Spec: SM-2
#[test]
fn a_sink_is_not_ready_while_its_parts_do_not_arrive() {
    let fake = Fake::default();
    fake.script().part_polls = usize::MAX;
    let backend = ObjectStoreBackend::new(fake.clone());
    let mut writer = drive(backend.set_stream("k", &OpContext::new())).unwrap();
    // Two parts in flight, one that is full, and then no room.
    for _ in 0..3 {
        assert!(writer.feed(Bytes::from(vec![0; PART])).now_or_never().is_some());
    }
    assert!(writer.feed(Bytes::from_static(b"x")).now_or_never().is_none());
    assert!(writer.flush().now_or_never().is_none());
    assert!(writer.close().now_or_never().is_none());
    drop(writer);
    assert_eq!(fake.script().in_flight.0, 0, "the parts go with the sink");
    assert!(objects(&fake).is_empty());
}

/// Spec: SM-2, P-7
#[test]
fn a_part_that_fails_aborts_the_upload_and_the_error_stays() {
    for broken in [0, 1, 3] {
        let fake = Fake::default();
        fake.script().broken_part = Some(broken);
        fake.script().part_polls = 3;
        let backend = ObjectStoreBackend::new(fake.clone());
        drive(async {
            let mut writer = backend.set_stream("k", &OpContext::new()).await.unwrap();
            let mut result = Ok(());
            for _ in 0..4 {
                result = result.and(writer.feed(Bytes::from(vec![0; PART])).await);
            }
            let error = result.and(writer.close().await).expect_err("a part is missing");
            assert_eq!(error, StorageError::other("the part did not arrive"));
            for _ in 0..3 {
                assert_eq!(writer.feed(Bytes::new()).await, Err(error.clone()));
                assert_eq!(writer.flush().await, Err(error.clone()));
                assert_eq!(writer.close().await, Err(error.clone()));
            }
        });
        let calls = fake.calls();
        assert_eq!(calls, ["open", "abort"], "part {broken}");
        assert!(objects(&fake).is_empty());
    }
}

/// Spec: SM-2, P-7
#[test]
fn an_open_a_put_or_a_completion_that_fails_is_the_error_of_the_stream() {
    for (len, fails_at, calls) in
        [(10, 0, &["put"][..]), (PART, 0, &["open"]), (PART, 1, &["open", "complete", "abort"])]
    {
        let fake = Fake::default();
        let backend = ObjectStoreBackend::new(fake.clone());
        let result = drive(async {
            let mut writer = backend.set_stream("k", &OpContext::new()).await?;
            writer.feed(Bytes::from(pattern(len))).await?;
            if fails_at > 0 {
                writer.flush().await?;
            }
            fake.script().errors.push_back(failure("refused"));
            writer.close().await
        });
        assert_eq!(result, Err(StorageError::other("refused")));
        assert_eq!(fake.calls(), calls);
        assert!(objects(&fake).is_empty());
    }
}

/// Spec: P-7
#[test]
fn a_closed_sink_stays_closed() {
    for len in [3, PART + 3] {
        let backend = ObjectStoreBackend::new(InMemory::new());
        drive(async {
            let mut writer = backend.set_stream("k", &OpContext::new()).await.unwrap();
            writer.feed(Bytes::from(pattern(len))).await.unwrap();
            writer.close().await.unwrap();
            writer.close().await.unwrap();
            writer.flush().await.unwrap();
            let refused = writer.feed(Bytes::from_static(b"more")).await;
            assert_eq!(refused, Err(StorageError::http(409)));
        });
        assert_eq!(get(&backend, "k").unwrap().len(), len);
    }
}

/// Spec: P-7, AB-5
#[test]
fn a_stream_dropped_at_any_step_leaves_what_was_there() {
    let scratch = Scratch::new();
    let folder = scratch.backend();
    set(&folder, "k", "before").unwrap();
    for chunks in 0..4 {
        drive(async {
            let mut writer = folder.set_stream("k", &OpContext::new()).await.unwrap();
            for _ in 0..chunks {
                writer.send(Bytes::from(vec![0; PART / 2 + 1])).await.unwrap();
            }
            assert_eq!(keys(&folder, ""), ["k"], "no scratch file shows");
        });
        assert_eq!(get(&folder, "k").unwrap(), b"before");
        assert_eq!(scratch.files(), ["k%f"], "no scratch file stays");
    }
}

/// Spec: P-7, AB-5
#[test]
fn a_close_dropped_at_any_poll_leaves_all_or_nothing() {
    let value = pattern(3 * PART + 1);
    let mut finished = false;
    for polls in 0.. {
        let fake = Fake::default();
        fake.script().part_polls = 4;
        let backend = ObjectStoreBackend::new(fake.clone());
        let mut writing = pin!(write(&backend, "k", &value, PART / 2));
        let done = (0..polls).any(|_| writing.as_mut().now_or_never().is_some());
        assert_eq!(objects(&fake).len(), usize::from(done), "after {polls} polls");
        if done {
            assert!(get(&backend, "k").unwrap() == value);
            finished = true;
            break;
        }
        assert!(polls < 1_000, "the stream ends some time");
    }
    assert!(finished);
}

/// Spec: P-7
#[test]
fn two_streams_to_one_key_do_not_mix() {
    let scratch = Scratch::new();
    let folder = scratch.backend();
    drive(async {
        let cx = OpContext::new();
        let mut one = folder.set_stream("k", &cx).await.unwrap();
        let mut two = folder.set_stream("k", &cx).await.unwrap();
        for _ in 0..3 {
            one.send(Bytes::from(vec![1; PART])).await.unwrap();
            two.send(Bytes::from(vec![2; PART])).await.unwrap();
        }
        one.close().await.unwrap();
        two.close().await.unwrap();
    });
    let value = get(&folder, "k").unwrap();
    assert!(value.len() == 3 * PART && value.iter().all(|byte| *byte == 2));
    assert_eq!(scratch.files(), ["k%f"]);
}

/// Spec: P-7, AB-5
#[tokio::test]
async fn an_upload_that_is_dropped_is_aborted_by_a_task() {
    // Dropped with an upload open, while one is being opened, and before there is one.
    for (sent, expected) in [(2 * PART, vec!["open", "abort"]), (10, vec![])] {
        let fake = Fake::default();
        let backend = ObjectStoreBackend::new(fake.clone());
        let mut writer = backend.set_stream("k", &OpContext::new()).await.unwrap();
        writer.send(pattern(sent).into()).await.unwrap();
        drop(writer);
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        assert_eq!(fake.calls(), expected);
        assert!(objects(&fake).is_empty());
    }
    let fake = Fake::default();
    let opening = Arc::new(tokio::sync::Notify::new());
    let backend = ObjectStoreBackend::new(fake.clone()).with_probe({
        let (opening, first) = (opening.clone(), AtomicUsize::new(0));
        move || {
            let (opening, first) = (opening.clone(), first.fetch_add(1, Ordering::SeqCst) == 0);
            async move {
                if !first {
                    opening.notified().await;
                }
                Ok(())
            }
        }
    });
    let mut writer = backend.set_stream("k", &OpContext::new()).await.unwrap();
    assert!(writer.send(pattern(2 * PART).into()).now_or_never().is_none());
    drop(writer);
    opening.notify_one();
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    assert_eq!(fake.calls(), ["open", "abort"], "what was under way is found and aborted");
}

/// Spec: P-7
#[test]
fn a_closed_stream_aborts_nothing() {
    let fake = Fake::default();
    let backend = ObjectStoreBackend::new(fake.clone());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        write(&backend, "k", &pattern(2 * PART), MIB).await.unwrap();
        tokio::task::yield_now().await;
    });
    assert_eq!(fake.calls(), ["open", "complete"]);
}
