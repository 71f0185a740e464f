//! A store that does as it is told and remembers what was asked of it.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Poll;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt, TryStreamExt};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetRange, GetResult, GetResultPayload, ListResult,
    MultipartUpload, ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions, PutPayload,
    PutResult, Result, UploadPart,
};

/// An [`InMemory`] with a script. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Fake(Arc<Inner>);

#[derive(Default)]
struct Inner {
    memory: InMemory,
    script: Mutex<Script>,
    listed: AtomicUsize,
    polls: AtomicUsize,
}

/// What is to happen, and what has.
#[derive(Default)]
pub(crate) struct Script {
    /// Errors of the next calls, one each.
    pub(crate) errors: VecDeque<Error>,
    /// What the next read gives instead of the value.
    pub(crate) body: Option<Vec<Result<Bytes>>>,
    /// A write by somebody else, right before each of the next puts.
    pub(crate) meddling: VecDeque<(&'static str, &'static str)>,
    /// Puts listings, which come sorted, in another order.
    pub(crate) order: Option<fn(&mut [Result<ObjectMeta>])>,
    /// Whether listings give each object a second time.
    pub(crate) twice: bool,
    /// How often a part is pending before it arrives.
    pub(crate) part_polls: usize,
    /// The part that fails, counted from zero.
    pub(crate) broken_part: Option<usize>,
    /// Whether parts are thrown away instead of kept.
    pub(crate) discard: bool,
    /// The last end of a range that was asked for.
    pub(crate) range_end: Option<u64>,
    /// The calls so far.
    pub(crate) calls: Vec<&'static str>,
    /// The sizes of the parts so far.
    pub(crate) parts: Vec<usize>,
    /// The parts in flight now, and the most there ever were.
    pub(crate) in_flight: (usize, usize),
}

impl Fake {
    pub(crate) fn script(&self) -> MutexGuard<'_, Script> {
        self.0.script.lock().expect("no test panics with the script in hand")
    }

    pub(crate) fn memory(&self) -> &InMemory {
        &self.0.memory
    }

    /// The calls since the last time.
    pub(crate) fn calls(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.script().calls)
    }

    /// How many objects were taken from listings since the last time.
    pub(crate) fn listed(&self) -> usize {
        self.0.listed.swap(0, Ordering::SeqCst)
    }

    /// How often read streams were polled since the last time.
    pub(crate) fn polls(&self) -> usize {
        self.0.polls.swap(0, Ordering::SeqCst)
    }

    fn called(&self, name: &'static str) -> Result<()> {
        let mut script = self.script();
        script.calls.push(name);
        script.errors.pop_front().map_or(Ok(()), Err)
    }

    fn objects(
        &self,
        prefix: Option<&Path>,
        offset: Option<Path>,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        let objects = self.0.memory.list(prefix).filter_map(move |object| {
            let kept = object.as_ref().map_or(true, |object| {
                offset.as_ref().is_none_or(|offset| object.location > *offset)
            });
            async move { kept.then_some(object) }
        });
        // The listing of memory is ready from the start, so it can be turned round here.
        let mut objects: Vec<_> =
            futures_util::FutureExt::now_or_never(objects.collect::<Vec<_>>())
                .expect("memory does not wait");
        if let Some(order) = self.script().order {
            order(&mut objects);
        }
        if self.script().twice {
            // Errors do not occur here, so every object can be told again.
            let again: Vec<_> = objects.iter().flatten().cloned().map(Ok).collect();
            objects.extend(again);
        }
        if let Err(error) = self.called("list") {
            objects.truncate(2);
            objects.push(Err(error));
        }
        let fake = self.clone();
        let count = move |_: &Result<ObjectMeta>| {
            fake.0.listed.fetch_add(1, Ordering::SeqCst);
        };
        stream::iter(objects).inspect(count).boxed()
    }
}

impl fmt::Debug for Fake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fake")
    }
}

impl fmt::Display for Fake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fake")
    }
}

#[async_trait]
impl ObjectStore for Fake {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        opts: PutOptions,
    ) -> Result<PutResult> {
        self.called("put")?;
        let meddling = self.script().meddling.pop_front();
        if let Some((key, value)) = meddling {
            self.0.memory.put_opts(&Path::from(key), value.into(), PutOptions::default()).await?;
        }
        self.0.memory.put_opts(location, payload, opts).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.called("open")?;
        let inner = self.0.memory.put_multipart_opts(location, opts).await?;
        Ok(Box::new(Upload { fake: self.clone(), inner }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.called(if options.head { "head" } else { "get" })?;
        if let Some(GetRange::Bounded(range)) = &options.range {
            self.script().range_end = Some(range.end);
        }
        let mut result = self.0.memory.get_opts(location, options).await?;
        let body = self.script().body.take();
        if let Some(body) = body {
            let fake = self.clone();
            let mut body = body.into_iter();
            let chunks = stream::poll_fn(move |_| {
                fake.0.polls.fetch_add(1, Ordering::SeqCst);
                Poll::Ready(body.next())
            });
            result.payload = GetResultPayload::Stream(chunks.boxed());
        }
        Ok(result)
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        match self.called("delete") {
            Ok(()) => self.0.memory.delete_stream(locations),
            Err(error) => stream::iter([Err(error)]).boxed(),
        }
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.objects(prefix, None)
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        self.objects(prefix, Some(offset.clone()))
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.0.memory.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.0.memory.copy_opts(from, to, options).await
    }
}

#[derive(Debug)]
struct Upload {
    fake: Fake,
    inner: Box<dyn MultipartUpload>,
}

#[async_trait]
impl MultipartUpload for Upload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let fake = self.fake.clone();
        let (mut left, broken, kept) = {
            let mut script = fake.script();
            let index = script.parts.len();
            script.parts.push(data.content_length());
            (script.part_polls, script.broken_part == Some(index), !script.discard)
        };
        let stored = kept.then(|| self.inner.put_part(data.clone()));
        let flight = Flight::new(fake);
        Box::pin(async move {
            poll_fn(|cx| {
                let arrived = left == 0;
                left = left.saturating_sub(1);
                cx.waker().wake_by_ref();
                if arrived { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
            drop((data, flight));
            match stored {
                _ if broken => Err(failure("the part did not arrive")),
                Some(stored) => stored.await,
                None => Ok(()),
            }
        })
    }

    async fn complete(&mut self) -> Result<PutResult> {
        self.fake.called("complete")?;
        self.inner.complete().await
    }

    async fn abort(&mut self) -> Result<()> {
        self.fake.called("abort")?;
        self.inner.abort().await
    }
}

/// Counts a part while it is under way.
struct Flight(Fake);

impl Flight {
    fn new(fake: Fake) -> Self {
        let mut script = fake.script();
        script.in_flight.0 += 1;
        script.in_flight.1 = script.in_flight.1.max(script.in_flight.0);
        drop(script);
        Self(fake)
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.0.script().in_flight.0 -= 1;
    }
}

/// An error of the kind that tells nothing of itself.
pub(crate) fn failure(text: &'static str) -> Error {
    Error::Generic { store: "Fake", source: text.into() }
}

/// The objects of a store, by name.
pub(crate) fn objects(fake: &Fake) -> Vec<String> {
    let names = fake.memory().list(None).map_ok(|object| object.location.to_string());
    futures_util::FutureExt::now_or_never(names.try_collect())
        .expect("memory does not wait")
        .expect("memory does not fail")
}
