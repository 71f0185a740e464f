//! What is known of a service: what it says of itself, and what a backend was told.

use core::fmt;
use std::path::PathBuf;

use ::opendal::{Executor, Operator};

use crate::backend::names::Names;
use crate::backend::probe::{Probe, ask, explain};
use crate::error::StorageError;
use crate::port::{Capabilities, Operation};

/// Services that keep files in directories. There a file and a directory cannot share a name, and
/// most of their writers write in place.
const FILE_SERVICES: [&str; 23] = [
    "aliyun-drive",
    "alluxio",
    "azdls",
    "azfile",
    "compfs",
    "dbfs",
    "dropbox",
    "fs",
    "ftp",
    "gdrive",
    "goosefs",
    "hdfs",
    "hdfs-native",
    "ipmfs",
    "koofr",
    "monoiofs",
    "onedrive",
    "opfs",
    "pcloud",
    "seafile",
    "sftp",
    "webdav",
    "webhdfs",
];

/// The local file system: its root is a folder that can be looked for.
const LOCAL: &str = "fs";

const MIB: u64 = 1024 * 1024;

#[derive(Clone)]
pub(super) struct Settings {
    pub(super) names: Names,
    pub(super) streamed_writes: bool,
    pub(super) conditional_writes: bool,
    pub(super) sorted_listing: bool,
    pub(super) max_collected_bytes: u64,
    pub(super) max_partial_bytes: u64,
    pub(super) probe: Option<Probe>,
    pub(super) executor: Option<Executor>,
}

impl Settings {
    pub(super) fn of(operator: &Operator) -> Self {
        let info = operator.info();
        let files = FILE_SERVICES.contains(&info.scheme());
        let probe = (info.scheme() == LOCAL).then(|| Probe::folder(PathBuf::from(info.root())));
        let mut settings = Self {
            names: Names::bucket(),
            streamed_writes: !files,
            conditional_writes: true,
            sorted_listing: true,
            max_collected_bytes: 256 * MIB,
            max_partial_bytes: 256 * MIB,
            probe,
            executor: None,
        };
        settings.set_file_names(files, operator);
        settings
    }

    /// Takes up names of files, or of a bucket, with their limits.
    pub(super) fn set_file_names(&mut self, on: bool, operator: &Operator) {
        let names = match on {
            true => Names::folder(operator.info().root().len()),
            false => Names::bucket(),
        };
        self.names = Names { plain: self.names.plain, trimmed: true, ..names };
    }

    /// What the operator can do, in the words of the ports.
    pub(super) fn capabilities(&self, operator: &Operator) -> Capabilities {
        use Operation::{
            Delete, Get, GetRange, GetStream, Has, List, Set, SetIf, SetPartial, SetStream, Stat,
        };
        let known = operator.info().capability();
        let matches = known.write_with_if_match || known.write_with_if_version_match;
        let conditional = self.conditional_writes && known.write_with_if_not_exists && matches;
        [
            (Get, known.read),
            (Set, known.write),
            (SetPartial, known.read && known.write && known.stat),
            (Has, known.stat),
            (Delete, known.delete),
            (List, known.list),
            (Stat, known.stat),
            (GetStream, known.read && known.stat),
            (SetStream, known.write),
            (GetRange, known.read && known.stat),
            (SetIf, known.write && known.stat && conditional),
        ]
        .into_iter()
        .filter(|(_, there)| *there)
        .fold(Capabilities::none(self.names.max_key_bytes), |all, (operation, _)| {
            all.with(operation)
        })
    }

    /// Whether a write stream goes through the service's own writer.
    pub(super) fn streams(&self, operator: &Operator) -> bool {
        self.streamed_writes && operator.info().capability().write_can_multi
    }

    /// Asks whether the store is there at all, where there is a way to ask.
    pub(super) async fn probe(&self) -> Result<(), StorageError> {
        ask(self.probe.as_ref()).await
    }

    /// A missing key is only that while the store is there.
    pub(super) async fn explain(&self, error: StorageError) -> StorageError {
        explain(self.probe.as_ref(), error).await
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("names", &self.names)
            .field("streamed_writes", &self.streamed_writes)
            .field("conditional_writes", &self.conditional_writes)
            .field("sorted_listing", &self.sorted_listing)
            .field("max_collected_bytes", &self.max_collected_bytes)
            .field("max_partial_bytes", &self.max_partial_bytes)
            .field("probe", &self.probe.is_some())
            .field("executor", &self.executor.is_some())
            .finish()
    }
}
