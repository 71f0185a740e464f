//! What is wrong with a document, and where.

use alloc::string::String;
use core::fmt;

/// A mistake in a configuration document. Its text is one line and shows no secret.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigError {
    /// The line of the document, from 1, where it is known.
    pub line: Option<usize>,
    /// The backend that the line belongs to, if it belongs to one and it has a name.
    pub backend: Option<String>,
    /// The key, with a dot before each inner key: `retry.max_attempts`. Empty where the document
    /// as a whole is meant.
    pub key: String,
    /// What is wrong.
    pub kind: ConfigErrorKind,
}

/// What is wrong with a key of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigErrorKind {
    /// The document is no TOML; what its parser says.
    Syntax(String),
    /// No such key is known here; those that are.
    UnknownKey(&'static str),
    /// The key must be there.
    Missing,
    /// The value is of the wrong type; the right one.
    WrongType(&'static str),
    /// The value is out of range, or the option refuses it; why.
    Refused(String),
    /// No storage has this scheme.
    UnknownScheme,
    /// The URL leads nowhere; what it lacks or has too much.
    Url(&'static str),
    /// A secret stands in the document. The key that names a variable instead.
    Secret(&'static str),
    /// The environment lacks the variable that the key names. The name is not shown: it could be
    /// the secret, written down by mistake.
    Variable,
    /// The client of the store refuses what it was given; why.
    Store(String),
}

impl ConfigError {
    pub(super) const fn new(line: Option<usize>, key: String, kind: ConfigErrorKind) -> Self {
        Self { line, backend: None, key, kind }
    }

    pub(super) fn of(mut self, backend: &str) -> Self {
        self.backend = Some(backend.into());
        self
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        if let Some(line) = self.line {
            write!(f, "line {line}")?;
            separator = ", ";
        }
        if let Some(backend) = &self.backend {
            write!(f, "{separator}backend `{backend}`")?;
            separator = ", ";
        }
        if !self.key.is_empty() {
            write!(f, "{separator}`{}`", self.key)?;
            separator = ", ";
        }
        if !separator.is_empty() {
            f.write_str(": ")?;
        }
        self.kind.fmt(f)
    }
}

impl fmt::Display for ConfigErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(why) => write!(f, "no TOML: {why}"),
            Self::UnknownKey(known) => write!(f, "no such key is known; use one of {known}"),
            Self::Missing => f.write_str("is missing; add it"),
            Self::WrongType(right) => write!(f, "must be {right}"),
            Self::Refused(why) | Self::Store(why) => f.write_str(why),
            Self::UnknownScheme => write!(
                f,
                "no storage has this scheme; use one of s3, file, memory, redis, rediss, https, http"
            ),
            Self::Url(why) => f.write_str(why),
            Self::Secret(instead) => {
                write!(f, "a secret must not stand in the document; name its variable by {instead}")
            }
            Self::Variable => {
                f.write_str("the variable that it names is not set, or empty; set it")
            }
        }
    }
}

impl core::error::Error for ConfigError {}
