//! The traits, each method handed to the file that knows how.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::{BoxStream, StreamExt};

use super::api::list::{PaginatedListOptions, PaginatedListResult, PaginatedListStore};
use super::api::path::Path;
use super::api::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, Result,
};
use super::errors::foreign;
use super::upload::Upload;
use super::{MuxObjectStore, context};
use crate::port::Storage;

/// How many removals of a stream are under way at once.
const REMOVALS: usize = 10;

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl ObjectStore for MuxObjectStore {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.put(location, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.refuse_attributes(&options.attributes)?;
        let key = location.as_ref();
        match self.storage.set_stream(key, &context(&options.extensions)).await {
            Ok(writer) => Ok(Box::new(Upload::new(writer, key))),
            Err(error) => Err(foreign(error, key)),
        }
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.read(location, options).await
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.read_ranges(location, ranges).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let store = self.clone();
        let removals = locations.map(move |location| {
            let store = store.clone();
            async move { store.remove(location?).await }
        });
        removals.buffered(REMOVALS).boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.list_from(prefix, None)
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        self.list_from(prefix, Some(offset))
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.level(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.copy(from, to, options).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        self.rename(from, to, options).await
    }
}

#[async_trait]
impl PaginatedListStore for MuxObjectStore {
    async fn list_paginated(
        &self,
        prefix: Option<&str>,
        options: PaginatedListOptions,
    ) -> Result<PaginatedListResult> {
        self.paginated(prefix.unwrap_or_default(), options).await
    }
}
