//! The operations over HTTP.

use alloc::format;
use alloc::string::String;
use core::future::{Future, ready};
use core::ops::Range;

use bytes::Bytes;

use super::address::address;
use super::exchange::{Exchange, Request};
use super::{FetchReader, FetchStorage, head};
use crate::backend::web::WebWriter;
use crate::backend::web::work::unless_aborted;
use crate::error::{NetworkFault, StorageError};
use crate::port::{
    Capabilities, Condition, LocalStorage, Metadata, OpContext, Operation, Page, PageRequest,
    Written,
};

impl FetchStorage {
    /// Asks for a value and does `work` with the answer.
    async fn ask<T>(
        &self,
        method: &'static str,
        key: &str,
        header: Option<(&'static str, &str)>,
        cx: &OpContext,
        work: impl AsyncFnOnce(Exchange) -> Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        self.send(method, key, header, None, cx, work).await
    }

    async fn send<T>(
        &self,
        method: &'static str,
        key: &str,
        header: Option<(&'static str, &str)>,
        body: Option<&[u8]>,
        cx: &OpContext,
        work: impl AsyncFnOnce(Exchange) -> Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        let address = &address(&self.settings.base, key)?;
        unless_aborted(cx, async {
            let request = Request { method, address, header, body };
            work(Exchange::begin(&self.settings, request).await?).await
        })
        .await
    }
}

/// What is done with the answer to a write: its body is of no use, but it is the end of it.
async fn wrote(answer: Exchange) -> Result<Written, StorageError> {
    let answer = answer.accepted()?;
    let written = head::written(&answer);
    answer.bytes().await?;
    Ok(written)
}

#[deny(clippy::missing_trait_methods)]
impl LocalStorage for FetchStorage {
    type Reader = FetchReader;
    type Writer = WebWriter;

    async fn get(&self, key: &str, cx: &OpContext) -> Result<Bytes, StorageError> {
        self.ask("GET", key, None, cx, async |answer| answer.whole()?.bytes().await).await
    }

    async fn set(&self, key: &str, value: Bytes, cx: &OpContext) -> Result<Written, StorageError> {
        self.send("PUT", key, None, Some(&value), cx, wrote).await
    }

    fn set_partial(
        &self,
        _: &str,
        _: u64,
        _: Bytes,
        _: &OpContext,
    ) -> impl Future<Output = Result<(), StorageError>> {
        ready(Err(StorageError::unsupported()))
    }

    async fn has(&self, key: &str, cx: &OpContext) -> Result<bool, StorageError> {
        let found = self.ask("HEAD", key, None, cx, async |answer| answer.found().map(drop)).await;
        match found {
            Err(error) if error.is_key_not_found() => Ok(false),
            found => found.map(|()| true),
        }
    }

    async fn delete(&self, key: &str, cx: &OpContext) -> Result<(), StorageError> {
        let gone = async |answer: Exchange| answer.found()?.bytes().await.map(drop);
        match self.ask("DELETE", key, None, cx, gone).await {
            Err(error) if error.is_key_not_found() => Ok(()),
            gone => gone,
        }
    }

    fn list(
        &self,
        _: &str,
        _: &PageRequest,
        _: &OpContext,
    ) -> impl Future<Output = Result<Page, StorageError>> {
        ready(Err(StorageError::unsupported()))
    }

    async fn stat(&self, key: &str, cx: &OpContext) -> Result<Metadata, StorageError> {
        self.ask("HEAD", key, None, cx, async |answer| head::metadata(&answer.found()?)).await
    }

    async fn get_stream(&self, key: &str, cx: &OpContext) -> Result<FetchReader, StorageError> {
        self.ask("GET", key, None, cx, async |answer| answer.whole().map(FetchReader::new)).await
    }

    async fn set_stream(&self, key: &str, cx: &OpContext) -> Result<WebWriter, StorageError> {
        if cx.is_aborted() {
            return Err(StorageError::aborted());
        }
        // What no address can hold is refused before the first chunk.
        address(&self.settings.base, key)?;
        let (storage, key) = (self.clone(), String::from(key));
        let cx = OpContext::new().with_signal(cx.signal());
        Ok(WebWriter::new(async move |value| storage.set(&key, value, &cx).await.map(drop)))
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::all(Self::MAX_KEY_BYTES as u32)
            .without(Operation::List)
            .without(Operation::SetPartial)
    }

    fn depth(&self) -> usize {
        0
    }

    async fn get_range(
        &self,
        key: &str,
        range: Range<u64>,
        cx: &OpContext,
    ) -> Result<Bytes, StorageError> {
        if range.end <= range.start {
            // HTTP cannot ask for nothing. What is asked here is whether nothing is right.
            let size = self.stat(key, cx).await?.size;
            let inside = range.start < size;
            return if inside {
                Ok(Bytes::new())
            } else {
                Err(StorageError::range_not_satisfiable())
            };
        }
        let asked = format!("bytes={}-{}", range.start, range.end - 1);
        self.ask("GET", key, Some(("range", &asked)), cx, async |answer| {
            let answer = answer.found()?;
            if answer.status() != 206 {
                return part(answer.bytes().await?, range);
            }
            if !head::brings(&answer, &range) {
                return Err(StorageError::network(NetworkFault::Other)
                    .with_detail("the server sent another range than it was asked for"));
            }
            let mut bytes = answer.bytes().await?;
            bytes.truncate(usize::try_from(range.end - range.start).unwrap_or(usize::MAX));
            Ok(bytes)
        })
        .await
    }

    async fn set_if(
        &self,
        key: &str,
        value: Bytes,
        condition: Condition,
        cx: &OpContext,
    ) -> Result<Written, StorageError> {
        let header = match &condition {
            Condition::Absent => ("if-none-match", "*"),
            Condition::VersionMatches(version) if head::is_strong(version.as_str()) => {
                ("if-match", version.as_str())
            }
            // No server gave this version, so no value has it.
            Condition::VersionMatches(_) => {
                address(&self.settings.base, key)?;
                return Err(StorageError::precondition_failed());
            }
        };
        self.send("PUT", key, Some(header), Some(&value), cx, async |answer| {
            // Some servers say of what is missing that it is not found: it has no version.
            match answer.status() {
                404 | 410 if header.0 == "if-match" => Err(StorageError::precondition_failed()),
                _ => wrote(answer).await,
            }
        })
        .await
    }
}

/// The part of a whole value.
fn part(value: Bytes, range: Range<u64>) -> Result<Bytes, StorageError> {
    let start = usize::try_from(range.start).unwrap_or(usize::MAX);
    if start >= value.len() {
        return Err(StorageError::range_not_satisfiable());
    }
    let end = usize::try_from(range.end).unwrap_or(usize::MAX).clamp(start, value.len());
    Ok(value.slice(start..end))
}
