//! A storage that misbehaves on schedule.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::future::pending;
use core::ops::Range;

use bytes::Bytes;

use super::{Dice, FakeClock, Fault, FaultReader, FaultWriter, Latency, StreamFault};
use crate::error::StorageError;
use crate::port::{
    Capabilities, Clock, Condition, Metadata, OpContext, Operation, Page, PageRequest, Storage,
    Written,
};
use crate::sync::{Arc, Lock};

/// A storage around another that fails, hangs and dawdles on schedule, and keeps a log of what it
/// was asked. Clones share schedule, log and storage.
///
/// ```
/// use storage_mux::sim::{Fault, FakeClock, FaultStorage, run};
/// use storage_mux::{MemoryStorage, OpContext, Storage, StorageError};
///
/// let clock = FakeClock::new();
/// let storage = FaultStorage::new(MemoryStorage::new(), clock.clone());
/// storage.push(Fault::Fail(StorageError::http(503)));
///
/// let cx = OpContext::new();
/// let first = run(&clock, storage.has("k", &cx)).unwrap();
/// let second = run(&clock, storage.has("k", &cx)).unwrap();
/// assert_eq!(first, Err(StorageError::http(503)));
/// assert_eq!(second, Ok(false));
/// assert_eq!(storage.calls(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct FaultStorage<S> {
    inner: S,
    clock: FakeClock,
    plan: Arc<Lock<Plan>>,
}

#[derive(Debug, Default)]
struct Plan {
    next: VecDeque<Fault>,
    always: Fault,
    streams: VecDeque<StreamFault>,
    every_stream: Option<StreamFault>,
    latency: Option<(Latency, Dice)>,
    chunk_bytes: Option<usize>,
    log: Vec<(Operation, String)>,
    contexts: Vec<crate::sync::AbortSignal>,
    keep_signals: bool,
}

impl<S> FaultStorage<S> {
    /// A storage that does as `inner` does, on the time of `clock`.
    pub fn new(inner: S, clock: FakeClock) -> Self {
        Self { inner, clock, plan: Arc::new(Lock::new(Plan::default())) }
    }

    /// Schedules a fault for the next operation that has none yet.
    pub fn push(&self, fault: Fault) {
        self.plan.with(|plan| plan.next.push_back(fault));
    }

    /// Schedules the same fault for the next `times` operations that have none yet: "fails twice,
    /// then succeeds".
    pub fn push_times(&self, times: usize, fault: Fault) {
        (0..times).for_each(|_| self.push(fault.clone()));
    }

    /// Sets what happens to every operation that has no fault of its own.
    pub fn set_always(&self, fault: Fault) {
        self.plan.with(|plan| plan.always = fault);
    }

    /// Schedules a fault for the next stream that is opened and has none yet.
    pub fn push_stream(&self, fault: StreamFault) {
        self.plan.with(|plan| plan.streams.push_back(fault));
    }

    /// Sets what happens to every stream that has no fault of its own.
    pub fn set_every_stream(&self, fault: Option<StreamFault>) {
        self.plan.with(|plan| plan.every_stream = fault);
    }

    /// Lets every operation take as long as `latency` says, drawn from `seed`, before its fault if
    /// it has one. `None` takes that back.
    pub fn set_latency(&self, latency: Option<Latency>, seed: u64) {
        let drawn = latency.map(|latency| (latency, Dice::new(seed)));
        self.plan.with(|plan| plan.latency = drawn);
    }

    /// Cuts what read streams give into chunks of at most so many bytes, so that a small value is
    /// enough to see a stream break half-way. A size of zero is taken as one.
    pub fn set_chunk_bytes(&self, bytes: usize) {
        self.plan.with(|plan| plan.chunk_bytes = Some(bytes.max(1)));
    }

    /// Heals it: no fault, no latency. What streams that are open will meet stays.
    pub fn heal(&self) {
        let old = self.plan.with(|plan| {
            let new = Plan { chunk_bytes: plan.chunk_bytes, ..Plan::default() };
            let mut old = core::mem::replace(plan, new);
            plan.log = core::mem::take(&mut old.log);
            plan.contexts = core::mem::take(&mut old.contexts);
            plan.keep_signals = old.keep_signals;
            old
        });
        // Outside of the lock: an error that was planned may hold anything.
        drop(old);
    }

    /// How many operations it was asked for.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.plan.with(|plan| plan.log.len())
    }

    /// The operations it was asked for, with their keys.
    #[must_use]
    pub fn log(&self) -> Vec<(Operation, String)> {
        self.plan.with(|plan| plan.log.clone())
    }

    /// Keeps the abort signal of every operation from now on, as work moved elsewhere would.
    pub fn keep_signals(&self) {
        self.plan.with(|plan| plan.keep_signals = true);
    }

    /// The abort signals that were kept.
    #[must_use]
    pub fn signals(&self) -> Vec<crate::sync::AbortSignal> {
        self.plan.with(|plan| plan.contexts.clone())
    }

    /// The storage inside.
    pub const fn inner(&self) -> &S {
        &self.inner
    }

    /// Takes the fault of this operation and lets it happen, up to the inner storage's turn.
    async fn enter(
        &self,
        operation: Operation,
        key: &str,
        cx: &OpContext,
    ) -> Result<Option<StorageError>, StorageError> {
        let (fault, latency) = self.plan.with(|plan| {
            plan.log.push((operation, key.into()));
            if plan.keep_signals {
                plan.contexts.push(cx.signal());
            }
            let latency = plan.latency.as_ref().map(|(latency, dice)| latency.draw(dice));
            (plan.next.pop_front().unwrap_or_else(|| plan.always.clone()), latency)
        });
        if let Some(wait) = latency.filter(|wait| !wait.is_zero()) {
            self.clock.sleep(wait).await;
        }
        match fault {
            Fault::None => Ok(None),
            Fault::Fail(error) => Err(error),
            Fault::Delay(wait) => {
                self.clock.sleep(wait).await;
                Ok(None)
            }
            Fault::DelayThenFail(wait, error) => {
                self.clock.sleep(wait).await;
                Err(error)
            }
            Fault::LoseAnswer(error) => Ok(Some(error)),
            Fault::Hang => pending().await,
        }
    }

    fn stream_fault(&self) -> Option<StreamFault> {
        self.plan.with(|plan| plan.streams.pop_front().or_else(|| plan.every_stream.clone()))
    }
}

/// The inner answer, or the error that takes its place on the way back.
fn answer<T>(
    result: Result<T, StorageError>,
    lost: Option<StorageError>,
) -> Result<T, StorageError> {
    match (result, lost) {
        (Ok(_), Some(error)) => Err(error),
        (result, _) => result,
    }
}

#[deny(clippy::missing_trait_methods)]
impl<S: Storage> Storage for FaultStorage<S> {
    type Reader = FaultReader<S::Reader>;
    type Writer = FaultWriter<S::Writer>;

    async fn get(&self, key: &str, cx: &OpContext) -> Result<Bytes, StorageError> {
        let lost = self.enter(Operation::Get, key, cx).await?;
        answer(self.inner.get(key, cx).await, lost)
    }

    async fn set(&self, key: &str, value: Bytes, cx: &OpContext) -> Result<Written, StorageError> {
        let lost = self.enter(Operation::Set, key, cx).await?;
        answer(self.inner.set(key, value, cx).await, lost)
    }

    async fn set_partial(
        &self,
        key: &str,
        offset: u64,
        bytes: Bytes,
        cx: &OpContext,
    ) -> Result<(), StorageError> {
        let lost = self.enter(Operation::SetPartial, key, cx).await?;
        answer(self.inner.set_partial(key, offset, bytes, cx).await, lost)
    }

    async fn has(&self, key: &str, cx: &OpContext) -> Result<bool, StorageError> {
        let lost = self.enter(Operation::Has, key, cx).await?;
        answer(self.inner.has(key, cx).await, lost)
    }

    async fn delete(&self, key: &str, cx: &OpContext) -> Result<(), StorageError> {
        let lost = self.enter(Operation::Delete, key, cx).await?;
        answer(self.inner.delete(key, cx).await, lost)
    }

    async fn list(
        &self,
        prefix: &str,
        page: &PageRequest,
        cx: &OpContext,
    ) -> Result<Page, StorageError> {
        let lost = self.enter(Operation::List, prefix, cx).await?;
        answer(self.inner.list(prefix, page, cx).await, lost)
    }

    async fn stat(&self, key: &str, cx: &OpContext) -> Result<Metadata, StorageError> {
        let lost = self.enter(Operation::Stat, key, cx).await?;
        answer(self.inner.stat(key, cx).await, lost)
    }

    async fn get_stream(&self, key: &str, cx: &OpContext) -> Result<Self::Reader, StorageError> {
        let lost = self.enter(Operation::GetStream, key, cx).await?;
        let reader = answer(self.inner.get_stream(key, cx).await, lost)?;
        let chunk_bytes = self.plan.with(|plan| plan.chunk_bytes);
        Ok(FaultReader::new(reader, self.stream_fault(), self.clock.clone(), chunk_bytes))
    }

    async fn set_stream(&self, key: &str, cx: &OpContext) -> Result<Self::Writer, StorageError> {
        let lost = self.enter(Operation::SetStream, key, cx).await?;
        let writer = answer(self.inner.set_stream(key, cx).await, lost)?;
        Ok(FaultWriter::new(writer, self.stream_fault(), self.clock.clone()))
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn depth(&self) -> usize {
        self.inner.depth()
    }

    async fn get_range(
        &self,
        key: &str,
        range: Range<u64>,
        cx: &OpContext,
    ) -> Result<Bytes, StorageError> {
        let lost = self.enter(Operation::GetRange, key, cx).await?;
        answer(self.inner.get_range(key, range, cx).await, lost)
    }

    async fn set_if(
        &self,
        key: &str,
        value: Bytes,
        condition: Condition,
        cx: &OpContext,
    ) -> Result<Written, StorageError> {
        let lost = self.enter(Operation::SetIf, key, cx).await?;
        answer(self.inner.set_if(key, value, condition, cx).await, lost)
    }
}
