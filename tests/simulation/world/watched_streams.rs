//! The streams of a watched storage.

use core::pin::Pin;
use core::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use futures_sink::Sink;
use storage_mux::{SharedStorage, Storage, StorageError, classify};

use super::judge;
use super::ledger::{Book, Ledger, is_trouble};
use super::records::{CallId, Target};
use super::values::origin;
use super::watched::scoped;

type Reader = <SharedStorage as Storage>::Reader;
type Writer = <SharedStorage as Storage>::Writer;

/// The place of a stream in the book. Dropping it ends it.
struct Place {
    ledger: Ledger,
    id: CallId,
    open: bool,
}

impl Place {
    fn end(&mut self, numbers: &[u64], text: &str, then: impl FnOnce(&mut Book, CallId)) {
        if !core::mem::take(&mut self.open) {
            return;
        }
        let id = self.id;
        self.ledger.with(|book| {
            book.calls[id].stream_open = false;
            book.note(numbers, text, || format!("#{id} stream ends: {text}"));
            book.leave(id);
            then(book, id);
        });
    }

    fn moved(&self) {
        self.ledger.with(|book| {
            let time = book.time();
            book.calls[self.id].moved_at = time;
        });
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.end(&[4], "dropped", trouble);
    }
}

/// Somebody had trouble with the backend of a stream, or may have had.
fn trouble(book: &mut Book, id: CallId) {
    if let Target::Edge(edge) = book.calls[id].target {
        book.edges[edge].trouble = Some(book.seq);
    }
}

pub(crate) struct WatchedReader {
    /// Gone before the place is: whoever sees the place gone must find nothing held.
    inner: Option<Reader>,
    place: Place,
}

impl WatchedReader {
    pub(super) fn new(ledger: Ledger, id: CallId, inner: Reader) -> Self {
        Self { inner: Some(inner), place: Place { ledger, id, open: true } }
    }
}

impl Drop for WatchedReader {
    fn drop(&mut self) {
        drop(self.inner.take());
    }
}

impl Stream for WatchedReader {
    type Item = Result<Bytes, StorageError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let Some(inner) = &mut this.inner else { return Poll::Ready(None) };
        let (ledger, id) = (&this.place.ledger, this.place.id);
        let item = scoped(ledger, id, || inner.as_mut().poll_next(cx));
        match &item {
            Poll::Pending => {}
            Poll::Ready(Some(Ok(chunk))) => {
                let digest = super::values::Digest::digest(chunk);
                ledger.with(|book| {
                    book.note(&[3, id as u64, digest], "", || {
                        format!("#{id} chunk of {} bytes", chunk.len())
                    });
                });
                this.place.moved();
            }
            Poll::Ready(end) => {
                this.inner = None;
                let error = end.as_ref().and_then(|end| end.as_ref().err());
                let failed = error.is_some_and(|error| is_trouble(classify(error)));
                let text = error.map_or("", StorageError::code);
                this.place.end(&[5, id as u64], text, |book, id| {
                    if failed {
                        trouble(book, id);
                    }
                });
            }
        }
        item
    }
}

pub(crate) struct WatchedWriter {
    inner: Option<Writer>,
    place: Place,
}

impl WatchedWriter {
    pub(super) fn new(ledger: Ledger, id: CallId, inner: Writer) -> Self {
        Self { inner: Some(inner), place: Place { ledger, id, open: true } }
    }

    fn step(
        &mut self,
        step: impl FnOnce(Pin<&mut Writer>) -> Poll<Result<(), StorageError>>,
    ) -> Poll<Result<(), StorageError>> {
        let Some(inner) = &mut self.inner else { return Poll::Ready(Ok(())) };
        let result = scoped(&self.place.ledger, self.place.id, || step(Pin::new(inner)));
        match &result {
            Poll::Ready(Err(error)) => self.fail(error),
            Poll::Ready(Ok(())) => self.place.moved(),
            Poll::Pending => {}
        }
        result
    }

    fn fail(&mut self, error: &StorageError) {
        self.inner = None;
        let failed = is_trouble(classify(error));
        let code = error.code();
        self.place.end(&[6, self.place.id as u64], code, |book, id| {
            if failed {
                trouble(book, id);
            }
            book.calls[id].stream_code = code;
            judge::failed_write_stream(book, id, code);
        });
    }
}

impl Drop for WatchedWriter {
    fn drop(&mut self) {
        drop(self.inner.take());
    }
}

impl Sink<Bytes> for WatchedWriter {
    type Error = StorageError;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        self.get_mut().step(|inner| Sink::poll_ready(inner, cx))
    }

    fn start_send(self: Pin<&mut Self>, item: Bytes) -> Result<(), StorageError> {
        let this = self.get_mut();
        let Some(inner) = &mut this.inner else { return Ok(()) };
        let (ledger, id) = (&this.place.ledger, this.place.id);
        if let Some((write, _)) = origin(&item) {
            ledger.with(|book| book.calls[id].write = Some(write));
        }
        let result = scoped(ledger, id, || Pin::new(inner).start_send(item));
        if let Err(error) = &result {
            this.fail(error);
        }
        result
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        self.get_mut().step(|inner| Sink::poll_flush(inner, cx))
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        let this = self.get_mut();
        let id = this.place.id;
        this.place.ledger.with(|book| book.calls[id].closing = true);
        let result = this.step(|inner| Sink::poll_close(inner, cx));
        if matches!(result, Poll::Ready(Ok(()))) && this.inner.take().is_some() {
            this.place.end(&[7, id as u64], "closed", |book, id| {
                book.calls[id].closed = true;
                judge::closed_write_stream(book, id);
            });
        }
        result
    }
}
