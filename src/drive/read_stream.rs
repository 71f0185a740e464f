//! The read stream of a mux: fixed to the backend that gave its first chunk.

use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;

use super::observe::CallSpan;
use super::stream_watch::{StreamEnd, StreamWatch};
use super::{Call, Engine, GetStream};
use crate::error::StorageError;
use crate::mode::{Plan, plan};
use crate::port::{Clock, LocalStorage, Operation};
use crate::rng::Rng;
use crate::sync::Arc;

/// The stream that [`get_stream`](LocalStorage::get_stream) of a mux gives.
///
/// Up to the first chunk the call fell through to other backends as `get` does; from there on it
/// stays with one. A stream that breaks gives one error and then ends: never a clean end with
/// bytes missing. The backend timeout applies between chunks. The call counts as in flight until
/// the stream ends or is dropped; dropping it is safe at any time.
pub struct MuxReader<S: LocalStorage, C: Clock, R: Rng> {
    first: Option<Bytes>,
    /// The backend's stream ended before its first chunk. It must not be polled again.
    is_empty: bool,
    /// Gone once the stream has ended.
    reader: Option<S::Reader>,
    watch: StreamWatch<S, C, R>,
    /// Ends after the attempt's own span.
    span: Option<CallSpan>,
}

impl<S: LocalStorage, C: Clock, R: Rng> Call<'_, S, C, R> {
    /// Opens a read stream by the driver that the mode chooses.
    pub(crate) async fn open_reader(
        mut self,
        shared: &Arc<Engine<S, C, R>>,
        request: &GetStream<'_>,
    ) -> Result<MuxReader<S, C, R>, StorageError> {
        let (open, (attempt, cx)) = match plan(self.engine.settings.mode, Operation::GetStream) {
            Plan::Race => self.race(request).await?.keep(shared),
            Plan::InTurn | Plan::Settle(_) => {
                self.in_turn(request, |attempt, open| (open, attempt.keep(shared))).await?
            }
        };
        let watch = StreamWatch::new(attempt, self.signal.clone(), cx);
        let span = Some(core::mem::take(&mut self.span));
        // A stream that ended before it began still ends through the stream, where it is booked.
        let is_empty = open.first.is_none();
        Ok(MuxReader { first: open.first, is_empty, reader: Some(open.reader), watch, span })
    }
}

impl<S: LocalStorage, C: Clock, R: Rng> Stream for MuxReader<S, C, R> {
    type Item = Result<Bytes, StorageError>;

    fn poll_next(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let Some(reader) = &mut this.reader else { return Poll::Ready(None) };
        if let Some(end) = this.watch.check() {
            return this.fail(end);
        }
        if let Some(first) = this.first.take() {
            return Poll::Ready(Some(Ok(first)));
        }
        let next = if this.is_empty { Poll::Ready(None) } else { Pin::new(reader).poll_next(task) };
        match next {
            Poll::Ready(Some(Ok(chunk))) => {
                this.watch.on_progress();
                Poll::Ready(Some(Ok(chunk)))
            }
            Poll::Ready(Some(Err(error))) => this.fail(StreamEnd::Failed(error)),
            Poll::Ready(None) => {
                this.reader = None;
                this.watch.end_ok();
                this.span = None;
                Poll::Ready(None)
            }
            Poll::Pending => match this.watch.poll_wait(task) {
                Poll::Ready(end) => this.fail(end),
                Poll::Pending => Poll::Pending,
            },
        }
    }
}

impl<S: LocalStorage, C: Clock, R: Rng> MuxReader<S, C, R> {
    fn fail(&mut self, end: StreamEnd) -> Poll<Option<Result<Bytes, StorageError>>> {
        self.reader = None;
        self.first = None;
        let (outcome, error) = self.watch.end_broken(end);
        self.span = None;
        Poll::Ready(Some(Err(self.watch.blame(outcome, error))))
    }
}

impl<S: LocalStorage, C: Clock, R: Rng> fmt::Debug for MuxReader<S, C, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MuxReader").field("ended", &self.reader.is_none()).finish_non_exhaustive()
    }
}
