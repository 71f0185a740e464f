//! The document as a whole: options above, backends below.

use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{ConfigError, ConfigErrorKind};
use super::fields::Fields;
use super::place::{Key, Table, Value, line};
use super::stores::StoreSpec;
use crate::mux::MuxOptions;

/// The keys that are options of the mux, beside the backends.
const OPTIONS: &str = "mode, backend_timeout_ms, retry, cooldown_base_ms, cooldown_cap_ms, \
    health_check_interval_ms, throw_on_fanout_partial, backend";

/// More keys than there are options in any table: some of them must be wrong together.
const MANY_KEYS: usize = 32;

pub(super) struct Document {
    pub(super) options: MuxOptions,
    pub(super) backends: Vec<BackendSection>,
}

/// One `[[backend]]`.
#[derive(Clone)]
pub(super) struct BackendSection {
    pub(super) name: String,
    pub(super) weight: Option<f64>,
    pub(super) store: StoreSpec,
    /// The line of its URL, for what only shows when the store is opened.
    pub(super) url_line: usize,
}

impl Document {
    pub(super) fn parse(text: &str) -> Result<Self, ConfigError> {
        let parsed = DeTable::parse(text).map_err(|error| {
            let at = error.span().map(|span| line(text, span.start));
            let quoted = text.split(['"', '\'']).skip(1).step_by(2);
            let why = ConfigErrorKind::Syntax(without_values(error.message(), quoted));
            ConfigError::new(at, String::new(), why)
        })?;
        let span = parsed.span();
        let mut table = parsed.into_inner();
        let key = table.keys().find(|key| key.get_ref() == "backend").cloned();
        let sections = key.and_then(|key| table.remove(&key).map(|value| (key, value)));
        Ok(Self { options: options(text, span, table)?, backends: backends(text, sections)? })
    }
}

/// The options of the mux. Serde finds what is wrong; where, and without showing values, is ours.
fn options(text: &str, span: Range<usize>, table: Table<'_>) -> Result<MuxOptions, ConfigError> {
    let read = |table: &Table<'_>| {
        let input = toml::de::Deserializer::from(Spanned::new(span.clone(), table.clone()));
        MuxOptions::deserialize(input)
    };
    read(&table).map_err(|error| {
        let is_known = |key: &Key<'_>| OPTIONS.split(", ").any(|known| known == key.get_ref());
        let unknown = table.keys().filter(|key| !is_known(key));
        if let Some(first) = unknown.min_by_key(|key| key.span().start) {
            let (at, key) = (line(text, first.span().start), first.get_ref().as_ref());
            let kind = ConfigErrorKind::UnknownKey(OPTIONS);
            return ConfigError::new(Some(at), key.to_owned(), kind);
        }
        let why = error.message();
        let place = culprit(&table, &|table| read(table).is_ok());
        let (key, at) =
            place.map_or((String::new(), None), |(key, offset)| (key, Some(line(text, offset))));
        let why = if key == "mode" {
            without_path(why, &key)
        } else {
            let mut values = Vec::new();
            table.values().for_each(|value| collect(value.get_ref(), &mut values));
            without_path(&without_values(why, values.into_iter()), &key)
        };
        ConfigError::new(at, key, ConfigErrorKind::Refused(why))
    })
}

/// The one key without which all would be good, as deep as it lies. None where several are wrong
/// together.
fn culprit(table: &Table<'_>, is_good: &dyn Fn(&Table<'_>) -> bool) -> Option<(String, usize)> {
    if table.len() > MANY_KEYS {
        return None;
    }
    table.iter().find_map(|(key, value)| {
        let mut rest = table.clone();
        rest.remove(key);
        if !is_good(&rest) {
            return None;
        }
        let name = key.get_ref().as_ref();
        let inner = value.get_ref().as_table().and_then(|inner| {
            culprit(inner, &|inner| {
                let mut whole = table.clone();
                let value = Spanned::new(value.span(), DeValue::Table(inner.clone()));
                whole.insert(key.clone(), value);
                is_good(&whole)
            })
        });
        Some(inner.map_or_else(
            || (name.to_owned(), key.span().start),
            |(below, offset)| (alloc::format!("{name}.{below}"), offset),
        ))
    })
}

/// What is wrong, without the keys that lead there: they are told before it.
fn without_path(why: &str, key: &str) -> String {
    key.split('.')
        .fold(why, |why, part| {
            let behind = why.strip_prefix('`').unwrap_or(why).strip_prefix(part);
            let behind = behind.map(|behind| behind.strip_prefix('`').unwrap_or(behind));
            behind.and_then(|behind| behind.strip_prefix(": ")).unwrap_or(why)
        })
        .to_owned()
}

fn backends(
    text: &str,
    sections: Option<(Key<'_>, Value<'_>)>,
) -> Result<Vec<BackendSection>, ConfigError> {
    let Some((key, value)) = sections else { return Ok(Vec::new()) };
    let wrong = |offset| {
        let right = ConfigErrorKind::WrongType("a table for each backend, headed [[backend]]");
        ConfigError::new(Some(line(text, offset)), "backend".to_owned(), right)
    };
    let DeValue::Array(sections) = value.into_inner() else { return Err(wrong(key.span().start)) };
    sections
        .into_iter()
        .map(|section| {
            let span = section.span();
            let DeValue::Table(table) = section.into_inner() else { return Err(wrong(span.start)) };
            backend(Fields::new(text, span.start, table))
        })
        .collect()
}

fn backend(mut fields: Fields<'_, '_>) -> Result<BackendSection, ConfigError> {
    let name = fields.required("name")?;
    fields.belong_to(&name);
    let weight = fields.number("weight")?;
    let url_line = fields.line_of("url");
    let url = fields.required("url")?;
    let store = StoreSpec::read(&url, url_line, &mut fields)?;
    fields.end(store.keys())?;
    Ok(BackendSection { name, weight, store, url_line })
}

/// Every text below a value.
fn collect<'a>(value: &'a DeValue<'_>, texts: &mut Vec<&'a str>) {
    match value {
        DeValue::String(text) => texts.push(text),
        DeValue::Array(values) => values.iter().for_each(|each| collect(each.get_ref(), texts)),
        DeValue::Table(table) => table.values().for_each(|each| collect(each.get_ref(), texts)),
        _ => {}
    }
}

/// What a parser says, without the texts of the document that it quotes: one may be a secret.
///
/// Parsers quote what they found in double quotes, with `\` before what could end them, and what
/// they expect in backquotes.
fn without_values<'a>(message: &str, values: impl Iterator<Item = &'a str>) -> String {
    let mut shown = String::new();
    let (mut quoted, mut escaped) = (false, false);
    for letter in message.chars() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => {
                quoted = !quoted;
                if quoted {
                    shown.push('…');
                }
            }
            _ if quoted => {}
            _ => shown.push(letter),
        }
    }
    // And whatever else is a value of the document word for word.
    for value in values.filter(|value| value.len() > 3) {
        if shown.contains(value) && !OPTIONS.contains(value) {
            shown = shown.replace(value, "…");
        }
    }
    let one_line = shown.lines().next().unwrap_or_default();
    one_line.trim_end_matches(['.', ' ']).to_string()
}
