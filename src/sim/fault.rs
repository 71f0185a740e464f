//! What can go wrong with an operation or a stream.

use core::time::Duration;

use crate::error::{NetworkFault, StorageError};

/// What happens to one operation.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Fault {
    /// Nothing: the inner storage answers.
    #[default]
    None,
    /// It fails at once, and the inner storage is not asked.
    Fail(StorageError),
    /// It takes this long, then the inner storage answers.
    Delay(Duration),
    /// It takes this long, then fails; the inner storage is not asked.
    DelayThenFail(Duration, StorageError),
    /// The inner storage does it, then the answer is lost and this error given instead.
    LoseAnswer(StorageError),
    /// It never ends.
    Hang,
}

impl Fault {
    /// It fails at once with the answer of an HTTP service of this status.
    #[must_use]
    pub const fn http(status: u16) -> Self {
        Self::Fail(StorageError::http(status))
    }
}

/// What happens to a stream once it is open.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct StreamFault {
    /// How many chunks pass before it happens.
    pub after_chunks: usize,
    /// What happens then. A stream has no answer to lose: `LoseAnswer` fails a writer at its close,
    /// after the value became visible, and fails a reader as `Fail` does.
    pub fault: Fault,
    /// Whether it happens again before every further chunk. Only a `Delay` can happen twice.
    pub repeats: bool,
}

impl StreamFault {
    /// `fault` after `after_chunks` chunks. For a writer, closing counts as a chunk.
    #[must_use]
    pub const fn new(after_chunks: usize, fault: Fault) -> Self {
        Self { after_chunks, fault, repeats: false }
    }

    /// A torn stream: the connection is reset after so many chunks.
    #[must_use]
    pub const fn torn(after_chunks: usize) -> Self {
        Self::new(after_chunks, Fault::Fail(StorageError::network(NetworkFault::Reset)))
    }

    /// A slow trickle: every chunk takes this long.
    #[must_use]
    pub const fn trickle(wait: Duration) -> Self {
        Self { after_chunks: 0, fault: Fault::Delay(wait), repeats: true }
    }
}
