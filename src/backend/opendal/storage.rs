//! The operations, each as the operator's own call or two.

use alloc::string::String;
use core::ops::Range;

use ::opendal::options::{ReadOptions, WriteOptions};
use ::opendal::{BytesRange, ErrorKind};
use bytes::Bytes;

use super::errors::{read_error, storage_error, write_error};
use super::values::{metadata, written};
use super::{OpendalBackend, OpendalReader, OpendalWriter, listing};
use crate::backend::value::{PARTIAL_TRIES, patched, too_large, wrong_length};
use crate::backend::version::version_parts;
use crate::error::StorageError;
use crate::port::{
    Capabilities, Condition, Metadata, OpContext, Operation, Page, PageRequest, Storage, Written,
};

impl OpendalBackend {
    /// What every operation begins with. Some services do their work although they say that they
    /// cannot, so what is said counts.
    fn enter(&self, operation: Operation, cx: &OpContext) -> Result<(), StorageError> {
        if cx.is_aborted() {
            return Err(StorageError::aborted());
        }
        match self.capabilities().contains(operation) {
            true => Ok(()),
            false => Err(StorageError::unsupported()),
        }
    }

    /// The same with a key.
    fn name(
        &self,
        operation: Operation,
        key: &str,
        cx: &OpContext,
    ) -> Result<String, StorageError> {
        self.enter(operation, cx)?;
        self.settings.names.name(key)
    }

    async fn known(&self, name: &str) -> Result<Metadata, StorageError> {
        let error = match self.operator.stat(name).await {
            Ok(known) if !known.is_dir() => return Ok(metadata(&known)),
            Ok(_) => StorageError::key_not_found(),
            Err(error) => read_error(error),
        };
        Err(self.settings.explain(error).await)
    }

    async fn value(&self, name: &str) -> Result<Bytes, StorageError> {
        match self.operator.read(name).await {
            Ok(value) => Ok(value.to_bytes()),
            Err(error) => Err(self.settings.explain(read_error(error)).await),
        }
    }

    async fn put(&self, name: &str, value: Bytes) -> Result<Written, StorageError> {
        self.settings.probe().await?;
        match self.operator.write(name, value).await {
            Ok(known) => Ok(written(&known)),
            Err(error) => Err(write_error(error)),
        }
    }

    async fn put_if(
        &self,
        name: &str,
        value: Bytes,
        condition: &Condition,
    ) -> Result<Written, StorageError> {
        let known = self.operator.info().capability();
        let mut options = WriteOptions::default();
        match condition {
            Condition::Absent => options.if_not_exists = true,
            Condition::VersionMatches(version) => match version_parts(version) {
                (_, Some(version)) if known.write_with_if_version_match => {
                    options.if_version_match = Some(version.into());
                }
                (Some(e_tag), _) if known.write_with_if_match => {
                    options.if_match = Some(e_tag.into());
                }
                _ => return Err(StorageError::precondition_failed()),
            },
        }
        self.settings.probe().await?;
        match self.operator.write_options(name, value, options).await {
            Ok(known) => Ok(written(&known)),
            // Some services say so where there is nothing whose version could match.
            Err(error)
                if error.kind() == ErrorKind::NotFound && *condition != Condition::Absent =>
            {
                Err(StorageError::precondition_failed().with_source(error))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Err(StorageError::other(error)),
            Err(error) => Err(storage_error(error)),
        }
    }

    /// One try of a partial write.
    async fn rewrite(&self, name: &str, offset: u64, bytes: &Bytes) -> Result<(), StorageError> {
        let limit = self.settings.max_partial_bytes;
        let (old, condition) = match self.known(name).await {
            Ok(_) if bytes.is_empty() => return Ok(()),
            Ok(known) if known.size > limit => return Err(too_large(limit)),
            Ok(known) => {
                let old = self.value(name).await?;
                (old, known.version.map(Condition::VersionMatches))
            }
            Err(error) if error.is_key_not_found() => (Bytes::new(), Some(Condition::Absent)),
            Err(error) => return Err(error),
        };
        // No byte asks for what lies before the offset.
        let offset = if bytes.is_empty() { 0 } else { offset };
        let new = patched(&old, offset, bytes, limit)?;
        drop(old);
        let conditional = self.capabilities().contains(Operation::SetIf);
        match condition.filter(|_| conditional) {
            Some(condition) => self.put_if(name, new, &condition).await.map(drop),
            None => self.put(name, new).await.map(drop),
        }
    }
}

#[deny(clippy::missing_trait_methods)]
impl Storage for OpendalBackend {
    type Reader = OpendalReader;
    type Writer = OpendalWriter;

    async fn get(&self, key: &str, cx: &OpContext) -> Result<Bytes, StorageError> {
        let name = self.name(Operation::Get, key, cx)?;
        self.value(&name).await
    }

    async fn set(&self, key: &str, value: Bytes, cx: &OpContext) -> Result<Written, StorageError> {
        let name = self.name(Operation::Set, key, cx)?;
        self.put(&name, value).await
    }

    async fn set_partial(
        &self,
        key: &str,
        offset: u64,
        bytes: Bytes,
        cx: &OpContext,
    ) -> Result<(), StorageError> {
        let name = self.name(Operation::SetPartial, key, cx)?;
        for _ in 0..PARTIAL_TRIES {
            match self.rewrite(&name, offset, &bytes).await {
                Err(error) if error.is_precondition_failed() => {}
                result => return result,
            }
        }
        Err(StorageError::other("others keep writing to the key"))
    }

    async fn has(&self, key: &str, cx: &OpContext) -> Result<bool, StorageError> {
        let name = self.name(Operation::Has, key, cx)?;
        match self.known(&name).await {
            Ok(_) => Ok(true),
            Err(error) if error.is_key_not_found() => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn delete(&self, key: &str, cx: &OpContext) -> Result<(), StorageError> {
        let name = self.name(Operation::Delete, key, cx)?;
        let Err(error) = self.operator.delete(&name).await else {
            // A service that takes what is missing for deleted may be missing itself.
            return self.settings.probe().await;
        };
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
        self.enter(Operation::List, cx)?;
        let page = listing::page(&self.operator, &self.settings, prefix, page).await?;
        // A store that went away half-way may have ended its listing as if that were all.
        self.settings.probe().await?;
        Ok(page)
    }

    async fn stat(&self, key: &str, cx: &OpContext) -> Result<Metadata, StorageError> {
        let name = self.name(Operation::Stat, key, cx)?;
        self.known(&name).await
    }

    async fn get_stream(&self, key: &str, cx: &OpContext) -> Result<OpendalReader, StorageError> {
        let name = self.name(Operation::GetStream, key, cx)?;
        let opened = async {
            let reader = self.operator.reader(&name).await?;
            let mut chunks = reader.into_stream(..).await?;
            let known = chunks.metadata().await;
            Ok((chunks, known))
        };
        let total = match opened.await {
            Ok((chunks, Ok(known))) if known.is_file() => {
                return Ok(OpendalReader::new(chunks, known.content_length()));
            }
            // The service does not tell with the value how long it is, so it is asked.
            Ok((chunks, Err(error))) if error.kind() == ErrorKind::Unsupported => {
                return Ok(OpendalReader::new(chunks, self.known(&name).await?.size));
            }
            Ok((chunks, Ok(_))) => {
                return Ok(OpendalReader::new(chunks, self.known(&name).await?.size));
            }
            Ok((_, Err(error))) | Err(error) => error,
        };
        Err(self.settings.explain(read_error(total)).await)
    }

    async fn set_stream(&self, key: &str, cx: &OpContext) -> Result<OpendalWriter, StorageError> {
        let name = self.name(Operation::SetStream, key, cx)?;
        self.settings.probe().await?;
        OpendalWriter::open(self.operator.clone(), self.settings.clone(), name).await
    }

    fn capabilities(&self) -> Capabilities {
        self.settings.capabilities(&self.operator)
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
        let name = self.name(Operation::GetRange, key, cx)?;
        // Services differ in what they do with a range that leaves the value, so none does.
        let size = self.known(&name).await?.size;
        if range.start >= size {
            return Err(StorageError::range_not_satisfiable());
        }
        let wanted = range.end.min(size).saturating_sub(range.start);
        if wanted == 0 {
            return Ok(Bytes::new());
        }
        let options = ReadOptions {
            range: BytesRange::new(range.start, Some(wanted)),
            ..ReadOptions::default()
        };
        let value = match self.operator.read_options(&name, options).await {
            Ok(value) => value.to_bytes(),
            Err(error) => return Err(self.settings.explain(read_error(error)).await),
        };
        match value.len() as u64 {
            given if given == wanted => Ok(value),
            given => Err(wrong_length(given, wanted)),
        }
    }

    async fn set_if(
        &self,
        key: &str,
        value: Bytes,
        condition: Condition,
        cx: &OpContext,
    ) -> Result<Written, StorageError> {
        let name = self.name(Operation::SetIf, key, cx)?;
        self.put_if(&name, value, &condition).await
    }
}
