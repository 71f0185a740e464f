//! An upload in parts, over one write stream.

use alloc::boxed::Box;
use core::fmt;
use core::future::poll_fn;

use async_trait::async_trait;

use super::api;
use super::api::{MultipartUpload, PutPayload, PutResult, Result, UploadPart};
use super::errors::foreign;
use super::queue::{Goal, Queue};
use crate::error::StorageError;
use crate::port::BoxWriter;
use crate::sync::Arc;

/// An upload. The stream behind it sees the parts in the order in which they were handed over.
///
/// Every part that was handed over belongs to the value, awaited or not. Dropped before it is
/// complete, the upload drops the stream, parts under way included.
pub(super) struct Upload {
    queue: Arc<Queue>,
    path: Arc<str>,
}

impl Upload {
    pub(super) fn new(writer: BoxWriter, path: &str) -> Self {
        Self { queue: Arc::new(Queue::new(writer)), path: Arc::from(path) }
    }
}

/// What parts get of an upload that was given up.
fn given_up() -> StorageError {
    StorageError::aborted().with_detail("the upload was given up")
}

#[async_trait]
impl MultipartUpload for Upload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let (queue, path) = (self.queue.clone(), self.path.clone());
        // Here and not when the part is first polled: the order is that of these calls.
        let goal = queue.push(data.into_iter());
        let mut turn = queue.turn();
        Box::pin(async move {
            let taken = poll_fn(move |cx| turn.poll(&goal, cx)).await;
            taken.map_err(|error| foreign(error, &path))
        })
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let mut turn = self.queue.turn();
        match poll_fn(move |cx| turn.poll(&Goal::Closed, cx)).await {
            // The stream does not tell the version of what it wrote, and a look for it now might
            // find the value of somebody else.
            Ok(()) => Ok(api::put_result(None, None)),
            Err(error) => Err(foreign(error, &self.path)),
        }
    }

    async fn abort(&mut self) -> Result<()> {
        match self.queue.give_up(given_up()) {
            true => Ok(()),
            false => {
                let error = StorageError::http(409).with_detail("the upload is complete");
                Err(foreign(error, &self.path))
            }
        }
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        self.queue.give_up(given_up());
    }
}

impl fmt::Debug for Upload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upload").field("path", &self.path).finish_non_exhaustive()
    }
}
