//! The operations of a flash storage.

use alloc::vec::Vec;
use core::ops::Range;

use bytes::Bytes;
use embedded_storage_async::nor_flash::NorFlash;

use super::FlashStorage;
use super::error::too_long;
use super::name::Name;
use super::state::State;
use super::streams::{FlashReader, FlashWriter};
use super::turns::Turn;
use crate::error::StorageError;
use crate::key::validate_key;
use crate::port::{
    Capabilities, Condition, LocalStorage, Metadata, OpContext, Operation, Page, PageRequest,
    Written,
};

impl<F: NorFlash> FlashStorage<F> {
    /// What every operation with a key begins with.
    fn enter(key: &str, cx: &OpContext) -> Result<Name, StorageError> {
        go_on(cx)?;
        validate_key(key, Self::MAX_KEY_BYTES)?;
        // Never too long here, but a panic would be worse than an error.
        Name::new(key).ok_or_else(|| StorageError::invalid_key("the key is too long"))
    }

    /// Waits for its turn; whoever gave up while it waited has none.
    async fn turn(&self, cx: &OpContext) -> Result<Turn<'_, State<F>>, StorageError> {
        let turn = self.shared.turns.take().await;
        go_on(cx)?;
        Ok(turn)
    }

    async fn value(&self, key: &str, cx: &OpContext) -> Result<Bytes, StorageError> {
        let name = Self::enter(key, cx)?;
        let found = self.turn(cx).await?.fetch(&name).await?;
        found.ok_or_else(StorageError::key_not_found)
    }

    async fn size(&self, key: &str, cx: &OpContext) -> Result<Option<usize>, StorageError> {
        let name = Self::enter(key, cx)?;
        self.turn(cx).await?.size(&name).await
    }

    fn fits(&self, len: usize) -> bool {
        len <= self.shared.max_value_bytes
    }

    fn too_long(&self) -> StorageError {
        too_long(self.shared.max_value_bytes)
    }
}

fn go_on(cx: &OpContext) -> Result<(), StorageError> {
    if cx.is_aborted() { Err(StorageError::aborted()) } else { Ok(()) }
}

#[deny(clippy::missing_trait_methods)]
impl<F: NorFlash + 'static> LocalStorage for FlashStorage<F> {
    type Reader = FlashReader;
    type Writer = FlashWriter<F>;

    async fn get(&self, key: &str, cx: &OpContext) -> Result<Bytes, StorageError> {
        self.value(key, cx).await
    }

    async fn set(&self, key: &str, value: Bytes, cx: &OpContext) -> Result<Written, StorageError> {
        let name = Self::enter(key, cx)?;
        if !self.fits(value.len()) {
            return Err(self.too_long());
        }
        self.turn(cx).await?.store(&name, &value).await?;
        Ok(Written::default())
    }

    async fn set_partial(
        &self,
        key: &str,
        offset: u64,
        bytes: Bytes,
        cx: &OpContext,
    ) -> Result<(), StorageError> {
        let name = Self::enter(key, cx)?;
        // One turn for both, so that no other write comes between.
        let mut turn = self.turn(cx).await?;
        let old = turn.fetch(&name).await?;
        if bytes.is_empty() {
            return if old.is_some() { Ok(()) } else { turn.store(&name, &[]).await };
        }
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let end = offset.saturating_add(bytes.len());
        if !self.fits(end) {
            return Err(self.too_long());
        }
        let mut new = Vec::from(old.unwrap_or_default());
        new.resize(new.len().max(end), 0);
        if let Some(place) = new.get_mut(offset..end) {
            place.copy_from_slice(&bytes);
        }
        turn.store(&name, &new).await
    }

    async fn has(&self, key: &str, cx: &OpContext) -> Result<bool, StorageError> {
        Ok(self.size(key, cx).await?.is_some())
    }

    async fn delete(&self, key: &str, cx: &OpContext) -> Result<(), StorageError> {
        let name = Self::enter(key, cx)?;
        self.turn(cx).await?.remove(&name).await
    }

    async fn list(
        &self,
        prefix: &str,
        page: &PageRequest,
        cx: &OpContext,
    ) -> Result<Page, StorageError> {
        go_on(cx)?;
        self.turn(cx).await?.page(prefix, page).await
    }

    async fn stat(&self, key: &str, cx: &OpContext) -> Result<Metadata, StorageError> {
        let size = self.size(key, cx).await?.ok_or_else(StorageError::key_not_found)?;
        Ok(Metadata::new(size as u64))
    }

    async fn get_stream(&self, key: &str, cx: &OpContext) -> Result<FlashReader, StorageError> {
        self.value(key, cx).await.map(FlashReader)
    }

    async fn set_stream(&self, key: &str, cx: &OpContext) -> Result<FlashWriter<F>, StorageError> {
        Self::enter(key, cx)?;
        Ok(FlashWriter::new(self.clone(), key.into()))
    }

    fn capabilities(&self) -> Capabilities {
        let all = Capabilities::all(Self::MAX_KEY_BYTES as u32).without(Operation::SetIf);
        if self.shared.deletes { all } else { all.without(Operation::Delete) }
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
        let value = self.value(key, cx).await?;
        let start = usize::try_from(range.start).unwrap_or(usize::MAX);
        if start >= value.len() {
            return Err(StorageError::range_not_satisfiable());
        }
        let end = usize::try_from(range.end).unwrap_or(usize::MAX).clamp(start, value.len());
        Ok(value.slice(start..end))
    }

    async fn set_if(
        &self,
        _: &str,
        _: Bytes,
        _: Condition,
        _: &OpContext,
    ) -> Result<Written, StorageError> {
        Err(StorageError::unsupported())
    }
}
