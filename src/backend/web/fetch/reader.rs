//! The read stream of an answer.

use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use js_sys::{IteratorNext, Uint8Array};
use wasm_bindgen::JsCast;
use web_sys::ReadableStreamDefaultReader;

use super::exchange::Exchange;
use crate::backend::web::bytes::from_host;
use crate::backend::web::faults;
use crate::error::StorageError;
use crate::runtime::wasm::JsFuture;

/// The read stream of a [`FetchStorage`](super::FetchStorage): the body of the answer, in the
/// chunks in which the host hands it over.
///
/// Dropped before its end it aborts the request. An empty value has no chunks.
#[must_use = "a stream does nothing unless it is polled"]
pub struct FetchReader {
    /// Gone once the stream has ended.
    open: Option<Open>,
}

struct Open {
    chunks: ReadableStreamDefaultReader,
    reading: Option<JsFuture>,
    _exchange: Exchange,
}

impl FetchReader {
    pub(super) fn new(exchange: Exchange) -> Self {
        let open = exchange.body().map(|body| Open {
            chunks: body.get_reader().unchecked_into(),
            reading: None,
            _exchange: exchange,
        });
        Self { open }
    }
}

impl Stream for FetchReader {
    type Item = Result<Bytes, StorageError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        while let Some(open) = &mut this.open {
            let chunks = &open.chunks;
            let reading = open.reading.get_or_insert_with(|| chunks.read().into());
            let read = ready!(Pin::new(reading).poll(cx));
            open.reading = None;
            let chunk = match read {
                Ok(read) => taken(read.unchecked_into()),
                Err(thrown) => Err(faults::broken(&thrown)),
            };
            match chunk {
                Ok(Some(chunk)) if chunk.is_empty() => {}
                Ok(Some(chunk)) => return Poll::Ready(Some(Ok(chunk))),
                Ok(None) => this.open = None,
                Err(error) => {
                    this.open = None;
                    return Poll::Ready(Some(Err(error)));
                }
            }
        }
        Poll::Ready(None)
    }
}

/// The chunk of one read; none at the end.
fn taken(read: IteratorNext) -> Result<Option<Bytes>, StorageError> {
    if read.done() {
        return Ok(None);
    }
    let chunk: Uint8Array = read.value().unchecked_into();
    from_host(&chunk).map(Some)
}

impl fmt::Debug for FetchReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FetchReader").field("open", &self.open.is_some()).finish()
    }
}
