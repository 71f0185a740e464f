//! The write stream: small values as one put, large ones as an upload in parts.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll, ready};

use ::object_store::path::Path;
use ::object_store::{
    MultipartUpload, ObjectStore, ObjectStoreExt, PutPayload, PutPayloadMut, UploadPart,
};
use bytes::Bytes;
use futures_sink::Sink;

use super::errors::write_error;
use super::settings::Settings;
use crate::error::StorageError;
use crate::port::SendFuture;
use crate::runtime::in_background;
use crate::sync::Arc;

/// A chunk of at least this many bytes is kept as it came. Smaller ones are copied together, so
/// that what they are slices of does not stay in memory.
const KEPT_CHUNK_BYTES: usize = 64 * 1024;

/// The write stream of an [`ObjectStoreBackend`](super::ObjectStoreBackend).
///
/// Nothing is visible before the close. A value shorter than a part is put at the close, whole; a
/// longer one becomes an upload in parts of equal size, which the close completes. In memory are,
/// beside the chunk that was sent last, at most one part that fills and the parts in flight: with
/// the default settings 15 MiB. The sink is not ready for more until there is room.
///
/// Flushing waits for the parts in flight. What fills a part only in part stays here until more
/// comes or the stream is closed, as stores refuse short parts in the middle.
///
/// After an error every call gives that error again, and the upload has been aborted.
///
/// # Dropping it
///
/// Dropped before its close the stream leaves nothing visible. Aborting an upload takes a request,
/// which a drop cannot wait for: within a tokio runtime (feature `tokio`) a task sends it; else, or
/// where the program ends first, parts that were stored stay out of sight until the store removes
/// them, as `LocalFileSystem` does at once and a bucket does by a lifecycle rule for incomplete
/// uploads, which every bucket should have. Dropped while it closes, the value may or may not
/// become visible, but never by half.
#[must_use = "a sink stores nothing unless it is closed"]
pub struct ObjectStoreWriter<S> {
    target: Target<S>,
    /// The part that fills.
    part: PutPayloadMut,
    /// What the part has no room for yet of the chunk sent last.
    rest: Bytes,
    state: State,
}

/// Where the value goes.
struct Target<S> {
    store: Arc<S>,
    settings: Settings,
    path: Path,
}

enum State {
    /// All there is so far is in memory.
    Small,
    /// An upload is being begun.
    Opening(SendFuture<'static, Box<dyn MultipartUpload>>),
    /// The upload goes on, with these parts in flight.
    Open(Box<dyn MultipartUpload>, Vec<UploadPart>),
    /// The last step of all: ends as closed or as failed.
    Ending(SendFuture<'static, ()>),
    Closed,
    Failed(StorageError),
}

impl<S: ObjectStore> ObjectStoreWriter<S> {
    pub(super) fn new(store: Arc<S>, settings: Settings, path: Path) -> Self {
        Self {
            target: Target { store, settings, path },
            part: PutPayloadMut::new(),
            rest: Bytes::new(),
            state: State::Small,
        }
    }

    /// Sends parts until there is room for another chunk.
    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        loop {
            self.poll_parts(cx);
            match &mut self.state {
                State::Opening(opening) => {
                    self.state = match ready!(opening.as_mut().poll(cx)) {
                        Ok(upload) => State::Open(upload, Vec::new()),
                        Err(error) => State::Failed(error),
                    };
                    continue;
                }
                State::Ending(_) => ready!(self.poll_end(cx))?,
                State::Closed => return Poll::Ready(Err(closed())),
                State::Failed(error) => return Poll::Ready(Err(error.clone())),
                State::Small | State::Open(..) => {}
            }
            self.fill();
            if self.part.content_length() < self.target.settings.part_bytes {
                return Poll::Ready(Ok(()));
            }
            if !self.send_part() {
                return Poll::Pending;
            }
        }
    }

    /// Polls the parts in flight. The first that fails ends the upload.
    fn poll_parts(&mut self, cx: &mut Context<'_>) {
        let State::Open(_, parts) = &mut self.state else { return };
        let mut failure = None;
        parts.retain_mut(|part| match part.as_mut().poll(cx) {
            Poll::Pending => true,
            Poll::Ready(result) => {
                failure = failure.take().or(result.err());
                false
            }
        });
        if let Some(error) = failure {
            self.abort(write_error(error));
        }
    }

    /// Moves as much into the part as it has room for.
    fn fill(&mut self) {
        let room = self.target.settings.part_bytes.saturating_sub(self.part.content_length());
        let chunk = self.rest.split_to(self.rest.len().min(room));
        if chunk.len() < KEPT_CHUNK_BYTES {
            self.part.extend_from_slice(&chunk);
        } else {
            self.part.push(chunk);
        }
    }

    /// Takes the next step towards sending the part. False where that must wait for another part.
    fn send_part(&mut self) -> bool {
        match &mut self.state {
            State::Small => self.state = State::Opening(self.target.open()),
            State::Open(upload, parts) if parts.len() < self.target.settings.parts_in_flight => {
                parts.push(upload.put_part(core::mem::take(&mut self.part).into()));
            }
            State::Open(..) => return false,
            _ => {}
        }
        true
    }

    /// Gives the upload up. The error is told once the store has heard of it.
    fn abort(&mut self, error: StorageError) {
        let state = core::mem::replace(&mut self.state, State::Failed(error.clone()));
        if let State::Open(mut upload, parts) = state {
            drop(parts);
            self.state = State::Ending(Box::pin(async move {
                // What went wrong first is what counts.
                let _ = upload.abort().await;
                Err(error)
            }));
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

    /// Begins the last step, all parts having arrived.
    fn end(&mut self) {
        let rest = core::mem::take(&mut self.part);
        self.state = match core::mem::replace(&mut self.state, State::Closed) {
            State::Small => State::Ending(self.target.put(rest.into())),
            State::Open(upload, _) => State::Ending(complete(upload)),
            other => other,
        };
    }
}

impl<S: ObjectStore> Target<S> {
    fn open(&self) -> SendFuture<'static, Box<dyn MultipartUpload>> {
        let Self { store, settings, path } = self.clone();
        Box::pin(async move {
            settings.probe().await?;
            store.put_multipart(&path).await.map_err(write_error)
        })
    }

    fn put(&self, value: PutPayload) -> SendFuture<'static, ()> {
        let Self { store, settings, path } = self.clone();
        Box::pin(async move {
            settings.probe().await?;
            store.put(&path, value).await.map(drop).map_err(write_error)
        })
    }
}

impl<S> Clone for Target<S> {
    fn clone(&self) -> Self {
        Self { store: self.store.clone(), settings: self.settings.clone(), path: self.path.clone() }
    }
}

fn complete(mut upload: Box<dyn MultipartUpload>) -> SendFuture<'static, ()> {
    Box::pin(async move {
        let Err(error) = upload.complete().await else { return Ok(()) };
        let _ = upload.abort().await;
        Err(write_error(error))
    })
}

fn closed() -> StorageError {
    StorageError::http(409).with_detail("the write stream is closed already")
}

impl<S: ObjectStore> Sink<Bytes> for ObjectStoreWriter<S> {
    type Error = StorageError;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        self.get_mut().poll_room(cx)
    }

    fn start_send(self: Pin<&mut Self>, chunk: Bytes) -> Result<(), StorageError> {
        let this = self.get_mut();
        match &this.state {
            State::Failed(error) => return Err(error.clone()),
            State::Closed | State::Ending(_) => return Err(closed()),
            State::Small | State::Opening(_) | State::Open(..) => {}
        }
        // Empty, unless the sink was not asked whether it is ready. Then the part grows.
        this.part.push(core::mem::replace(&mut this.rest, chunk));
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        let this = self.get_mut();
        if matches!(this.state, State::Closed) {
            return Poll::Ready(Ok(()));
        }
        ready!(this.poll_room(cx))?;
        match &this.state {
            State::Open(_, parts) if !parts.is_empty() => Poll::Pending,
            _ => Poll::Ready(Ok(())),
        }
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), StorageError>> {
        let this = self.get_mut();
        loop {
            if matches!(this.state, State::Ending(_) | State::Closed) {
                return this.poll_end(cx);
            }
            ready!(this.poll_room(cx))?;
            if matches!(this.state, State::Open(..)) && !this.part.is_empty() {
                if !this.send_part() {
                    return Poll::Pending;
                }
                continue;
            }
            match &this.state {
                State::Open(_, parts) if !parts.is_empty() => return Poll::Pending,
                _ => this.end(),
            }
        }
    }
}

impl<S> Drop for ObjectStoreWriter<S> {
    /// Has an upload that nobody will complete aborted, one that is just being begun included.
    fn drop(&mut self) {
        match core::mem::replace(&mut self.state, State::Closed) {
            State::Open(mut upload, parts) => {
                drop(parts);
                in_background(async move { drop(upload.abort().await) });
            }
            State::Opening(opening) => in_background(async move {
                if let Ok(mut upload) = opening.await {
                    drop(upload.abort().await);
                }
            }),
            State::Small | State::Ending(_) | State::Closed | State::Failed(_) => {}
        }
    }
}

impl<S> fmt::Debug for ObjectStoreWriter<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &self.state {
            State::Small => "small",
            State::Opening(_) => "opening",
            State::Open(..) => "open",
            State::Ending(_) => "ending",
            State::Closed => "closed",
            State::Failed(_) => "failed",
        };
        f.debug_struct("ObjectStoreWriter")
            .field("path", &self.target.path)
            .field("state", &state)
            .finish_non_exhaustive()
    }
}
