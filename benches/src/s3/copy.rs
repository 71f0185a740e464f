//! A value of a gibibyte, streamed through a shield: to S3 and to a folder, and back.
//!
//! It is made chunk by chunk and compared chunk by chunk, so that whatever is held of it is held by
//! the library or the stores' clients. The system tells how much memory the process has had at most.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::{SinkExt, Stream, StreamExt};
use object_store::ObjectStoreExt;
use object_store::local::LocalFileSystem;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use storage_mux::backend::ObjectStoreBackend;
use storage_mux::{MuxMode, SharedStorage};

use super::{client, runtime};
use crate::harness::Row;
use crate::subject::{Mux, mux};

const TOTAL: u64 = 1024 * MIB;
const MIB: u64 = 1024 * 1024;

/// What is handed over at once.
const CHUNK: usize = 256 * 1024;

/// How much memory the copy may add. The write stream of each store says that it holds at most
/// 15 MiB, which are 30 where one is ahead of the other; as much again is for what lies on the way
/// to the sockets and the disk, for the threads, and for what the allocator keeps to itself.
const BOUND: u64 = 64 * MIB;

/// A name that is the key in both stores.
const KEY: &str = "film.bin";

/// The rows of this part. Below `folder`, which must be there, the mirror keeps its values.
///
/// # Panics
///
/// Where a byte is wrong or missing, in either store or on the way back.
#[must_use]
pub fn rows(port: u16, folder: &Path) -> Vec<Row> {
    runtime().block_on(async {
        let bucket = client(port);
        let disk = LocalFileSystem::new_with_prefix(folder).expect("the folder is there");
        let shield = mux(
            MuxMode::Shield,
            [
                SharedStorage::new(ObjectStoreBackend::new(bucket.clone())),
                SharedStorage::new(ObjectStoreBackend::on_folder(disk.clone(), folder)),
            ],
        );
        let before = memory("VmRSS");
        let written = write(&shield).await;
        let chunks = shield.get_stream(KEY).await.expect("a stream");
        let read = read(chunks).await;
        let peak = memory("VmHWM");

        // What each store holds, by its own client.
        let held = bucket.get(&KEY.into()).await.expect("the origin has it");
        self::read(held.into_stream()).await;
        let held = disk.get(&KEY.into()).await.expect("the mirror has it");
        self::read(held.into_stream()).await;

        let added = peak.saturating_sub(before);
        vec![
            speed("written", written),
            speed("read back, each byte compared", read),
            Row {
                what: "the same: memory that it added at most".into(),
                ours: mib(added),
                peer: format!(
                    "all of the process: {} before, {} at the peak",
                    mib(before),
                    mib(peak)
                ),
                theirs: String::new(),
                ratio: String::new(),
                target: format!("≤ {}", mib(BOUND)),
                met: Some(added <= BOUND),
            },
        ]
    })
}

fn speed(what: &str, time: Duration) -> Row {
    let rate = (TOTAL / MIB) as f64 / time.as_secs_f64();
    Row {
        what: format!("1 GiB streamed through a shield of S3 and a folder: {what}"),
        ours: format!("{rate:.0} MiB/s"),
        peer: String::new(),
        theirs: String::new(),
        ratio: String::new(),
        target: String::new(),
        met: None,
    }
}

fn mib(bytes: u64) -> String {
    format!("{:.0} MiB", bytes as f64 / MIB as f64)
}

/// The value, a chunk at a time: nothing in it repeats.
struct Film(Xoshiro256PlusPlus);

impl Film {
    fn new() -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(7))
    }

    fn fill(&mut self, chunk: &mut [u8]) {
        self.0.fill_bytes(chunk);
    }
}

async fn write(shield: &Mux<SharedStorage>) -> Duration {
    let begun = Instant::now();
    let mut sink = shield.set_stream(KEY).await.expect("a sink");
    let mut film = Film::new();
    for _ in 0..TOTAL / CHUNK as u64 {
        let mut chunk = vec![0; CHUNK];
        film.fill(&mut chunk);
        // Sending would flush each time, and so wait for the parts in flight.
        sink.feed(Bytes::from(chunk)).await.expect("taken");
    }
    sink.close().await.expect("stored");
    begun.elapsed()
}

/// Reads all of the value, whatever its chunks are, and compares every byte.
async fn read<E: std::fmt::Debug>(
    chunks: impl Stream<Item = Result<Bytes, E>> + Unpin,
) -> Duration {
    let begun = Instant::now();
    let mut chunks = chunks;
    let mut film = Film::new();
    let mut expected = vec![0; CHUNK];
    let (mut at, mut total) = (CHUNK, 0);
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.expect("a chunk");
        total += chunk.len() as u64;
        assert!(total <= TOTAL, "more than was written");
        let mut rest = &chunk[..];
        while !rest.is_empty() {
            if at == CHUNK {
                film.fill(&mut expected);
                at = 0;
            }
            let (now, later) = rest.split_at(rest.len().min(CHUNK - at));
            assert!(now == &expected[at..at + now.len()], "not what was written, below {total}");
            at += now.len();
            rest = later;
        }
    }
    assert_eq!(total, TOTAL);
    begun.elapsed()
}

/// What the system says of this process's memory, in bytes.
fn memory(what: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix(what)?.strip_prefix(':'));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
    kibibytes.map(|kibibytes: u64| kibibytes * 1024).expect("a size")
}
