//! The operations, each as the store's own call or two.

use core::ops::Range;

use ::object_store::path::Path;
use ::object_store::{
    Error as Foreign, GetOptions, GetRange, GetResult, ObjectStore, ObjectStoreExt, PutMode,
    PutOptions,
};
use bytes::Bytes;

use super::errors::{read_error, write_error};
use super::settings::Conditions;
use super::values::{metadata, path_of, update_version, written};
use super::{ObjectStoreBackend, ObjectStoreReader, ObjectStoreWriter, listing};
use crate::backend::value::{PARTIAL_TRIES, patched, too_large, wrong_length};
use crate::error::{StorageError, StorageErrorKind};
use crate::port::{
    Capabilities, Condition, Metadata, OpContext, Operation, Page, PageRequest, Storage, Written,
};

/// Servers count bytes with signed numbers, and refuse a range that leaves them.
const LAST_BYTE: u64 = i64::MAX.unsigned_abs();

impl<S: ObjectStore> ObjectStoreBackend<S> {
    /// What every operation with a key begins with.
    fn enter(&self, key: &str, cx: &OpContext) -> Result<Path, StorageError> {
        if cx.is_aborted() {
            return Err(StorageError::aborted());
        }
        path_of(&self.settings.names.name(key)?)
    }

    async fn open(&self, path: &Path, options: GetOptions) -> Result<GetResult, StorageError> {
        match self.store.get_opts(path, options).await {
            Ok(result) => Ok(result),
            Err(error) => Err(self.settings.explain(read_error(error)).await),
        }
    }

    async fn known(&self, path: &Path) -> Result<Metadata, StorageError> {
        let result = self.open(path, GetOptions { head: true, ..GetOptions::default() }).await?;
        Ok(metadata(&result.meta))
    }

    async fn put(&self, path: &Path, value: Bytes, mode: PutMode) -> Result<Written, StorageError> {
        self.settings.probe().await?;
        let updates = matches!(mode, PutMode::Update(_));
        let options = PutOptions { mode, ..PutOptions::default() };
        match self.store.put_opts(path, value.into(), options).await {
            Ok(result) => Ok(written(&result)),
            // Some stores say so where there is nothing to update.
            Err(error @ Foreign::NotFound { .. }) if updates => {
                Err(StorageError::precondition_failed().with_source(error))
            }
            Err(error) => Err(write_error(error)),
        }
    }

    /// One try of a partial write.
    async fn rewrite(&self, path: &Path, offset: u64, bytes: &Bytes) -> Result<(), StorageError> {
        let limit = self.settings.max_partial_bytes;
        let (old, mode) = match self.open(path, GetOptions::default()).await {
            Ok(result) if bytes.is_empty() => {
                drop(result);
                return Ok(());
            }
            Ok(result) if result.meta.size > limit => return Err(too_large(limit)),
            Ok(result) => {
                let version = metadata(&result.meta).version;
                let mode = match self.settings.conditions {
                    Conditions::All => version.as_ref().and_then(update_version),
                    Conditions::Absent | Conditions::None => None,
                };
                (whole(result).await?, mode.map(PutMode::Update).unwrap_or_default())
            }
            Err(error) if error.is_key_not_found() => {
                let creates = self.settings.conditions != Conditions::None;
                (Bytes::new(), if creates { PutMode::Create } else { PutMode::Overwrite })
            }
            Err(error) => return Err(error),
        };
        // No byte asks for what lies before the offset.
        let offset = if bytes.is_empty() { 0 } else { offset };
        let new = patched(&old, offset, bytes, limit)?;
        drop(old);
        self.put(path, new, mode).await.map(drop)
    }
}

/// The value, if it is as long as was announced.
async fn whole(result: GetResult) -> Result<Bytes, StorageError> {
    let announced = result.range.end.saturating_sub(result.range.start);
    let value = result.bytes().await.map_err(read_error)?;
    match value.len() as u64 {
        given if given == announced => Ok(value),
        given => Err(wrong_length(given, announced)),
    }
}

#[deny(clippy::missing_trait_methods)]
impl<S: ObjectStore> Storage for ObjectStoreBackend<S> {
    type Reader = ObjectStoreReader;
    type Writer = ObjectStoreWriter<S>;

    async fn get(&self, key: &str, cx: &OpContext) -> Result<Bytes, StorageError> {
        let path = self.enter(key, cx)?;
        whole(self.open(&path, GetOptions::default()).await?).await
    }

    async fn set(&self, key: &str, value: Bytes, cx: &OpContext) -> Result<Written, StorageError> {
        let path = self.enter(key, cx)?;
        self.put(&path, value, PutMode::Overwrite).await
    }

    async fn set_partial(
        &self,
        key: &str,
        offset: u64,
        bytes: Bytes,
        cx: &OpContext,
    ) -> Result<(), StorageError> {
        let path = self.enter(key, cx)?;
        for _ in 0..PARTIAL_TRIES {
            match self.rewrite(&path, offset, &bytes).await {
                Err(error) if error.is_precondition_failed() => {}
                result => return result,
            }
        }
        Err(StorageError::other("others keep writing to the key"))
    }

    async fn has(&self, key: &str, cx: &OpContext) -> Result<bool, StorageError> {
        let path = self.enter(key, cx)?;
        match self.known(&path).await {
            Ok(_) => Ok(true),
            Err(error) if error.is_key_not_found() => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn delete(&self, key: &str, cx: &OpContext) -> Result<(), StorageError> {
        let path = self.enter(key, cx)?;
        let Err(error) = self.store.delete(&path).await else { return Ok(()) };
        match self.settings.explain(read_error(error)).await {
            error if error.is_key_not_found() => Ok(()),
            error => Err(error),
        }
    }

    async fn list(
        &self,
        prefix: &str,
        page: &PageRequest,
        cx: &OpContext,
    ) -> Result<Page, StorageError> {
        if cx.is_aborted() {
            return Err(StorageError::aborted());
        }
        let page = listing::page(&*self.store, &self.settings, prefix, page).await?;
        // A store that went away half-way may have ended its listing as if that were all.
        self.settings.probe().await?;
        Ok(page)
    }

    async fn stat(&self, key: &str, cx: &OpContext) -> Result<Metadata, StorageError> {
        let path = self.enter(key, cx)?;
        self.known(&path).await
    }

    async fn get_stream(
        &self,
        key: &str,
        cx: &OpContext,
    ) -> Result<ObjectStoreReader, StorageError> {
        let path = self.enter(key, cx)?;
        Ok(ObjectStoreReader::new(self.open(&path, GetOptions::default()).await?))
    }

    async fn set_stream(
        &self,
        key: &str,
        cx: &OpContext,
    ) -> Result<ObjectStoreWriter<S>, StorageError> {
        let path = self.enter(key, cx)?;
        self.settings.probe().await?;
        Ok(ObjectStoreWriter::new(self.store.clone(), self.settings.clone(), path))
    }

    fn capabilities(&self) -> Capabilities {
        let all = Capabilities::all(self.settings.names.max_key_bytes);
        match self.settings.conditions {
            Conditions::None => all.without(Operation::SetIf),
            Conditions::Absent | Conditions::All => all,
        }
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
        let path = self.enter(key, cx)?;
        let range = range.start..range.end.min(LAST_BYTE);
        // Stores refuse an empty range, and some tell a start past the end in their own words.
        let failure = if range.is_empty() {
            None
        } else {
            let options = GetOptions {
                range: Some(GetRange::Bounded(range.clone())),
                ..GetOptions::default()
            };
            match self.open(&path, options).await {
                Ok(result) => return whole(result).await,
                Err(error) if *error.kind() == StorageErrorKind::Other => Some(error),
                Err(error) => return Err(error),
            }
        };
        match (self.known(&path).await, failure) {
            (Ok(known), _) if range.start >= known.size => {
                Err(StorageError::range_not_satisfiable())
            }
            (Ok(_), None) => Ok(Bytes::new()),
            (_, Some(error)) | (Err(error), None) => Err(error),
        }
    }

    async fn set_if(
        &self,
        key: &str,
        value: Bytes,
        condition: Condition,
        cx: &OpContext,
    ) -> Result<Written, StorageError> {
        let path = match (self.settings.conditions, &condition) {
            (Conditions::None, _) | (Conditions::Absent, Condition::VersionMatches(_)) => {
                return Err(StorageError::unsupported());
            }
            (Conditions::Absent | Conditions::All, _) => self.enter(key, cx)?,
        };
        let mode = match condition {
            Condition::Absent => PutMode::Create,
            Condition::VersionMatches(version) => match update_version(&version) {
                Some(version) => PutMode::Update(version),
                None => return Err(StorageError::precondition_failed()),
            },
        };
        self.put(&path, value, mode).await
    }
}
