//! The write stream of a mux: fixed to the backend that took its first chunk.

use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll};

use bytes::Bytes;
use futures_sink::Sink;

use super::stream_watch::{StreamEnd, StreamWatch};
use super::{Call, Engine, SetStream};
use crate::error::StorageError;
use crate::port::{Clock, LocalStorage};
use crate::rng::Rng;
use crate::sync::Arc;

/// The sink that [`set_stream`](LocalStorage::set_stream) of a mux gives.
///
/// Up to the first chunk the call fell through to other backends as `set` does; from there on a
/// failure is final, since the chunks are gone: the error is returned, again for every further use,
/// and nothing becomes visible. (A close that fails or times out may have stored the value all the
/// same; only the backend knows.) The backend timeout applies to each wait. The call counts as in
/// flight until the sink is closed, fails or is dropped; a dropped sink stores nothing.
pub struct MuxWriter<S: LocalStorage, C: Clock, R: Rng> {
    state: State<S::Writer>,
    watch: StreamWatch<S, C, R>,
}

enum State<W> {
    Open(W),
    Closed,
    Failed(StorageError),
}

impl<S: LocalStorage, C: Clock, R: Rng> Call<'_, S, C, R> {
    /// Opens a write stream by the driver that the mode chooses.
    pub(crate) async fn open_writer(
        mut self,
        shared: &Arc<Engine<S, C, R>>,
        request: &SetStream<'_>,
    ) -> Result<MuxWriter<S, C, R>, StorageError> {
        let (writer, cx, attempt) = self.in_turn(request).await?.keep(shared);
        let span = core::mem::take(&mut self.span);
        let watch = StreamWatch::new(attempt, self.signal.clone(), cx, span);
        Ok(MuxWriter { state: State::Open(writer), watch })
    }
}

impl<S: LocalStorage, C: Clock, R: Rng> MuxWriter<S, C, R> {
    /// Lets the backend's sink take a step, under the caller's abort and the clock.
    fn step(
        &mut self,
        task: &mut Context<'_>,
        step: impl FnOnce(Pin<&mut S::Writer>, &mut Context<'_>) -> Poll<Result<(), StorageError>>,
    ) -> Poll<Result<(), StorageError>> {
        let writer = match &mut self.state {
            State::Open(writer) => writer,
            State::Closed => return Poll::Ready(Err(closed())),
            State::Failed(error) => return Poll::Ready(Err(error.clone())),
        };
        if let Some(end) = self.watch.check() {
            return Poll::Ready(self.fail(end));
        }
        match step(Pin::new(writer), task) {
            Poll::Ready(Ok(())) => {
                self.watch.on_progress();
                Poll::Ready(Ok(()))
            }
            Poll::Ready(Err(error)) => Poll::Ready(self.fail(StreamEnd::Failed(error))),
            Poll::Pending => match self.watch.poll_wait(task) {
                Poll::Ready(end) => Poll::Ready(self.fail(end)),
                Poll::Pending => Poll::Pending,
            },
        }
    }

    /// Drops the backend's sink, so that nothing becomes visible, and remembers why.
    fn fail(&mut self, end: StreamEnd) -> Result<(), StorageError> {
        self.state = State::Closed;
        let error = self.watch.end_broken(end);
        self.state = State::Failed(error.clone());
        Err(error)
    }
}

fn closed() -> StorageError {
    StorageError::other("the write stream is closed; open another")
}

impl<S: LocalStorage, C: Clock, R: Rng> Sink<Bytes> for MuxWriter<S, C, R> {
    type Error = StorageError;

    fn poll_ready(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        self.get_mut().step(task, |writer, task| writer.poll_ready(task))
    }

    fn start_send(self: Pin<&mut Self>, chunk: Bytes) -> Result<(), StorageError> {
        let this = self.get_mut();
        match &mut this.state {
            State::Open(writer) => match Pin::new(writer).start_send(chunk) {
                Ok(()) => Ok(()),
                Err(error) => this.fail(StreamEnd::Failed(error)),
            },
            State::Closed => Err(closed()),
            State::Failed(error) => Err(error.clone()),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        self.get_mut().step(task, |writer, task| writer.poll_flush(task))
    }

    fn poll_close(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        let this = self.get_mut();
        if matches!(this.state, State::Closed) {
            return Poll::Ready(Ok(()));
        }
        let closed = this.step(task, |writer, task| writer.poll_close(task));
        if matches!(closed, Poll::Ready(Ok(()))) {
            this.state = State::Closed;
            this.watch.end_ok();
        }
        closed
    }
}

impl<S: LocalStorage, C: Clock, R: Rng> fmt::Debug for MuxWriter<S, C, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            State::Open(_) => "open",
            State::Closed => "closed",
            State::Failed(_) => "failed",
        };
        f.debug_struct("MuxWriter").field("state", &state).finish_non_exhaustive()
    }
}
