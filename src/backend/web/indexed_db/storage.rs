//! The operations of the browser's database.

use core::ops::Range;

use bytes::Bytes;

use super::record::{Record, holds, patched};
use super::{IndexedDbReader, IndexedDbStorage, listing};
use crate::backend::web::WebWriter;
use crate::backend::web::bytes::{from_host, to_host, zeroed};
use crate::error::StorageError;
use crate::port::{
    Capabilities, Condition, LocalStorage, Metadata, OpContext, Page, PageRequest, Written,
};

#[deny(clippy::missing_trait_methods)]
impl LocalStorage for IndexedDbStorage {
    type Reader = IndexedDbReader;
    type Writer = WebWriter;

    async fn get(&self, key: &str, cx: &OpContext) -> Result<Bytes, StorageError> {
        from_host(&self.read(Some(key), cx, async |held| held.value(key).await).await?)
    }

    async fn set(&self, key: &str, value: Bytes, cx: &OpContext) -> Result<Written, StorageError> {
        self.write(key, cx, async |held| {
            let value = to_host(&value)?;
            let record = Record::new(&value);
            held.put(key, &value, &record)?;
            Ok(record.written())
        })
        .await
    }

    async fn set_partial(
        &self,
        key: &str,
        offset: u64,
        bytes: Bytes,
        cx: &OpContext,
    ) -> Result<(), StorageError> {
        self.write(key, cx, async |held| {
            let old = match held.value(key).await {
                Err(error) if error.is_key_not_found() => zeroed(0)?,
                old => old?,
            };
            let value = patched(old, offset, &bytes)?;
            held.put(key, &value, &Record::new(&value))
        })
        .await
    }

    async fn has(&self, key: &str, cx: &OpContext) -> Result<bool, StorageError> {
        self.read(Some(key), cx, async |held| Ok(held.record(key).await?.is_some())).await
    }

    async fn delete(&self, key: &str, cx: &OpContext) -> Result<(), StorageError> {
        self.write(key, cx, async |held| held.delete(key)).await
    }

    async fn list(
        &self,
        prefix: &str,
        page: &PageRequest,
        cx: &OpContext,
    ) -> Result<Page, StorageError> {
        self.read(None, cx, async |held| listing::page(held, prefix, page).await).await
    }

    async fn stat(&self, key: &str, cx: &OpContext) -> Result<Metadata, StorageError> {
        let record = self.read(Some(key), cx, async |held| held.record(key).await).await?;
        record.map(Metadata::from).ok_or_else(StorageError::key_not_found)
    }

    async fn get_stream(&self, key: &str, cx: &OpContext) -> Result<IndexedDbReader, StorageError> {
        let value = self.read(Some(key), cx, async |held| held.value(key).await).await?;
        Ok(IndexedDbReader::new(value))
    }

    async fn set_stream(&self, key: &str, cx: &OpContext) -> Result<WebWriter, StorageError> {
        // What the storage would refuse at the close is refused before the first chunk.
        self.has(key, cx).await?;
        let (storage, key) = (self.clone(), alloc::string::String::from(key));
        let cx = OpContext::new().with_signal(cx.signal());
        Ok(WebWriter::new(async move |value| storage.set(&key, value, &cx).await.map(drop)))
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::all(Self::MAX_KEY_BYTES as u32)
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
        let value = self.read(Some(key), cx, async |held| held.value(key).await).await?;
        let len = value.length();
        let start = u32::try_from(range.start).unwrap_or(u32::MAX);
        if start >= len {
            return Err(StorageError::range_not_satisfiable());
        }
        let end = u32::try_from(range.end).unwrap_or(u32::MAX).clamp(start, len);
        from_host(&value.subarray(start, end))
    }

    async fn set_if(
        &self,
        key: &str,
        value: Bytes,
        condition: Condition,
        cx: &OpContext,
    ) -> Result<Written, StorageError> {
        self.write(key, cx, async |held| {
            if !holds(&condition, held.record(key).await?.as_ref()) {
                return Err(StorageError::precondition_failed());
            }
            let value = to_host(&value)?;
            let record = Record::new(&value);
            held.put(key, &value, &record)?;
            Ok(record.written())
        })
        .await
    }
}
