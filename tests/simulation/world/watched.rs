//! A storage that enters every call into the book: around each backend, and around each mux.

use core::future::{Future, poll_fn};
use core::ops::Range;
use core::pin::pin;

use bytes::Bytes;
use storage_mux::{
    Capabilities, Condition, Metadata, OpContext, Operation, Page, PageRequest, SharedStorage,
    Storage, StorageError, Written,
};

use super::ledger::{Ledger, NewCall};
use super::records::{CallId, Outcome, Target};
use super::values::{Digest, origin};
use super::watched_streams::{WatchedReader, WatchedWriter};

#[derive(Clone)]
pub(crate) struct Watched {
    pub(crate) ledger: Ledger,
    pub(crate) target: Target,
    pub(crate) inner: SharedStorage,
}

/// Ends a call as dropped where it did not end otherwise.
struct Open<'a> {
    ledger: &'a Ledger,
    id: Option<CallId>,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            self.ledger.with(|book| book.end(id, Outcome::Dropped));
        }
    }
}

/// Polls with the call on top of the stack, so that what it causes is known to be its.
pub(crate) fn scoped<T>(ledger: &Ledger, id: CallId, poll: impl FnOnce() -> T) -> T {
    ledger.with(|book| book.stack.push(id));
    let result = poll();
    ledger.with(|book| book.stack.pop());
    result
}

impl Watched {
    async fn call<T: Digest>(
        &self,
        operation: Operation,
        key: Option<&str>,
        write: Option<u32>,
        cx: &OpContext,
        future: impl Future<Output = Result<T, StorageError>>,
    ) -> Result<T, StorageError> {
        let digest = |value: &T| (value.digest(), value.conclusive());
        self.open(operation, key, write, cx, future, digest).await.1
    }

    /// Enters a call; also gives its number, for a stream that goes on with it.
    async fn open<T>(
        &self,
        operation: Operation,
        key: Option<&str>,
        write: Option<u32>,
        cx: &OpContext,
        future: impl Future<Output = Result<T, StorageError>>,
        digest: impl FnOnce(&T) -> (u64, bool),
    ) -> (CallId, Result<T, StorageError>) {
        let id = self.ledger.begin(NewCall {
            target: self.target,
            operation,
            key,
            write,
            deadline: cx.deadline().map(storage_mux::Instant::as_nanos),
            aborted: cx.is_aborted(),
        });
        let mut open = Open { ledger: &self.ledger, id: Some(id) };
        let result = {
            let mut future = pin!(future);
            poll_fn(|task| scoped(&self.ledger, id, || future.as_mut().poll(task))).await
        };
        open.id = None;
        self.ledger.end(id, &result, digest);
        (id, result)
    }
}

/// The write that a value is of.
fn write_of(bytes: &Bytes) -> Option<u32> {
    origin(bytes).map(|(id, _)| id)
}

#[deny(clippy::missing_trait_methods)]
impl Storage for Watched {
    type Reader = WatchedReader;
    type Writer = WatchedWriter;

    async fn get(&self, key: &str, cx: &OpContext) -> Result<Bytes, StorageError> {
        self.call(Operation::Get, Some(key), None, cx, self.inner.get(key, cx)).await
    }

    async fn set(&self, key: &str, value: Bytes, cx: &OpContext) -> Result<Written, StorageError> {
        let write = write_of(&value);
        self.call(Operation::Set, Some(key), write, cx, self.inner.set(key, value, cx)).await
    }

    async fn set_partial(
        &self,
        key: &str,
        offset: u64,
        bytes: Bytes,
        cx: &OpContext,
    ) -> Result<(), StorageError> {
        let write = write_of(&bytes);
        let future = self.inner.set_partial(key, offset, bytes, cx);
        self.call(Operation::SetPartial, Some(key), write, cx, future).await
    }

    async fn has(&self, key: &str, cx: &OpContext) -> Result<bool, StorageError> {
        self.call(Operation::Has, Some(key), None, cx, self.inner.has(key, cx)).await
    }

    async fn delete(&self, key: &str, cx: &OpContext) -> Result<(), StorageError> {
        self.call(Operation::Delete, Some(key), None, cx, self.inner.delete(key, cx)).await
    }

    async fn list(
        &self,
        prefix: &str,
        page: &PageRequest,
        cx: &OpContext,
    ) -> Result<Page, StorageError> {
        self.call(Operation::List, None, None, cx, self.inner.list(prefix, page, cx)).await
    }

    async fn stat(&self, key: &str, cx: &OpContext) -> Result<Metadata, StorageError> {
        self.call(Operation::Stat, Some(key), None, cx, self.inner.stat(key, cx)).await
    }

    async fn get_stream(&self, key: &str, cx: &OpContext) -> Result<WatchedReader, StorageError> {
        let opening = self.inner.get_stream(key, cx);
        let (id, reader) =
            self.open(Operation::GetStream, Some(key), None, cx, opening, |_| (1, true)).await;
        Ok(WatchedReader::new(self.ledger.clone(), id, reader?))
    }

    async fn set_stream(&self, key: &str, cx: &OpContext) -> Result<WatchedWriter, StorageError> {
        let opening = self.inner.set_stream(key, cx);
        let (id, writer) =
            self.open(Operation::SetStream, Some(key), None, cx, opening, |_| (1, true)).await;
        Ok(WatchedWriter::new(self.ledger.clone(), id, writer?))
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
        self.call(Operation::GetRange, Some(key), None, cx, self.inner.get_range(key, range, cx))
            .await
    }

    async fn set_if(
        &self,
        key: &str,
        value: Bytes,
        condition: Condition,
        cx: &OpContext,
    ) -> Result<Written, StorageError> {
        let write = write_of(&value);
        let future = self.inner.set_if(key, value, condition, cx);
        self.call(Operation::SetIf, Some(key), write, cx, future).await
    }
}
