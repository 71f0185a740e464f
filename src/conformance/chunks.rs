//! The steps of streams: reading to the end, sending, closing.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::future::poll_fn;
use core::pin::Pin;

use bytes::Bytes;
use futures_core::Stream;
use futures_sink::Sink;

use super::report::{Deviation, Verdict};
use super::subject::{Subject, same_bytes, shown, succeeds};
use crate::error::StorageError;
use crate::port::LocalStorage;

/// The next item of a read stream.
pub(super) async fn next<R>(reader: &mut R) -> Option<Result<Bytes, StorageError>>
where
    R: Stream<Item = Result<Bytes, StorageError>> + Unpin,
{
    poll_fn(|cx| Pin::new(&mut *reader).poll_next(cx)).await
}

/// Sends one chunk and flushes it as far as the sink will.
pub(super) async fn send<W>(writer: &mut W, chunk: &[u8]) -> Result<(), StorageError>
where
    W: Sink<Bytes, Error = StorageError> + Unpin,
{
    poll_fn(|cx| Pin::new(&mut *writer).poll_ready(cx)).await?;
    Pin::new(&mut *writer).start_send(Bytes::copy_from_slice(chunk))?;
    poll_fn(|cx| Pin::new(&mut *writer).poll_flush(cx)).await
}

/// Closes a write stream.
pub(super) async fn close<W>(writer: &mut W) -> Result<(), StorageError>
where
    W: Sink<Bytes, Error = StorageError> + Unpin,
{
    poll_fn(|cx| Pin::new(&mut *writer).poll_close(cx)).await
}

impl<S: LocalStorage> Subject<'_, S> {
    /// A write stream with these chunks in it, not closed.
    pub(super) async fn opened(&self, key: &str, chunks: &[&[u8]]) -> Verdict<S::Writer> {
        let opened = self.storage.set_stream(key, &self.cx).await;
        let mut writer = succeeds(opened, || format!("set_stream({key:?})"))?;
        for chunk in chunks {
            succeeds(send(&mut writer, chunk).await, || sent(key, chunk))?;
        }
        Ok(writer)
    }

    /// Closes a write stream that [`opened`](Self::opened) gave.
    pub(super) async fn closed(&self, key: &str, mut writer: S::Writer) -> Verdict {
        succeeds(close(&mut writer).await, || format!("closing set_stream({key:?})"))
    }

    /// Writes these chunks through a write stream.
    pub(super) async fn stream_in(&self, key: &str, chunks: &[&[u8]]) -> Verdict {
        let writer = self.opened(key, chunks).await?;
        self.closed(key, writer).await
    }

    /// A read stream must give the bytes of this value and end. The stream is handed back.
    pub(super) async fn streams_out(&self, key: &str, value: &[u8]) -> Verdict<S::Reader> {
        let step = || format!("get_stream({key:?}) to its end");
        let mut reader = succeeds(self.storage.get_stream(key, &self.cx).await, step)?;
        let mut found = Vec::new();
        // Room for empty chunks, and an end for a stream of nothing else.
        for _ in 0..value.len().saturating_add(100) {
            let Some(chunk) = next(&mut reader).await else {
                same_bytes(&found, value, step)?;
                return Ok(reader);
            };
            found.extend_from_slice(&succeeds(chunk, step)?);
            if found.len() > value.len() {
                break;
            }
        }
        Err(Deviation::new(step(), shown(value), format!("{} and more chunks", shown(&found))))
    }
}

fn sent(key: &str, chunk: &[u8]) -> String {
    format!("sending {} to set_stream({key:?})", shown(chunk))
}
