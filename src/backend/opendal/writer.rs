//! The write stream: through the service's own writer, or collected and written at the close.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll, ready};

use ::opendal::{Operator, Writer};
use bytes::Bytes;
use futures_sink::Sink;

use super::errors::write_error;
use super::settings::Settings;
use crate::backend::value::too_long;
use crate::error::StorageError;
use crate::port::SendFuture;
use crate::runtime::in_background;

/// The write stream of an [`OpendalBackend`](super::OpendalBackend).
///
/// Nothing is visible before the close. Where the service's writer keeps what it got out of sight,
/// each chunk goes to it, one at a time, and the sink is not ready for more until it was taken: in
/// memory are one chunk and what the service itself needs to make up a part. Else the chunks are
/// collected and written in one piece at the close, up to
/// [a limit](super::OpendalBackend::with_max_collected_bytes) past which the stream fails.
///
/// After an error every call gives that error again, and the service was told to drop what it got.
///
/// # Dropping it
///
/// Dropped before its close the stream leaves nothing visible. To tell the service takes a request,
/// which a drop cannot wait for: it runs
/// [in the background](super::OpendalBackend::with_executor) where there is one; else parts that
/// were stored stay out of sight until the service removes them. Dropped while it closes, the value
/// may or may not become visible.
#[must_use = "a sink stores nothing unless it is closed"]
pub struct OpendalWriter {
    target: Target,
    state: State,
}

/// Where the value goes.
#[derive(Clone)]
struct Target {
    operator: Operator,
    settings: Settings,
    name: String,
}

enum State {
    /// All there is so far is in memory.
    Collected(Vec<u8>),
    /// The service's writer waits for a chunk, and may hold some already.
    Ready(Box<Writer>, bool),
    /// The service's writer is at work on a chunk.
    Busy(Write),
    /// The last step of all: ends as closed or as failed.
    Ending(SendFuture<'static, ()>),
    Closed,
    Failed(StorageError),
}

type Write = Pin<Box<dyn Future<Output = (Box<Writer>, ::opendal::Result<()>)> + Send>>;

impl OpendalWriter {
    /// # Errors
    ///
    /// Those of the service, where its writer cannot be opened.
    pub(super) async fn open(
        operator: Operator,
        settings: Settings,
        name: String,
    ) -> Result<Self, StorageError> {
        let state = match settings.streams(&operator) {
            true => {
                let writer = operator.writer(&name).await.map_err(write_error)?;
                State::Ready(Box::new(writer), false)
            }
            false => State::Collected(Vec::new()),
        };
        Ok(Self { target: Target { operator, settings, name }, state })
    }

    /// Goes on until the next chunk is welcome.
    fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        loop {
            self.state = match &mut self.state {
                State::Collected(_) | State::Ready(..) => return Poll::Ready(Ok(())),
                State::Closed => return Poll::Ready(Err(closed())),
                State::Failed(error) => return Poll::Ready(Err(error.clone())),
                State::Busy(write) => match ready!(write.as_mut().poll(cx)) {
                    (writer, Ok(())) => State::Ready(writer, true),
                    (writer, Err(error)) => State::Ending(given_up(writer, write_error(error))),
                },
                State::Ending(_) => {
                    ready!(self.poll_end(cx))?;
                    continue;
                }
            };
        }
    }

    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        if let State::Ending(ending) = &mut self.state {
            self.state = match ready!(ending.as_mut().poll(cx)) {
                Ok(()) => State::Closed,
                Err(error) => State::Failed(error),
            };
        }
        match &self.state {
            State::Failed(error) => Poll::Ready(Err(error.clone())),
            _ => Poll::Ready(Ok(())),
        }
    }

    /// Begins the last step.
    fn end(&mut self) {
        self.state = match core::mem::replace(&mut self.state, State::Closed) {
            State::Collected(value) => State::Ending(self.target.put(value.into())),
            State::Ready(writer, _) => State::Ending(self.target.complete(writer)),
            other => other,
        };
    }
}

impl Target {
    fn put(&self, value: Bytes) -> SendFuture<'static, ()> {
        let Self { operator, settings, name } = self.clone();
        Box::pin(async move {
            settings.probe().await?;
            operator.write(&name, value).await.map(drop).map_err(write_error)
        })
    }

    fn complete(&self, mut writer: Box<Writer>) -> SendFuture<'static, ()> {
        let settings = self.settings.clone();
        Box::pin(async move {
            if let Err(error) = settings.probe().await {
                return given_up(writer, error).await;
            }
            match writer.close().await {
                Ok(_) => Ok(()),
                Err(error) => given_up(writer, write_error(error)).await,
            }
        })
    }

    /// Has the service's writer given up by whoever can wait for it.
    fn abandon(&self, work: impl Future<Output = ()> + Send + 'static) {
        match &self.settings.executor {
            Some(executor) => executor.clone().into_inner().execute(Box::pin(work)),
            None => in_background(work),
        }
    }
}

/// Tells the service that nothing more comes. What went wrong first is what counts.
fn given_up(mut writer: Box<Writer>, error: StorageError) -> SendFuture<'static, ()> {
    Box::pin(async move {
        let _ = writer.abort().await;
        Err(error)
    })
}

fn closed() -> StorageError {
    StorageError::http(409).with_detail("the write stream is closed already")
}

impl Sink<Bytes> for OpendalWriter {
    type Error = StorageError;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        self.get_mut().poll_idle(cx)
    }

    fn start_send(self: Pin<&mut Self>, chunk: Bytes) -> Result<(), StorageError> {
        let this = self.get_mut();
        let limit = this.target.settings.max_collected_bytes;
        match core::mem::replace(&mut this.state, State::Closed) {
            State::Collected(mut value) => {
                let error = if (value.len() as u64).saturating_add(chunk.len() as u64) > limit {
                    Some(too_long(limit))
                } else {
                    value.try_reserve(chunk.len()).err().map(|_| StorageError::http(507))
                };
                if let Some(error) = error {
                    this.state = State::Failed(error.clone());
                    return Err(error);
                }
                value.extend_from_slice(&chunk);
                this.state = State::Collected(value);
                Ok(())
            }
            // An empty chunk is nothing to tell the service of.
            State::Ready(writer, begun) if chunk.is_empty() => {
                this.state = State::Ready(writer, begun);
                Ok(())
            }
            State::Ready(mut writer, _) => {
                this.state = State::Busy(Box::pin(async move {
                    let result = writer.write(chunk).await;
                    (writer, result)
                }));
                Ok(())
            }
            State::Failed(error) => {
                this.state = State::Failed(error.clone());
                Err(error)
            }
            other => {
                let error = match other {
                    State::Busy(_) => StorageError::http(409).with_detail("the sink is not ready"),
                    _ => closed(),
                };
                this.state = other;
                Err(error)
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        let this = self.get_mut();
        match this.state {
            State::Closed => Poll::Ready(Ok(())),
            _ => this.poll_idle(cx),
        }
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        let this = self.get_mut();
        if !matches!(this.state, State::Ending(_) | State::Closed) {
            ready!(this.poll_idle(cx))?;
            this.end();
        }
        this.poll_end(cx)
    }
}

impl Drop for OpendalWriter {
    /// Has the service told, where it holds a part of a value that nobody will close.
    fn drop(&mut self) {
        match core::mem::replace(&mut self.state, State::Closed) {
            State::Ready(mut writer, true) => self.target.abandon(async move {
                let _ = writer.abort().await;
            }),
            State::Busy(write) => self.target.abandon(async move {
                let (mut writer, _) = write.await;
                let _ = writer.abort().await;
            }),
            _ => {}
        }
    }
}

impl fmt::Debug for OpendalWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &self.state {
            State::Collected(_) => "collected",
            State::Ready(..) => "ready",
            State::Busy(_) => "busy",
            State::Ending(_) => "ending",
            State::Closed => "closed",
            State::Failed(_) => "failed",
        };
        f.debug_struct("OpendalWriter")
            .field("name", &self.target.name)
            .field("state", &state)
            .finish_non_exhaustive()
    }
}
