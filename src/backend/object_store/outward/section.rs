//! A part of a read stream, with its length watched.

use core::ops::Range;
use core::pin::Pin;
use core::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use futures_core::Stream;

use super::api::Result;
use super::api::path::Path;
use super::errors::{changed, read_error};
use crate::port::BoxReader;

/// The bytes of a range out of the stream of a whole value.
///
/// A stream of ours ends cleanly only where the value does. So one that is not as long as was
/// announced belongs to another value than the one that was looked at, and the last item is an
/// error.
pub(super) struct Section {
    /// Gone once this has ended.
    reader: Option<BoxReader>,
    path: Path,
    skip: u64,
    left: u64,
    /// Whether the range ends where the value does, so that nothing may follow.
    to_end: bool,
}

impl Section {
    pub(super) fn new(reader: BoxReader, path: Path, range: &Range<u64>, size: u64) -> Self {
        let left = range.end.saturating_sub(range.start);
        Self { reader: Some(reader), path, skip: range.start, left, to_end: range.end == size }
    }

    /// What of a chunk belongs to the range. `None` where there is more than there should be.
    fn cut(&mut self, mut chunk: Bytes) -> Option<Bytes> {
        let skipped = usize::try_from(self.skip).unwrap_or(usize::MAX).min(chunk.len());
        chunk.advance(skipped);
        self.skip = self.skip.saturating_sub(skipped as u64);
        let wanted = usize::try_from(self.left).unwrap_or(usize::MAX).min(chunk.len());
        if self.to_end && wanted < chunk.len() {
            return None;
        }
        chunk.truncate(wanted);
        self.left = self.left.saturating_sub(wanted as u64);
        Some(chunk)
    }
}

impl Stream for Section {
    type Item = Result<Bytes>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            let Some(reader) = &mut this.reader else { return Poll::Ready(None) };
            if this.left == 0 && !this.to_end {
                this.reader = None;
                continue;
            }
            let end = match ready!(reader.as_mut().poll_next(cx)) {
                Some(Ok(chunk)) => match this.cut(chunk) {
                    Some(chunk) if chunk.is_empty() => continue,
                    Some(chunk) => return Poll::Ready(Some(Ok(chunk))),
                    None => Some(Err(changed(this.path.as_ref()))),
                },
                Some(Err(error)) => Some(Err(read_error(error, &this.path))),
                None if this.left == 0 => None,
                None => Some(Err(changed(this.path.as_ref()))),
            };
            this.reader = None;
            return Poll::Ready(end);
        }
    }
}
