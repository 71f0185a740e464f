//! Whether the store is there at all: what its own answers do not tell.

use alloc::boxed::Box;
use alloc::format;
use std::io;
use std::path::Path as Folder;
use std::path::PathBuf;

use crate::error::StorageError;
use crate::port::SendFuture;
use crate::runtime::off_thread;
use crate::sync::Arc;

/// A question to ask of the store before and beside its own answers.
#[derive(Clone)]
pub(super) enum Probe {
    /// Whether this folder is there.
    Folder(Arc<Folder>),
    /// Whatever the user wants to know.
    Custom(Arc<Ask>),
}

type Ask = dyn Fn() -> SendFuture<'static, ()> + Send + Sync;

impl Probe {
    pub(super) fn folder(root: PathBuf) -> Self {
        Self::Folder(Arc::from(root))
    }

    pub(super) fn custom<F, A>(ask: F) -> Self
    where
        F: Fn() -> A + Send + Sync + 'static,
        A: Future<Output = Result<(), StorageError>> + Send + 'static,
    {
        let ask: Box<Ask> = Box::new(move || Box::pin(ask()));
        Self::Custom(Arc::from(ask))
    }

    pub(super) async fn ask(&self) -> Result<(), StorageError> {
        match self {
            Self::Custom(ask) => ask().await,
            Self::Folder(root) => {
                let root = root.clone();
                off_thread(move || is_there(&root)).await
            }
        }
    }
}

/// Whether the folder is there. If not the error is transient: the disk may come back.
fn is_there(root: &Folder) -> Result<(), StorageError> {
    let problem = match std::fs::metadata(root) {
        Ok(metadata) if metadata.is_dir() => return Ok(()),
        Ok(_) => io::Error::from(io::ErrorKind::NotADirectory),
        Err(error) => error,
    };
    let detail = format!("the folder {} is not there", root.display());
    Err(StorageError::other(problem).with_detail(detail))
}

/// Asks whether the store is there at all, where there is a way to ask.
pub(super) async fn ask(probe: Option<&Probe>) -> Result<(), StorageError> {
    match probe {
        Some(probe) => probe.ask().await,
        None => Ok(()),
    }
}

/// A missing key is only that while the store is there.
pub(super) async fn explain(probe: Option<&Probe>, error: StorageError) -> StorageError {
    if !error.is_key_not_found() {
        return error;
    }
    ask(probe).await.err().unwrap_or(error)
}
