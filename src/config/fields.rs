//! The keys of one backend, each taken once and by its type.

use alloc::borrow::ToOwned;
use alloc::string::String;

use toml::de::DeValue;

use super::credentials::SECRETS;
use super::error::{ConfigError, ConfigErrorKind};
use super::place::{Table, Value, line};

/// What is left of a `[[backend]]`, and where it stands.
pub(super) struct Fields<'a, 'i> {
    text: &'a str,
    start: usize,
    table: Table<'i>,
    backend: Option<String>,
}

impl<'a, 'i> Fields<'a, 'i> {
    pub(super) const fn new(text: &'a str, start: usize, table: Table<'i>) -> Self {
        Self { text, start, table, backend: None }
    }

    /// Names the backend in every error from now on.
    pub(super) fn belong_to(&mut self, backend: &str) {
        self.backend = Some(backend.to_owned());
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.table.keys().any(|name| name.get_ref() == key)
    }

    /// The line of a key, or of the backend where it has none.
    pub(super) fn line_of(&self, key: &str) -> usize {
        let found = self.table.iter().find(|(name, _)| name.get_ref() == key);
        line(self.text, found.map_or(self.start, |(name, _)| name.span().start))
    }

    pub(super) fn error(&self, at: usize, key: &str, kind: ConfigErrorKind) -> ConfigError {
        let error = ConfigError::new(Some(at), key.to_owned(), kind);
        match &self.backend {
            Some(backend) => error.of(backend),
            None => error,
        }
    }

    fn take(&mut self, key: &str) -> Option<(usize, Value<'i>)> {
        let at = self.line_of(key);
        let found = self.table.keys().find(|name| name.get_ref() == key).cloned()?;
        self.table.remove(&found).map(|value| (at, value))
    }

    pub(super) fn required(&mut self, key: &str) -> Result<String, ConfigError> {
        let at = self.line_of(key);
        match self.text(key)? {
            Some(text) => Ok(text),
            None => Err(self.error(at, key, ConfigErrorKind::Missing)),
        }
    }

    /// A text that is not empty.
    pub(super) fn text(&mut self, key: &str) -> Result<Option<String>, ConfigError> {
        let Some((at, value)) = self.take(key) else { return Ok(None) };
        match value.get_ref() {
            DeValue::String(text) if !text.is_empty() => Ok(Some(text.clone().into_owned())),
            _ => {
                let right = ConfigErrorKind::WrongType("a text in quotes, and not empty");
                Err(self.error(at, key, right))
            }
        }
    }

    pub(super) fn flag(&mut self, key: &str) -> Result<Option<bool>, ConfigError> {
        let Some((at, value)) = self.take(key) else { return Ok(None) };
        match value.get_ref() {
            DeValue::Boolean(flag) => Ok(Some(*flag)),
            _ => Err(self.error(at, key, ConfigErrorKind::WrongType("true or false"))),
        }
    }

    /// A number, whole or not. Its range is judged where it is used.
    pub(super) fn number(&mut self, key: &str) -> Result<Option<f64>, ConfigError> {
        let Some((at, value)) = self.take(key) else { return Ok(None) };
        let number = match value.get_ref() {
            DeValue::Float(float) => float.as_str().parse().ok(),
            DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str().parse().ok(),
            _ => None,
        };
        match number {
            Some(number) => Ok(Some(number)),
            None => Err(self.error(at, key, ConfigErrorKind::WrongType("a decimal number"))),
        }
    }

    /// Nothing may be left that nobody has taken.
    pub(super) fn end(self, known: &'static str) -> Result<(), ConfigError> {
        let Some(left) = self.table.keys().next() else { return Ok(()) };
        let name = left.get_ref().as_ref();
        let secret = SECRETS.iter().find(|(key, _)| *key == name);
        let kind = match secret {
            Some((_, instead)) => ConfigErrorKind::Secret(instead),
            None => ConfigErrorKind::UnknownKey(known),
        };
        Err(self.error(line(self.text, left.span().start), name, kind))
    }
}
