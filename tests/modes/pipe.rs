//! A storage of streams and nothing else, whose chunks are counted and take time: it shows at what
//! pace a stream runs and how much of it is in memory.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Sink, Stream};
use storage_mux::sim::{FakeClock, FakeSleep, run};
use storage_mux::{
    Backend, Capabilities, Clock, Metadata, MuxMode, OpContext, Operation, Page, PageRequest,
    SeededRng, Storage, StorageError, StorageMux, Written,
};

use crate::support::{NAMES, mode};

/// How many chunks exist at this moment, and how many ever did.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    alive: AtomicUsize,
    most: AtomicUsize,
    made: AtomicUsize,
}

impl Tally {
    /// A chunk that counts itself in, and out when its last copy is dropped.
    pub(crate) fn chunk(self: &Arc<Self>, number: u8) -> Bytes {
        let alive = self.alive.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(alive, Ordering::SeqCst);
        self.made.fetch_add(1, Ordering::SeqCst);
        Bytes::from_owner(Counted { number: [number], tally: self.clone() })
    }

    pub(crate) fn alive(&self) -> usize {
        self.alive.load(Ordering::SeqCst)
    }

    pub(crate) fn most(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }

    pub(crate) fn made(&self) -> usize {
        self.made.load(Ordering::SeqCst)
    }
}

struct Counted {
    number: [u8; 1],
    tally: Arc<Tally>,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.number
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.tally.alive.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Reads give `length` chunks numbered from zero, one each `pace`. Writes hold one chunk at a time
/// and take `pace` to be done with it.
#[derive(Clone, Debug)]
pub(crate) struct Pipe {
    clock: FakeClock,
    pace: Duration,
    length: u8,
    pub(crate) tally: Arc<Tally>,
    taken: Arc<Mutex<Vec<u8>>>,
}

impl Pipe {
    /// The numbers of the chunks that were written and are done with.
    pub(crate) fn taken(&self) -> Vec<u8> {
        self.taken.lock().expect("no panic").clone()
    }
}

/// A mux over pipes of different paces.
pub(crate) struct Pipes {
    pub(crate) clock: FakeClock,
    pub(crate) pipes: Vec<Pipe>,
    pub(crate) mux: StorageMux<Pipe, FakeClock, SeededRng>,
}

impl Pipes {
    pub(crate) fn new<const N: usize>(of: MuxMode, length: u8, paces: [Duration; N]) -> Self {
        let clock = FakeClock::new();
        let pipe = |pace| {
            let (tally, taken) = (Arc::default(), Arc::default());
            Pipe { clock: clock.clone(), pace, length, tally, taken }
        };
        let pipes: Vec<Pipe> = paces.into_iter().map(pipe).collect();
        let named = NAMES.into_iter().zip(&pipes);
        let mux = StorageMux::builder(clock.clone(), SeededRng::new(7))
            .backends(named.map(|(name, pipe)| Backend::new(name, pipe.clone()).with_weight(1.0)))
            .options(mode(of))
            .build()
            .expect("a mux over pipes");
        Self { clock, pipes, mux }
    }

    pub(crate) fn run<F: Future>(&self, future: F) -> F::Output {
        run(&self.clock, future).expect("the future must not stall")
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.clock.now().as_nanos() / 1_000_000
    }

    pub(crate) fn in_flight(&self) -> Vec<u64> {
        self.mux.stats().backends.iter().map(|each| each.in_flight).collect()
    }
}

impl Storage for Pipe {
    type Reader = PipeReader;
    type Writer = PipeWriter;

    async fn get(&self, _: &str, _: &OpContext) -> Result<Bytes, StorageError> {
        Err(StorageError::unsupported())
    }

    async fn set(&self, _: &str, _: Bytes, _: &OpContext) -> Result<Written, StorageError> {
        Err(StorageError::unsupported())
    }

    async fn set_partial(
        &self,
        _: &str,
        _: u64,
        _: Bytes,
        _: &OpContext,
    ) -> Result<(), StorageError> {
        Err(StorageError::unsupported())
    }

    async fn has(&self, _: &str, _: &OpContext) -> Result<bool, StorageError> {
        Err(StorageError::unsupported())
    }

    async fn delete(&self, _: &str, _: &OpContext) -> Result<(), StorageError> {
        Err(StorageError::unsupported())
    }

    async fn list(&self, _: &str, _: &PageRequest, _: &OpContext) -> Result<Page, StorageError> {
        Err(StorageError::unsupported())
    }

    async fn stat(&self, _: &str, _: &OpContext) -> Result<Metadata, StorageError> {
        Err(StorageError::unsupported())
    }

    async fn get_stream(&self, _: &str, _: &OpContext) -> Result<PipeReader, StorageError> {
        Ok(PipeReader { pipe: self.clone(), wait: None, next: 0 })
    }

    async fn set_stream(&self, _: &str, _: &OpContext) -> Result<PipeWriter, StorageError> {
        Ok(PipeWriter { pipe: self.clone(), held: None })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::none(1024).with(Operation::GetStream).with(Operation::SetStream)
    }

    fn depth(&self) -> usize {
        0
    }
}

#[derive(Debug)]
pub(crate) struct PipeReader {
    pipe: Pipe,
    wait: Option<FakeSleep>,
    next: u8,
}

impl Stream for PipeReader {
    type Item = Result<Bytes, StorageError>;

    fn poll_next(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if this.next == this.pipe.length {
            return Poll::Ready(None);
        }
        let pace = this.pipe.pace;
        let wait = this.wait.get_or_insert_with(|| this.pipe.clock.sleep(pace));
        ready!(Pin::new(wait).poll(task));
        this.wait = None;
        this.next += 1;
        Poll::Ready(Some(Ok(this.pipe.tally.chunk(this.next - 1))))
    }
}

#[derive(Debug)]
pub(crate) struct PipeWriter {
    pipe: Pipe,
    held: Option<(Bytes, FakeSleep)>,
}

impl Sink<Bytes> for PipeWriter {
    type Error = StorageError;

    fn poll_ready(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        self.poll_flush(task)
    }

    fn start_send(self: Pin<&mut Self>, chunk: Bytes) -> Result<(), StorageError> {
        let this = self.get_mut();
        assert!(this.held.is_none(), "a chunk was sent to a sink that is not ready");
        this.held = Some((chunk, this.pipe.clock.sleep(this.pipe.pace)));
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        let this = self.get_mut();
        if let Some((chunk, wait)) = &mut this.held {
            ready!(Pin::new(wait).poll(task));
            this.pipe.taken.lock().expect("no panic").extend_from_slice(chunk);
            this.held = None;
        }
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        self.poll_flush(task)
    }
}
