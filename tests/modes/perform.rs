//! Every operation as one future, so that what holds for one can be shown for all.

use std::task::Poll;

use bytes::Bytes;
use futures_util::future::poll_fn;
use futures_util::{Sink, SinkExt, Stream, StreamExt};
use storage_mux::sim::Fault;
use storage_mux::{Condition, OpContext, Operation, PageRequest, StorageError};

use crate::support::{TestMux, World};

pub(crate) const KEY: &str = "k";
/// What [`seeded`] stores, and what the writes of [`perform`] make of it.
pub(crate) const OLD: &str = "old value";
pub(crate) const NEW: &str = "NEW";
/// The key of a conditional write, which wants it absent.
pub(crate) const FRESH: &str = "fresh";

pub(crate) fn busy() -> Fault {
    Fault::Fail(StorageError::http(503))
}

/// The operations that change nothing.
pub(crate) fn reads() -> impl Iterator<Item = Operation> {
    Operation::ALL.into_iter().filter(|operation| !operation.is_write())
}

/// The operations that change something, the conditional one apart.
pub(crate) fn writes() -> impl Iterator<Item = Operation> {
    let conditional = |operation: &Operation| *operation == Operation::SetIf;
    Operation::ALL.into_iter().filter(move |each| each.is_write() && !conditional(each))
}

/// A world with the old value in every store.
pub(crate) fn seeded(world: World) -> World {
    world.put_all(KEY, OLD);
    world
}

/// What a store holds under [`KEY`] once a write of [`perform`] has reached it.
pub(crate) fn after(operation: Operation) -> Option<&'static str> {
    match operation {
        Operation::Set | Operation::SetStream => Some(NEW),
        Operation::SetPartial => Some("NEW value"),
        Operation::Delete => None,
        _ => Some(OLD),
    }
}

/// What a read of [`perform`] gives over the old value.
pub(crate) fn answer(operation: Operation) -> &'static str {
    match operation {
        Operation::Get | Operation::GetStream => OLD,
        Operation::Has => "true",
        Operation::List => KEY,
        Operation::Stat => "9",
        Operation::GetRange => "ld",
        _ => "",
    }
}

/// Runs one operation on [`KEY`] from its call to the end of its stream, if it has one.
pub(crate) async fn perform(mux: &TestMux, operation: Operation) -> Result<String, StorageError> {
    perform_with(mux, &OpContext::new(), operation).await
}

/// The same under a context.
pub(crate) async fn perform_with(
    mux: &TestMux,
    cx: &OpContext,
    operation: Operation,
) -> Result<String, StorageError> {
    let mux = mux.with(cx);
    match operation {
        Operation::Get => Ok(text(&mux.get(KEY).await?)),
        Operation::Set => mux.set(KEY, NEW).await.map(|_| String::new()),
        Operation::SetPartial => mux.set_partial(KEY, 0, NEW).await.map(|()| String::new()),
        Operation::Has => Ok(mux.has(KEY).await?.to_string()),
        Operation::Delete => mux.delete(KEY).await.map(|()| String::new()),
        Operation::List => {
            let page = mux.list("", &PageRequest::default()).await?;
            let keys: Vec<String> = page.entries.into_iter().map(|entry| entry.key).collect();
            Ok(keys.join(","))
        }
        Operation::Stat => Ok(mux.stat(KEY).await?.size.to_string()),
        Operation::GetStream => read_all(mux.get_stream(KEY).await?).await,
        Operation::SetStream => {
            let sink = mux.set_stream(KEY).await?;
            write_all(sink, ["N", "EW"]).await.map(|()| String::new())
        }
        Operation::GetRange => Ok(text(&mux.get_range(KEY, 1..3).await?)),
        Operation::SetIf => mux.set_if(FRESH, NEW, Condition::Absent).await.map(|_| String::new()),
        other => panic!("{other} is not performed yet"),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Reads a stream to its end or its error, with a pause before each chunk.
pub(crate) async fn read_all(
    mut stream: impl Stream<Item = Result<Bytes, StorageError>> + Unpin,
) -> Result<String, StorageError> {
    let mut whole = Vec::new();
    pause().await;
    while let Some(chunk) = stream.next().await {
        whole.extend_from_slice(&chunk?);
        pause().await;
    }
    Ok(text(&whole))
}

/// Writes chunks and closes, with a pause before each step.
pub(crate) async fn write_all<const N: usize>(
    mut sink: impl Sink<Bytes, Error = StorageError> + Unpin,
    chunks: [&'static str; N],
) -> Result<(), StorageError> {
    pause().await;
    for chunk in chunks {
        sink.feed(chunk.into()).await?;
        pause().await;
    }
    sink.flush().await?;
    pause().await;
    sink.close().await?;
    pause().await;
    Ok(())
}

/// Is pending once: a place where a future can be dropped.
async fn pause() {
    let mut paused = false;
    poll_fn(|task| {
        if paused {
            return Poll::Ready(());
        }
        paused = true;
        task.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
