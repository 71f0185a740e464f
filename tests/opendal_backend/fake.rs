//! A service that keeps its values in memory, says of itself what it is told to, and fails on cue.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use opendal::raw::{
    OpCopy, OpCreateDir, OpDelete, OpList, OpPresign, OpRead, OpRename, OpStat, OpWrite,
    RpCreateDir, RpPresign, RpRead, RpRename, RpStat, Service, ServiceInfo, oio,
};
use opendal::{
    Buffer, BytesRange, Capability, Error, ErrorKind, Metadata, MetadataBuilder, OperationContext,
    Operator, Result,
};
use storage_mux::backend::OpendalBackend;

#[derive(Clone)]
pub(crate) struct Fake(Arc<Mutex<Script>>);

/// What the fake holds, does and has done.
#[derive(Default)]
pub(crate) struct Script {
    pub(crate) capability: Capability,
    pub(crate) values: BTreeMap<String, (Bytes, u64)>,
    /// What the next calls fail with.
    pub(crate) errors: VecDeque<Error>,
    /// What the next chunks given to a writer fail with.
    pub(crate) chunk_errors: VecDeque<Error>,
    /// Writes of others that happen right after a value was read.
    pub(crate) interlopers: VecDeque<(&'static str, &'static str)>,
    /// Whether a read tells how long the value is, and if so what.
    pub(crate) silent: bool,
    pub(crate) lies: Option<u64>,
    /// Whether a listing comes in the wrong order.
    pub(crate) reversed: bool,
    /// How many lines of listings were asked for.
    pub(crate) listed: usize,
    pub(crate) calls: Vec<String>,
    writes: u64,
}

impl Script {
    fn begin(&mut self, call: String) -> Result<()> {
        self.calls.push(call);
        self.errors.pop_front().map_or(Ok(()), Err)
    }

    pub(crate) fn put(&mut self, name: &str, value: Bytes) -> Metadata {
        self.writes += 1;
        self.values.insert(name.into(), (value.clone(), self.writes));
        self.metadata(value.len() as u64, self.writes)
    }

    fn metadata(&self, len: u64, version: u64) -> Metadata {
        let mut known = MetadataBuilder::file(len);
        if self.capability.write_with_if_match {
            known.etag(format!("\"{version}\""));
        }
        if self.capability.write_with_if_version_match {
            known.version(version.to_string());
        }
        known.build()
    }

    fn find(&self, name: &str) -> Result<(Bytes, u64)> {
        let missing = || Error::new(ErrorKind::NotFound, "no such value");
        self.values.get(name).cloned().ok_or_else(missing)
    }
}

/// What a plain service can do: all but conditions.
pub(crate) fn plain() -> Capability {
    Capability {
        stat: true,
        read: true,
        write: true,
        write_can_empty: true,
        write_can_multi: true,
        delete: true,
        list: true,
        list_with_recursive: true,
        ..Capability::default()
    }
}

impl Fake {
    pub(crate) fn new(capability: Capability) -> Self {
        Self(Arc::new(Mutex::new(Script { capability, ..Script::default() })))
    }

    pub(crate) fn script(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn calls(&self) -> Vec<String> {
        std::mem::take(&mut self.script().calls)
    }

    pub(crate) fn backend(&self) -> OpendalBackend {
        let context = OperationContext::default();
        OpendalBackend::new(Operator::from_parts(context, Arc::new(self.clone())))
    }
}

impl std::fmt::Debug for Fake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Fake")
    }
}

fn lacking<T>() -> Result<T> {
    Err(Error::new(ErrorKind::Unsupported, "the fake has no such thing"))
}

impl Service for Fake {
    type Reader = oio::StreamReader<FakeReader>;
    type Writer = FakeWriter;
    type Lister = FakeLister;
    type Deleter = oio::OneShotDeleter<FakeDeleter>;
    type Copier = ();
    type Composer = ();

    fn info(&self) -> ServiceInfo {
        ServiceInfo::with_scheme("fake")
    }

    fn capability(&self) -> Capability {
        self.script().capability
    }

    async fn create_dir(
        &self,
        _: &OperationContext,
        _: &str,
        _: OpCreateDir,
    ) -> Result<RpCreateDir> {
        lacking()
    }

    async fn stat(&self, _: &OperationContext, path: &str, _: OpStat) -> Result<RpStat> {
        let mut script = self.script();
        script.begin(format!("stat {path}"))?;
        let (value, version) = script.find(path)?;
        Ok(RpStat::new(script.metadata(value.len() as u64, version)))
    }

    fn read(&self, _: &OperationContext, path: &str, _: OpRead) -> Result<Self::Reader> {
        Ok(oio::StreamReader::new(FakeReader(self.clone(), path.into())))
    }

    fn write(&self, _: &OperationContext, path: &str, args: OpWrite) -> Result<Self::Writer> {
        Ok(FakeWriter { fake: self.clone(), path: path.into(), args, chunks: Vec::new() })
    }

    fn delete(&self, _: &OperationContext) -> Result<Self::Deleter> {
        Ok(oio::OneShotDeleter::new(FakeDeleter(self.clone())))
    }

    fn list(&self, _: &OperationContext, path: &str, args: OpList) -> Result<Self::Lister> {
        let mut script = self.script();
        let after = args.start_after().unwrap_or_default();
        script.begin(format!("list {path} after {after:?}"))?;
        let folder = if path == "/" { "" } else { path };
        let mut entries: Vec<_> = script
            .values
            .iter()
            .filter(|(name, _)| name.starts_with(folder) && name.as_str() > after)
            .map(|(name, (value, version))| {
                oio::Entry::new(name, script.metadata(value.len() as u64, *version))
            })
            .collect();
        // As many services do, it lists the directory itself.
        entries.insert(0, oio::Entry::new(path, MetadataBuilder::dir().build()));
        if !script.reversed {
            entries.reverse();
        }
        Ok(FakeLister(self.clone(), entries))
    }

    fn copy(&self, _: &OperationContext, _: &str, _: &str, _: OpCopy) -> Result<Self::Copier> {
        lacking()
    }

    async fn rename(
        &self,
        _: &OperationContext,
        _: &str,
        _: &str,
        _: OpRename,
    ) -> Result<RpRename> {
        lacking()
    }

    async fn presign(&self, _: &OperationContext, _: &str, _: OpPresign) -> Result<RpPresign> {
        lacking()
    }
}

pub(crate) struct FakeReader(Fake, String);

impl oio::StreamRead for FakeReader {
    async fn open(&self, range: BytesRange) -> Result<(RpRead, Box<dyn oio::ReadStreamDyn>)> {
        let mut script = self.0.script();
        script.begin(format!("read {} {}", self.1, range.to_header()))?;
        let (value, version) = script.find(&self.1)?;
        let len = script.lies.unwrap_or(value.len() as u64);
        let known = match script.silent {
            true => RpRead::default(),
            false => RpRead::new(script.metadata(len, version)),
        };
        if let Some((name, value)) = script.interlopers.pop_front() {
            script.put(name, value.into());
        }
        let value = Buffer::from(value.slice(range.to_content_range(value.len())?));
        Ok((known, Box::new(value)))
    }
}

pub(crate) struct FakeWriter {
    fake: Fake,
    path: String,
    args: OpWrite,
    chunks: Vec<Bytes>,
}

impl oio::Write for FakeWriter {
    async fn write(&mut self, chunk: Buffer) -> Result<()> {
        let mut script = self.fake.script();
        script.calls.push(format!("write {} {}", self.path, chunk.len()));
        if let Some(error) = script.chunk_errors.pop_front() {
            return Err(error);
        }
        self.chunks.push(chunk.to_bytes());
        Ok(())
    }

    async fn close(&mut self) -> Result<Metadata> {
        let mut script = self.fake.script();
        script.begin(format!("close {}", self.path))?;
        let present = script.values.get(&self.path).map(|(_, version)| version.to_string());
        let e_tag = present.as_ref().map(|version| format!("\"{version}\""));
        let wanted = (self.args.if_match(), self.args.if_version_match());
        let holds = !(self.args.if_not_exists() && present.is_some())
            && wanted.0.is_none_or(|wanted| Some(wanted) == e_tag.as_deref())
            && wanted.1.is_none_or(|wanted| Some(wanted) == present.as_deref());
        if !holds {
            return Err(Error::new(ErrorKind::ConditionNotMatch, "the condition is false"));
        }
        Ok(script.put(&self.path, self.chunks.concat().into()))
    }

    async fn abort(&mut self) -> Result<()> {
        self.fake.script().calls.push(format!("abort {}", self.path));
        Ok(())
    }
}

pub(crate) struct FakeLister(Fake, Vec<oio::Entry>);

impl oio::List for FakeLister {
    async fn next(&mut self) -> Result<Option<oio::Entry>> {
        let mut script = self.0.script();
        script.listed += 1;
        Ok(self.1.pop())
    }
}

pub(crate) struct FakeDeleter(Fake);

impl oio::OneShotDelete for FakeDeleter {
    async fn delete_once(&self, path: String, _: OpDelete) -> Result<()> {
        let mut script = self.0.script();
        script.begin(format!("delete {path}"))?;
        script.values.remove(&path);
        Ok(())
    }
}
