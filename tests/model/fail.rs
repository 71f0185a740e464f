//! Errors as the contract sees them, and answers that can be compared.

use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use storage_mux::sim::{FakeClock, run};
use storage_mux::{
    Backend, BackendName, MemoryStorage, MuxError, NetworkFault, SeededRng, StorageError,
    StorageErrorKind, StorageMux,
};

use crate::action::ms;

/// An error, by what a caller can tell of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fail {
    /// An error that is no more than its code.
    Plain(&'static str),
    /// A status, and how long the service asked to be left alone.
    Http(u16, Option<Duration>),
    Mux(Box<MuxFail>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MuxFail {
    pub(crate) code: &'static str,
    pub(crate) backend: Option<String>,
    pub(crate) index: Option<u32>,
    pub(crate) tried: Option<u32>,
    pub(crate) cause: Option<Fail>,
    pub(crate) causes: Vec<(String, Fail)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Transient,
    Semantic,
    Abort,
}

pub(crate) const NOT_FOUND: Fail = Fail::Plain("STORAGE.KEY_NOT_FOUND");
pub(crate) const INVALID_KEY: Fail = Fail::Plain("STORAGE.INVALID_KEY");
pub(crate) const UNSUPPORTED: Fail = Fail::Plain("STORAGE.UNSUPPORTED");
pub(crate) const ABORTED: Fail = Fail::Plain("STORAGE.ABORTED");
pub(crate) const OTHER: Fail = Fail::Plain("STORAGE.OTHER");

impl Fail {
    /// An error of a mux that is no more than its code yet.
    pub(crate) fn mux(code: &'static str) -> MuxFail {
        let (backend, index, tried, cause) = (None, None, None, None);
        MuxFail { code, backend, index, tried, cause, causes: Vec::new() }
    }

    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Plain(code) => code,
            Self::Http(..) => "STORAGE.HTTP_STATUS",
            Self::Mux(fail) => fail.code,
        }
    }

    /// The table of clause E-2.
    pub(crate) fn class(&self) -> Class {
        match self {
            Self::Http(408 | 429 | 500..=599, _) => Class::Transient,
            Self::Http(..) => Class::Semantic,
            Self::Plain(_) if *self == ABORTED => Class::Abort,
            Self::Plain("STORAGE_CDN.CREDENTIAL_EXPIRED") => Class::Semantic,
            Self::Plain(_) if [NOT_FOUND, INVALID_KEY, UNSUPPORTED].contains(self) => {
                Class::Semantic
            }
            Self::Plain(_) => Class::Transient,
            Self::Mux(fail) => match fail.code {
                "STORAGE_MUX.ALL_BACKENDS_DOWN"
                | "STORAGE_MUX.BACKEND_TIMEOUT"
                | "STORAGE_MUX.BACKEND_DRAINING" => Class::Transient,
                "STORAGE_MUX.BACKEND_ABORTED" => Class::Abort,
                _ => Class::Semantic,
            },
        }
    }

    pub(crate) const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Http(_, wait) => *wait,
            Self::Plain(_) | Self::Mux(_) => None,
        }
    }

    /// What a real error tells.
    pub(crate) fn seen(error: &StorageError) -> Self {
        match error.kind() {
            StorageErrorKind::Http { status, retry_after } => Self::Http(*status, *retry_after),
            StorageErrorKind::Mux(error) => Self::seen_mux(error),
            _ => Self::Plain(error.code()),
        }
    }

    pub(crate) fn seen_mux(error: &MuxError) -> Self {
        let named = |(name, error): (&BackendName, &StorageError)| {
            (name.as_str().to_owned(), Self::seen(error))
        };
        Self::Mux(Box::new(MuxFail {
            code: error.code().as_str(),
            backend: error.backend().map(|name| name.as_str().into()),
            index: error.attempt_index(),
            tried: error.attempt_count(),
            cause: error.cause().map(Self::seen),
            causes: error
                .aggregate()
                .map(|all| all.iter().map(named).collect())
                .unwrap_or_default(),
        }))
    }
}

impl From<MuxFail> for Fail {
    fn from(fail: MuxFail) -> Self {
        Self::Mux(Box::new(fail))
    }
}

/// What a store says when it is told to fail.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wrong {
    Http(u16),
    /// A status, and the milliseconds that the service asks to be left alone.
    Busy(u16, u64),
    Reset,
    Other,
    NotFound,
    Expired,
    Unsupported,
    Aborted,
    /// A nested mux with nobody left.
    NestedDown,
    /// A nested mux that gives an answer of its own.
    NestedNo,
}

impl Wrong {
    pub(crate) fn error(self) -> StorageError {
        match self {
            Self::Http(status) => StorageError::http(status),
            Self::Busy(status, wait) => StorageError::http(status).with_retry_after(ms(wait)),
            Self::Reset => StorageError::network(NetworkFault::Reset),
            Self::Other => StorageError::other("it is not understood"),
            Self::NotFound => StorageError::key_not_found(),
            Self::Expired => StorageError::credential_expired(),
            Self::Unsupported => StorageError::unsupported(),
            Self::Aborted => StorageError::aborted(),
            Self::NestedDown => nested().0.clone(),
            Self::NestedNo => nested().1.clone(),
        }
    }

    pub(crate) fn fail(self) -> Fail {
        match self {
            Self::Http(status) => Fail::Http(status, None),
            Self::Busy(status, wait) => Fail::Http(status, Some(ms(wait))),
            Self::Reset => Fail::Plain("STORAGE.NETWORK_RESET"),
            Self::Other => OTHER,
            Self::NotFound => NOT_FOUND,
            Self::Expired => Fail::Plain("STORAGE_CDN.CREDENTIAL_EXPIRED"),
            Self::Unsupported => UNSUPPORTED,
            Self::Aborted => ABORTED,
            Self::NestedDown => {
                MuxFail { tried: Some(0), ..Fail::mux("STORAGE_MUX.ALL_BACKENDS_DOWN") }.into()
            }
            Self::NestedNo => {
                let backend = Some("nobody".into());
                MuxFail { backend, ..Fail::mux("STORAGE_MUX.BACKEND_NOT_FOUND") }.into()
            }
        }
    }
}

/// Two errors that only a mux can make.
fn nested() -> &'static (StorageError, StorageError) {
    static NESTED: OnceLock<(StorageError, StorageError)> = OnceLock::new();
    NESTED.get_or_init(|| {
        let clock = FakeClock::new();
        let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
            .backend(Backend::new("only", MemoryStorage::new()))
            .build()
            .expect("a mux of one");
        run(&clock, mux.drain("only")).expect("no hang").expect("drained");
        let down = run(&clock, mux.get("k")).expect("no hang").expect_err("nobody is left");
        (down, mux.set_weight("nobody", 1.0).expect_err("nobody has this name").into())
    })
}

/// Bytes that print short.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Blob(pub(crate) Bytes);

impl fmt::Debug for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.0.get(..24).unwrap_or(&self.0);
        write!(f, "{} bytes {:?}", self.0.len(), Bytes::copy_from_slice(shown))
    }
}

/// What a call, a step of a stream or a drain comes to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    Done,
    Bytes(Blob),
    Found(bool),
    Written(Option<String>),
    /// Size and version.
    Meta(u64, Option<String>),
    /// Keys with size and version, and where to go on.
    Page(Vec<(String, u64, Option<String>)>, Option<String>),
    /// A stream is open.
    Opened,
    /// A chunk of a read stream, or its end.
    Chunk(Option<Blob>),
}
