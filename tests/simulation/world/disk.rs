//! A leaf: a memory store, and a plain record of what it must hold.

use core::ops::Range;
use core::pin::Pin;
use core::task::{Context, Poll};

use bytes::Bytes;
use futures_sink::Sink;
use storage_mux::{
    Capabilities, Condition, MemoryReader, MemoryStorage, MemoryWriter, Metadata, OpContext, Page,
    PageRequest, Storage, StorageError, Written,
};

use super::ledger::{Book, Ledger};
use super::records::CallId;
use super::values::origin;

#[derive(Clone)]
pub(crate) struct Disk {
    pub(crate) ledger: Ledger,
    pub(crate) at: usize,
    pub(crate) store: MemoryStorage,
}

impl Disk {
    pub(crate) fn new(ledger: &Ledger) -> Self {
        let at = ledger.with(|book| {
            book.disks.push(std::collections::BTreeMap::new());
            book.disks.len() - 1
        });
        Self { ledger: ledger.clone(), at, store: MemoryStorage::new() }
    }

    fn applied(&self, key: &str, bytes: &[u8], change: impl FnOnce(&mut Vec<u8>)) {
        self.ledger.with(|book| {
            change(book.disks[self.at].entry(key.to_owned()).or_default());
            entered(book, self.at, key, origin(bytes).map(|(id, _)| id));
        });
    }

    fn replaced(&self, key: &str, value: &[u8]) {
        self.applied(key, value, |held| *held = value.to_vec());
    }
}

/// A change has reached a disk.
fn entered(book: &mut Book, disk: usize, key: &str, write: Option<u32>) {
    if let Some(write) = write.and_then(|id| book.writes.get_mut(id as usize)) {
        write.applied += 1;
    }
    book.note(&[8, disk as u64, u64::from(write.unwrap_or(0))], key, || {
        format!("disk {disk} changes {key} (write {write:?})")
    });
    let Some(call) = book.stack.last().copied() else {
        return book.violation(format!("disk {disk}: {key} changed by no call"));
    };
    book.calls[call].applied += 1;
    check_visible(book, call);
}

/// A value that is written as a stream is visible once its writer is being closed and not before:
/// at every level up to the caller.
fn check_visible(book: &mut Book, mut id: CallId) {
    loop {
        let call = &book.calls[id];
        let is_stream = call.operation == storage_mux::Operation::SetStream;
        if is_stream && !call.closing {
            let what = book.describe(id);
            return book.violation(format!("{what}: visible before it is closed (SM-2, P-7)"));
        }
        match call.parent {
            Some(parent) => id = parent,
            None => return,
        }
    }
}

impl Storage for Disk {
    type Reader = MemoryReader;
    type Writer = DiskWriter;

    async fn get(&self, key: &str, cx: &OpContext) -> Result<Bytes, StorageError> {
        self.store.get(key, cx).await
    }

    async fn set(&self, key: &str, value: Bytes, cx: &OpContext) -> Result<Written, StorageError> {
        let written = self.store.set(key, value.clone(), cx).await?;
        self.replaced(key, &value);
        Ok(written)
    }

    async fn set_partial(
        &self,
        key: &str,
        offset: u64,
        bytes: Bytes,
        cx: &OpContext,
    ) -> Result<(), StorageError> {
        self.store.set_partial(key, offset, bytes.clone(), cx).await?;
        self.applied(key, &bytes, |held| {
            let from = offset as usize;
            held.resize(held.len().max(from + bytes.len()), 0);
            held[from..from + bytes.len()].copy_from_slice(&bytes);
        });
        Ok(())
    }

    async fn has(&self, key: &str, cx: &OpContext) -> Result<bool, StorageError> {
        self.store.has(key, cx).await
    }

    async fn delete(&self, key: &str, cx: &OpContext) -> Result<(), StorageError> {
        self.store.delete(key, cx).await?;
        self.ledger.with(|book| {
            book.disks[self.at].remove(key);
            entered(book, self.at, key, None);
        });
        Ok(())
    }

    async fn list(
        &self,
        prefix: &str,
        page: &PageRequest,
        cx: &OpContext,
    ) -> Result<Page, StorageError> {
        self.store.list(prefix, page, cx).await
    }

    async fn stat(&self, key: &str, cx: &OpContext) -> Result<Metadata, StorageError> {
        self.store.stat(key, cx).await
    }

    async fn get_stream(&self, key: &str, cx: &OpContext) -> Result<MemoryReader, StorageError> {
        self.store.get_stream(key, cx).await
    }

    async fn set_stream(&self, key: &str, cx: &OpContext) -> Result<DiskWriter, StorageError> {
        let inner = self.store.set_stream(key, cx).await?;
        Ok(DiskWriter { inner, disk: self.clone(), key: key.into(), value: Some(Vec::new()) })
    }

    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    fn depth(&self) -> usize {
        0
    }

    async fn get_range(
        &self,
        key: &str,
        range: Range<u64>,
        cx: &OpContext,
    ) -> Result<Bytes, StorageError> {
        self.store.get_range(key, range, cx).await
    }

    async fn set_if(
        &self,
        key: &str,
        value: Bytes,
        condition: Condition,
        cx: &OpContext,
    ) -> Result<Written, StorageError> {
        let written = self.store.set_if(key, value.clone(), condition, cx).await?;
        self.replaced(key, &value);
        Ok(written)
    }
}

pub(crate) struct DiskWriter {
    inner: MemoryWriter,
    disk: Disk,
    key: String,
    /// What was sent so far; none once it is closed.
    value: Option<Vec<u8>>,
}

impl Sink<Bytes> for DiskWriter {
    type Error = StorageError;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        Pin::new(&mut self.get_mut().inner).poll_ready(cx)
    }

    fn start_send(self: Pin<&mut Self>, item: Bytes) -> Result<(), StorageError> {
        let this = self.get_mut();
        if let Some(value) = &mut this.value {
            value.extend_from_slice(&item);
        }
        Pin::new(&mut this.inner).start_send(item)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        Pin::new(&mut self.get_mut().inner).poll_flush(cx)
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        let this = self.get_mut();
        let result = Pin::new(&mut this.inner).poll_close(cx);
        if let (Poll::Ready(Ok(())), Some(value)) = (&result, this.value.take()) {
            this.disk.replaced(&this.key, &value);
        }
        result
    }
}
