//! Writes under a condition, and copies.

use alloc::string::ToString;

use futures_util::sink::SinkExt;
use futures_util::stream::StreamExt;

use super::api;
use super::api::path::Path;
use super::api::{
    Attributes, CopyMode, CopyOptions, Error, ObjectMeta, PutMode, PutOptions, PutPayload,
    PutResult, RenameOptions, RenameTargetMode, Result, UpdateVersion,
};
use super::errors::{create_error, foreign, generic, not_supported, read_error};
use super::reading::{SMALL_BYTES, object, tags};
use super::{MuxObjectStore, context};
use crate::backend::version::version;
use crate::error::{StorageError, StorageErrorKind};
use crate::port::{Condition, OpContext, Operation, Storage, Written};

fn put_result(written: &Written) -> PutResult {
    let (e_tag, version) = tags(written.version.as_ref());
    api::put_result(e_tag, version)
}

/// A storage may have one kind of condition and lack the other.
fn is_unsupported(error: &StorageError) -> bool {
    *error.kind() == StorageErrorKind::Unsupported
}

impl MuxObjectStore {
    /// Attributes are not kept, and must not be lost in silence.
    pub(super) fn refuse_attributes(&self, attributes: &Attributes) -> Result<()> {
        match attributes.is_empty() {
            true => Ok(()),
            false => Err(self.not_implemented("a write with attributes")),
        }
    }

    fn has_conditions(&self) -> bool {
        self.storage.capabilities().contains(Operation::SetIf)
    }

    pub(super) async fn put(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.refuse_attributes(&options.attributes)?;
        let cx = context(&options.extensions);
        match options.mode {
            PutMode::Overwrite => {
                let result = self.storage.set(location.as_ref(), payload.into(), &cx).await;
                result.map(|written| put_result(&written))
            }
            PutMode::Create => return self.create(location, payload, &cx).await,
            PutMode::Update(present) => return self.update(location, payload, present, &cx).await,
        }
        .map_err(|error| foreign(error, location.as_ref()))
    }

    /// A write that must find nothing in its place.
    async fn create(
        &self,
        location: &Path,
        payload: PutPayload,
        cx: &OpContext,
    ) -> Result<PutResult> {
        let missing = || self.not_implemented("a write that must not overwrite");
        if !self.has_conditions() {
            return Err(missing());
        }
        let key = location.as_ref();
        match self.storage.set_if(key, payload.into(), Condition::Absent, cx).await {
            Ok(written) => Ok(put_result(&written)),
            Err(error) if is_unsupported(&error) => Err(missing()),
            Err(error) => Err(create_error(error, location)),
        }
    }

    /// A write that must find a certain version in its place.
    async fn update(
        &self,
        location: &Path,
        payload: PutPayload,
        present: UpdateVersion,
        cx: &OpContext,
    ) -> Result<PutResult> {
        let missing = || self.not_implemented("a write that must find a version");
        if !self.has_conditions() {
            return Err(missing());
        }
        let Some(present) = version(present.e_tag.as_deref(), present.version.as_deref()) else {
            return Err(generic("an update needs an entity tag or a version to compare"));
        };
        let condition = Condition::VersionMatches(present);
        match self.storage.set_if(location.as_ref(), payload.into(), condition, cx).await {
            Ok(written) => Ok(put_result(&written)),
            Err(error) if is_unsupported(&error) => Err(missing()),
            Err(error) => Err(foreign(error, location.as_ref())),
        }
    }

    pub(super) async fn remove(&self, location: Path) -> Result<Path> {
        match self.storage.delete(location.as_ref(), &OpContext::new()).await {
            Ok(()) => Ok(location),
            Err(error) => Err(read_error(error, &location)),
        }
    }

    async fn source(&self, from: &Path, cx: &OpContext) -> Result<ObjectMeta> {
        match self.storage.stat(from.as_ref(), cx).await {
            Ok(known) => Ok(object(from.clone(), &known)),
            Err(error) => Err(read_error(error, from)),
        }
    }

    pub(super) async fn copy(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        let cx = context(&options.extensions);
        let size = self.source(from, &cx).await?.size;
        let streams = match options.mode {
            CopyMode::Overwrite => size > SMALL_BYTES,
            CopyMode::Create if size > self.whole_bytes => {
                return Err(not_supported(
                    "the object is too long for a copy that must not overwrite",
                ));
            }
            CopyMode::Create => false,
        };
        if streams {
            return self.pipe(from, to, &cx).await;
        }
        let value = self.storage.get(from.as_ref(), &cx).await;
        let value = value.map_err(|error| read_error(error, from))?;
        if matches!(options.mode, CopyMode::Create) {
            return self.create(to, value.into(), &cx).await.map(drop);
        }
        let result = self.storage.set(to.as_ref(), value, &cx).await;
        result.map(drop).map_err(|error| foreign(error, to.as_ref()))
    }

    /// A copy chunk by chunk. Broken off, it leaves the target as it was.
    async fn pipe(&self, from: &Path, to: &Path, cx: &OpContext) -> Result<()> {
        let write_error = |error| foreign(error, to.as_ref());
        let reader = self.storage.get_stream(from.as_ref(), cx).await;
        let mut reader = reader.map_err(|error| read_error(error, from))?;
        let writer = self.storage.set_stream(to.as_ref(), cx).await;
        let mut writer = writer.map_err(write_error)?;
        while let Some(chunk) = reader.next().await {
            let chunk = chunk.map_err(|error| read_error(error, from))?;
            writer.feed(chunk).await.map_err(write_error)?;
        }
        writer.close().await.map_err(write_error)
    }

    pub(super) async fn rename(
        &self,
        from: &Path,
        to: &Path,
        options: RenameOptions,
    ) -> Result<()> {
        let RenameOptions { target_mode, extensions } = options;
        if from == to {
            // Copied onto itself and then removed it would be gone.
            let cx = context(&extensions);
            self.source(from, &cx).await?;
            return match target_mode {
                RenameTargetMode::Overwrite => Ok(()),
                RenameTargetMode::Create => Err(Error::AlreadyExists {
                    path: to.to_string(),
                    source: "the object has this name already".into(),
                }),
            };
        }
        let mode = match target_mode {
            RenameTargetMode::Overwrite => CopyMode::Overwrite,
            RenameTargetMode::Create => CopyMode::Create,
        };
        self.copy(from, to, CopyOptions { mode, extensions }).await?;
        self.remove(from.clone()).await.map(drop)
    }
}
