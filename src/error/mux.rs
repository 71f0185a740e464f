//! What a mux says when the trouble is its own, or when it must speak for its backends.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::error::Error;
use core::fmt;

use super::{MuxCode, StorageError};
use crate::mux_mode::MuxMode;
use crate::name::BackendName;
use crate::sync::Arc;

/// An error of a mux: a code, and what is known of where it happened.
///
/// One pointer in size and cheap to clone. Two are equal when code, place and causes are.
/// The text is one line: what happened, to which backend, and what to do about it.
#[derive(Clone, PartialEq)]
pub struct MuxError(Arc<Inner>);

#[derive(Clone, Debug, PartialEq)]
struct Inner {
    code: MuxCode,
    backend: Option<BackendName>,
    attempt_index: Option<u32>,
    attempt_count: Option<u32>,
    mode: Option<MuxMode>,
    detail: Option<Box<str>>,
    cause: Cause,
}

#[derive(Clone, Debug, PartialEq)]
enum Cause {
    None,
    One(StorageError),
    Aggregate(AggregateError),
}

impl MuxError {
    pub(crate) fn new(code: MuxCode) -> Self {
        Self(Arc::new(Inner {
            code,
            backend: None,
            attempt_index: None,
            attempt_count: None,
            mode: None,
            detail: None,
            cause: Cause::None,
        }))
    }

    /// Changes an error that is being made; one that is shared already is copied first.
    fn with(mut self, change: impl FnOnce(&mut Inner)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
    }

    pub(crate) fn with_backend(self, name: &BackendName) -> Self {
        self.with(|inner| inner.backend = Some(name.clone()))
    }

    pub(crate) fn with_attempt(self, index: u32) -> Self {
        self.with(|inner| inner.attempt_index = Some(index))
    }

    pub(crate) fn with_attempt_count(self, count: u32) -> Self {
        self.with(|inner| inner.attempt_count = Some(count))
    }

    pub(crate) fn with_mode(self, mode: MuxMode) -> Self {
        self.with(|inner| inner.mode = Some(mode))
    }

    pub(crate) fn with_detail(self, detail: impl Into<String>) -> Self {
        let detail = detail.into().into_boxed_str();
        self.with(|inner| inner.detail = Some(detail))
    }

    pub(crate) fn with_source(self, source: StorageError) -> Self {
        self.with(|inner| inner.cause = Cause::One(source))
    }

    pub(crate) fn with_aggregate(self, errors: Vec<(BackendName, StorageError)>) -> Self {
        self.with(|inner| inner.cause = Cause::Aggregate(AggregateError(errors)))
    }

    /// The code, from one of the two registries.
    #[must_use]
    pub fn code(&self) -> MuxCode {
        self.0.code
    }

    /// The backend it is about, where there is one.
    #[must_use]
    pub fn backend(&self) -> Option<&BackendName> {
        self.0.backend.as_ref()
    }

    /// Which attempt of the call it was, counted from zero.
    #[must_use]
    pub fn attempt_index(&self) -> Option<u32> {
        self.0.attempt_index
    }

    /// How many backends the call had tried.
    #[must_use]
    pub fn attempt_count(&self) -> Option<u32> {
        self.0.attempt_count
    }

    /// The mode of the mux.
    #[must_use]
    pub fn mode(&self) -> Option<MuxMode> {
        self.0.mode
    }

    /// The one error behind this one, where there is exactly one.
    #[must_use]
    pub fn cause(&self) -> Option<&StorageError> {
        match &self.0.cause {
            Cause::One(error) => Some(error),
            Cause::None | Cause::Aggregate(_) => None,
        }
    }

    /// One error per backend, where several failed together.
    #[must_use]
    pub fn aggregate(&self) -> Option<&AggregateError> {
        match &self.0.cause {
            Cause::Aggregate(errors) => Some(errors),
            Cause::None | Cause::One(_) => None,
        }
    }
}

impl Error for MuxError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0.cause {
            Cause::None => None,
            Cause::One(error) => Some(error),
            Cause::Aggregate(errors) => Some(errors),
        }
    }
}

impl fmt::Display for MuxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        f.write_str(inner.code.what())?;
        if let Some(name) = &inner.backend {
            // Debug escapes what would break the line.
            write!(f, ": backend {name:?}")?;
        }
        if let Some(detail) = &inner.detail {
            write!(f, ": {detail}")?;
        }
        if let Some(index) = inner.attempt_index {
            write!(f, ", attempt {index}")?;
        }
        if let Some(count) = inner.attempt_count {
            write!(f, ", {count} tried")?;
        }
        if let Some(mode) = inner.mode {
            write!(f, ", {mode} mode")?;
        }
        match &inner.cause {
            Cause::None => {}
            Cause::One(error) => write!(f, ", after {}", error.code())?,
            Cause::Aggregate(errors) => write!(f, ", after {errors}")?,
        }
        write!(f, "; {}", inner.code.advice())
    }
}

impl fmt::Debug for MuxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MuxError")
            .field("code", &self.0.code)
            .field("backend", &self.0.backend)
            .field("attempt_index", &self.0.attempt_index)
            .field("attempt_count", &self.0.attempt_count)
            .field("mode", &self.0.mode)
            .field("detail", &self.0.detail)
            .field("cause", &self.0.cause)
            .finish()
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for MuxError {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "{=str}: {}", self.0.code.as_str(), defmt::Display2Format(self));
    }
}

/// The errors of several backends, by name and in the order of the mux.
#[derive(Clone, Debug, PartialEq)]
pub struct AggregateError(Vec<(BackendName, StorageError)>);

impl AggregateError {
    /// The errors, each with the name of its backend.
    #[must_use = "iterators are lazy"]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&BackendName, &StorageError)> {
        self.0.iter().map(|(name, error)| (name, error))
    }

    /// The error of one backend.
    #[must_use]
    pub fn of(&self, name: &str) -> Option<&StorageError> {
        self.iter().find(|(known, _)| known.as_str() == name).map(|(_, error)| error)
    }
}

impl Error for AggregateError {}

impl fmt::Display for AggregateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, error)) in self.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{name:?} {}", error.code())?;
        }
        Ok(())
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for AggregateError {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "{}", defmt::Display2Format(self));
    }
}
