//! Secrets: named by the document, looked up in the environment.

use alloc::borrow::ToOwned;
use alloc::string::String;

use super::error::{ConfigError, ConfigErrorKind};
use super::fields::Fields;

/// The keys under which people write a secret down, and the key that names a variable instead.
pub(super) const SECRETS: [(&str, &str); 9] = [
    ("access_key_id", "access_key_id_env"),
    ("access_key", "access_key_id_env"),
    ("secret_access_key", "secret_access_key_env"),
    ("secret_key", "secret_access_key_env"),
    ("secret", "secret_access_key_env"),
    ("session_token", "session_token_env"),
    ("token", "authorization_env"),
    ("authorization", "authorization_env"),
    ("password", "password_env"),
];

/// The variable that a key names.
#[derive(Clone)]
pub(super) struct Variable {
    key: &'static str,
    line: usize,
    name: String,
}

impl Variable {
    /// The variable that `key` names, if it is there.
    pub(super) fn read(
        key: &'static str,
        fields: &mut Fields<'_, '_>,
    ) -> Result<Option<Self>, ConfigError> {
        let line = fields.line_of(key);
        let Some(name) = fields.text(key)? else { return Ok(None) };
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        if !name.chars().all(is_name) || name.len() > 64 {
            let right = "the name of a variable: letters, digits and _, 64 at most";
            return Err(fields.error(line, key, ConfigErrorKind::WrongType(right)));
        }
        Ok(Some(Self { key, line, name }))
    }

    /// Its value. An empty one is none.
    pub(super) fn value(
        &self,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<String, ConfigError> {
        variable(&self.name).filter(|value| !value.is_empty()).ok_or_else(|| {
            ConfigError::new(Some(self.line), self.key.to_owned(), ConfigErrorKind::Variable)
        })
    }

    /// The value does not fit where it is needed. It is not shown.
    pub(super) fn unfit(&self, why: &str) -> ConfigError {
        let kind = ConfigErrorKind::Store(why.to_owned());
        ConfigError::new(Some(self.line), self.key.to_owned(), kind)
    }
}

/// The value of a variable that may not be asked for.
pub(super) fn value_of(
    wanted: Option<&Variable>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<String>, ConfigError> {
    wanted.map(|each| each.value(variable)).transpose()
}
