//! Reads: whole, in part, and under conditions.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;
use core::time::Duration;
use std::time::UNIX_EPOCH;

use bytes::Bytes;
use futures_util::stream::{self, StreamExt};

use super::api;
use super::api::path::Path;
use super::api::{
    Error, GetOptions, GetRange, GetResult, GetResultPayload, OBJECT_STORE_COALESCE_DEFAULT,
    ObjectMeta, Result, coalesce_ranges,
};
use super::errors::{changed, generic, not_supported, read_error};
use super::section::Section;
use super::{MuxObjectStore, context};
use crate::backend::version::version_parts;
use crate::error::{StorageError, StorageErrorKind};
use crate::port::{Metadata, OpContext, Operation, Storage, Version};

/// How often a read begins again when others write to the key meanwhile.
const TRIES: u32 = 8;

/// A value up to this size is read whole: cheaper than a stream, and the mux can move on to
/// another backend up to its last byte.
pub(super) const SMALL_BYTES: u64 = 1024 * 1024;

/// The last millisecond of the year 9999: what a time past it is taken for.
const LAST_UNIX_MS: u64 = 253_402_300_799_999;

/// What a read goes by.
struct Looked {
    meta: ObjectMeta,
    time_is_known: bool,
}

/// An object as our metadata describes it.
pub(super) fn object(location: Path, metadata: &Metadata) -> ObjectMeta {
    let (e_tag, version) = tags(metadata.version.as_ref());
    let modified = metadata.modified_unix_ms.unwrap_or_default().min(LAST_UNIX_MS);
    let last_modified = (UNIX_EPOCH + Duration::from_millis(modified)).into();
    ObjectMeta { location, last_modified, size: metadata.size, e_tag, version }
}

/// The entity tag and the version identifier that a version of ours stands for.
pub(super) fn tags(version: Option<&Version>) -> (Option<String>, Option<String>) {
    let (e_tag, version) = version.map_or((None, None), version_parts);
    (e_tag.map(Into::into), version.map(Into::into))
}

impl Looked {
    /// Whether the object is as it is asked for.
    fn check(&self, options: &GetOptions) -> Result<()> {
        let asks_for_time = (options.if_match.is_none() && options.if_unmodified_since.is_some())
            || (options.if_none_match.is_none() && options.if_modified_since.is_some());
        if asks_for_time && !self.time_is_known {
            return Err(not_supported("the storage does not know when the object was written"));
        }
        if options.version.is_some() && options.version != self.meta.version {
            return Err(not_supported("only the present version can be read"));
        }
        options.check_preconditions(&self.meta)
    }

    fn result(self, payload: Body, range: Range<u64>) -> GetResult {
        api::get_result(GetResultPayload::Stream(payload), self.meta, range)
    }
}

type Body = stream::BoxStream<'static, Result<Bytes>>;

fn body(value: Bytes) -> Body {
    stream::once(async move { Ok(value) }).boxed()
}

/// Why a piece of a value could not be had.
enum Miss {
    /// The value is shorter than was thought.
    Short,
    Failed(Error),
}

impl MuxObjectStore {
    async fn look(&self, location: &Path, cx: &OpContext) -> Result<Looked> {
        match self.storage.stat(location.as_ref(), cx).await {
            Ok(known) => Ok(Looked {
                time_is_known: known.modified_unix_ms.is_some(),
                meta: object(location.clone(), &known),
            }),
            Err(error) => Err(read_error(error, location)),
        }
    }

    pub(super) async fn read(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let cx = context(&options.extensions);
        let must_agree = options.if_match.is_some() || options.version.is_some();
        for _ in 0..TRIES {
            let looked = self.look(location, &cx).await?;
            looked.check(&options)?;
            let size = looked.meta.size;
            let range = match &options.range {
                Some(range) => range.as_range(size).map_err(generic)?,
                None => 0..size,
            };
            if options.head {
                return Ok(looked.result(stream::empty().boxed(), range));
            }
            let payload = match self.body(location, &range, size, &cx).await {
                Ok(payload) => payload,
                Err(Miss::Short) => continue,
                Err(Miss::Failed(error)) => return Err(error),
            };
            if must_agree {
                let again = self.look(location, &cx).await?;
                if (&again.meta.e_tag, &again.meta.version)
                    != (&looked.meta.e_tag, &looked.meta.version)
                {
                    continue;
                }
            }
            return Ok(looked.result(payload, range));
        }
        Err(changed(location.as_ref()))
    }

    /// The bytes of a range of a value that was of this size when it was looked at.
    async fn body(
        &self,
        location: &Path,
        range: &Range<u64>,
        size: u64,
        cx: &OpContext,
    ) -> Result<Body, Miss> {
        let len = range.end.saturating_sub(range.start);
        let failed = |error| Miss::Failed(read_error(error, location));
        let key = location.as_ref();
        if len == size && len <= SMALL_BYTES {
            let value = self.storage.get(key, cx).await.map_err(failed)?;
            return if value.len() as u64 == size { Ok(body(value)) } else { Err(Miss::Short) };
        }
        if len < size && len <= self.whole_bytes && self.has_ranges() {
            return self.piece(location, range.clone(), cx).await.map(body);
        }
        let reader = self.storage.get_stream(key, cx).await.map_err(failed)?;
        Ok(Section::new(reader, location.clone(), range, size).boxed())
    }

    fn has_ranges(&self) -> bool {
        self.storage.capabilities().contains(Operation::GetRange)
    }

    /// Exactly the bytes of a range, as one call.
    async fn piece(
        &self,
        location: &Path,
        range: Range<u64>,
        cx: &OpContext,
    ) -> Result<Bytes, Miss> {
        let len = range.end.saturating_sub(range.start);
        if len == 0 {
            return Ok(Bytes::new());
        }
        match self.storage.get_range(location.as_ref(), range, cx).await {
            Ok(value) if value.len() as u64 == len => Ok(value),
            Ok(_) => Err(Miss::Short),
            Err(error) if is_past_the_end(&error) => Err(Miss::Short),
            Err(error) => Err(Miss::Failed(read_error(error, location))),
        }
    }

    pub(super) async fn read_ranges(
        &self,
        location: &Path,
        ranges: &[Range<u64>],
    ) -> Result<Vec<Bytes>> {
        let mut wanted = ranges.to_vec();
        for range in ranges {
            GetRange::Bounded(range.clone()).is_valid().map_err(generic)?;
        }
        let cx = OpContext::new();
        for _ in 0..TRIES {
            let fetch = |range: Range<u64>| self.merged(location, range, &cx);
            match coalesce_ranges(&wanted, fetch, OBJECT_STORE_COALESCE_DEFAULT).await {
                Ok(values) => return Ok(values),
                Err(Miss::Failed(error)) => return Err(error),
                Err(Miss::Short) => {}
            }
            // One of them reaches past the end, which nobody had to ask for before.
            let size = self.look(location, &cx).await?.meta.size;
            wanted.clear();
            for range in ranges {
                wanted.push(GetRange::Bounded(range.clone()).as_range(size).map_err(generic)?);
            }
        }
        Err(changed(location.as_ref()))
    }

    /// Ranges that lie close together, as one.
    async fn merged(
        &self,
        location: &Path,
        range: Range<u64>,
        cx: &OpContext,
    ) -> Result<Bytes, Miss> {
        if self.has_ranges() {
            return self.piece(location, range, cx).await;
        }
        let len = range.end.saturating_sub(range.start);
        let options = GetOptions::new().with_range(Some(range));
        let whole = async { self.read(location, options).await?.bytes().await };
        match Box::pin(whole).await {
            Ok(value) if value.len() as u64 == len => Ok(value),
            Ok(_) => Err(Miss::Short),
            Err(error) => Err(Miss::Failed(error)),
        }
    }
}

fn is_past_the_end(error: &StorageError) -> bool {
    matches!(error.kind(), StorageErrorKind::Http { status: 416, .. })
}
