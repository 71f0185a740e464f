//! Keys as names of objects, and back.
//!
//! A key is any text; a path of a foreign store is not: it knows no empty part, no `.` or `..`, no
//! control character, and drops a `/` at either end. File systems refuse more. So what cannot
//! stand in a name is escaped, each key has one name of its own, and a name that no key has is
//! nobody's: it is neither listed nor touched.
//!
//! - A forbidden character, and `%` itself, is `%` with two upper-case hexadecimal digits.
//! - A part that does not show what it is ends in `%f` (the last part of a key) or `%d` (any
//!   other). In a bucket these are the parts that may not stand as they are: nothing, `.`, `..`.
//! - Where the store trims names, white space at the end of a key gets the mark, and at its start
//!   it is escaped: a blank as any character, others as `%u` with four digits behind the character
//!   that sorts right before, so that names sort as their keys.
//! - In a folder a file and a directory cannot share a name, but keys may: `a` and `a/b`. There a
//!   part with a dot shows a file and one without shows a directory; all others carry the mark.
//! - In a folder a part too long for a file name goes on in a directory below: its pieces but the
//!   last end in `%+`.
//!
//! A listing ordered by names is then all but ordered by keys: see [`Names::offset`] and
//! [`Names::is_barrier`].

#[cfg(test)]
mod tests;

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use core::fmt::Write;

use crate::error::StorageError;
use crate::key::validate_key;

/// The longest name of a file or directory that we make, its mark apart. The usual limit is 255;
/// the store itself appends `#` and a number to the names of unfinished files.
const NAME_BYTES: usize = 240;

/// What a plain name in a folder may hold, by the same reasoning.
const PLAIN_NAME_BYTES: usize = NAME_BYTES + 2;

/// What some file system takes for something else, or refuses, beyond what a path forbids. `#`
/// begins the names of unfinished files, `\` and `:` lead out of the folder on Windows.
const NOT_IN_FILE_NAMES: &str = "#\\:*?\"<>|";

/// The longest key by default: the limit of the large object stores.
const MAX_KEY_BYTES: u32 = 1024;

/// The longest path that the system takes, the closing NUL included.
const PATH_BYTES: usize = if cfg!(target_vendor = "apple") { 1024 } else { 4096 };

/// What the separator after the root, the closing NUL and the store's mark of an unfinished file
/// take of a path.
const PATH_EXTRA_BYTES: usize = 16;

const DELETE: char = '\u{7f}';

/// How keys become names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names {
    /// Whether keys are taken as names as they are, and others refused.
    pub(super) plain: bool,
    /// Whether names are those of files and directories.
    pub(super) folder: bool,
    /// Whether the store drops white space at either end of a name.
    pub(super) trimmed: bool,
    pub(super) max_key_bytes: u32,
    pub(super) max_name_bytes: usize,
}

/// How a character that cannot stand in a name is written there.
#[derive(Clone, Copy)]
enum Escape {
    /// `%` and two digits.
    Plain,
    /// The same behind another character.
    Behind(char),
    /// `%u` and four digits behind another character.
    Wide(char),
}

impl Escape {
    fn len(self) -> usize {
        match self {
            Self::Plain => 3,
            Self::Behind(before) => 3 + before.len_utf8(),
            Self::Wide(before) => 6 + before.len_utf8(),
        }
    }

    fn push(self, name: &mut String, c: char) {
        let code = u32::from(c);
        // Writing to a string cannot fail.
        let _ = match self {
            Self::Plain => write!(name, "%{code:02X}"),
            Self::Behind(before) => write!(name, "{before}%{code:02X}"),
            Self::Wide(before) => write!(name, "{before}%u{code:04X}"),
        };
    }
}

/// Where a part stands in its key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Last,
    Inner,
}

/// Where the listing of a prefix begins: the directory that all its keys share.
pub(super) struct Root<'a> {
    /// What their names begin with, up to a `/`. None at the top.
    pub(super) path: Option<String>,
    /// What they begin with themselves, the `/` included.
    directory: &'a str,
}

impl Root<'_> {
    /// The part of a name that is not shared.
    pub(super) fn below<'n>(&self, name: &'n str) -> &'n str {
        let shared = self.path.as_ref().map_or(0, |path| path.len() + 1);
        name.get(shared..).unwrap_or_default()
    }
}

impl Names {
    /// Limits keys to so many bytes. In a bucket the limit holds for names too; in a folder that of
    /// a path does.
    pub(super) const fn limit_keys(&mut self, bytes: u32) {
        self.max_key_bytes = bytes;
        if !self.folder {
            self.max_name_bytes = bytes as usize;
        }
    }

    /// Names in a bucket.
    pub(super) const fn bucket() -> Self {
        Self {
            plain: false,
            folder: false,
            trimmed: false,
            max_key_bytes: MAX_KEY_BYTES,
            max_name_bytes: MAX_KEY_BYTES as usize,
        }
    }

    /// Names of files below a root whose path has this many bytes.
    pub(super) fn folder(root_bytes: usize) -> Self {
        let max_name_bytes = PATH_BYTES.saturating_sub(root_bytes).saturating_sub(PATH_EXTRA_BYTES);
        let max_key_bytes = MAX_KEY_BYTES.min(longest_key(max_name_bytes));
        Self { folder: true, max_key_bytes, max_name_bytes, ..Self::bucket() }
    }

    /// The name of a key.
    ///
    /// # Errors
    ///
    /// `INVALID_KEY` where the key breaks a common rule, is too long, or, with plain names, is no
    /// legal name.
    pub(super) fn name(&self, key: &str) -> Result<String, StorageError> {
        validate_key(key, self.max_key_bytes as usize)?;
        if self.plain {
            if self.folder && !fits_a_folder(key) {
                return Err(StorageError::invalid_key("a file cannot have this name"));
            }
            return match is_legal(key) && !self.is_cut(key) {
                true => Ok(key.to_owned()),
                false => Err(StorageError::invalid_key("the store has no such name")),
            };
        }
        let name = self.encoded(key);
        if name.len() > self.max_name_bytes {
            return Err(StorageError::invalid_key(
                "the escaped key is longer than the store takes",
            ));
        }
        Ok(name)
    }

    /// The key of a name. `None` for a name that no key has.
    pub(super) fn key(&self, name: &str) -> Option<String> {
        let shows = !self.folder && !name.contains('%') && !self.is_cut(name);
        let key = if self.plain || shows {
            name.to_owned()
        } else {
            self.decoded(name).filter(|key| self.encoded(key) == name)?
        };
        let legal = validate_key(&key, self.max_key_bytes as usize).is_ok()
            && !(self.plain && self.is_cut(&key))
            && !(self.plain && self.folder && !fits_a_folder(&key));
        legal.then_some(key)
    }

    /// Where to look for all keys that start with `prefix`. `None` where no key can.
    pub(super) fn root<'a>(&self, prefix: &'a str) -> Option<Root<'a>> {
        let Some((inner, last)) = prefix.rsplit_once('/') else {
            return Some(Root { path: None, directory: "" });
        };
        let mut name = String::new();
        if self.plain {
            name.push_str(inner);
        } else {
            for part in inner.split('/') {
                if !name.is_empty() {
                    name.push('/');
                }
                self.push_part(&mut name, part, Place::Inner);
            }
        }
        let directory = prefix.strip_suffix(last).unwrap_or_default();
        is_legal(&name).then_some(Root { path: Some(name), directory })
    }

    /// A name that sorts before the names of all keys below `root` that sort after `key`.
    ///
    /// An escape begins with `%`, or with `~` for the one character that sorts after all others
    /// that a key shares with its name. So the order of names differs from that of the keys only
    /// right behind a common start where the one key has an escape and the other a character up to
    /// `%`, a `~`, or, after a part that needs a mark, one up to `/`. The start of `key` up to the
    /// first such place will do. What all names share is out of the question.
    pub(super) fn offset(&self, key: &str, root: &Root<'_>) -> Option<String> {
        if self.folder {
            return None;
        }
        if self.plain {
            return is_legal(key).then(|| key.to_owned());
        }
        let below = key.strip_prefix(root.directory)?;
        let mut part_start = 0;
        let end = below.char_indices().find_map(|(at, c)| {
            let needs_mark = matches!(below.get(part_start..at), Some("" | "." | ".."));
            if c == '/' {
                part_start = at + 1;
            }
            let leads = self.trimmed && at == 0 && (is_wide_space(c) || is_before_space(c));
            (leads || c <= '%' || (c <= '/' && needs_mark) || c == '~' || c == DELETE).then_some(at)
        });
        let start = below.get(..end.unwrap_or(below.len()))?.trim_end_matches('/');
        match &root.path {
            _ if start.is_empty() => None,
            Some(path) => Some(format!("{path}/{start}")),
            None => Some(start.to_owned()),
        }
    }

    /// Whether every name that sorts after this one belongs to a key that sorts after this one's.
    /// `below` is what is [below](Root::below) the root of the listing.
    pub(super) fn is_barrier(&self, below: &str) -> bool {
        !self.folder && (self.plain || below.bytes().all(|byte| byte > b'%'))
    }

    /// Whether the store would keep less of it.
    fn is_cut(&self, name: &str) -> bool {
        self.trimmed && name.trim() != name
    }

    fn encoded(&self, key: &str) -> String {
        let mut name = String::with_capacity(key.len().saturating_add(2));
        let mut rest = key;
        while let Some((part, tail)) = rest.split_once('/') {
            self.push_part(&mut name, part, Place::Inner);
            name.push('/');
            rest = tail;
        }
        self.push_part(&mut name, rest, Place::Last);
        name
    }

    fn push_part(&self, name: &mut String, part: &str, place: Place) {
        let mut start = name.len();
        let mut chars = part.chars().peekable();
        while let Some(c) = chars.next() {
            let leads = self.trimmed && name.is_empty();
            let escape = self.escape(c, leads, chars.peek().is_none());
            let len = escape.map_or(c.len_utf8(), Escape::len);
            if self.folder && name.len() - start + len > NAME_BYTES {
                name.push_str("%+/");
                start = name.len();
            }
            match escape {
                Some(escape) => escape.push(name, c),
                None => name.push(c),
            }
        }
        let body = name.get(start..).unwrap_or_default();
        let shows = if body.contains('.') { Place::Last } else { Place::Inner };
        let ends_blank =
            self.trimmed && place == Place::Last && body.ends_with(char::is_whitespace);
        if matches!(body, "" | "." | "..") || ends_blank || (self.folder && shows != place) {
            name.push_str(if place == Place::Last { "%f" } else { "%d" });
        }
    }

    fn escape(&self, c: char, leads: bool, last: bool) -> Option<Escape> {
        // Windows drops a dot or a space at the end of a name.
        let in_folder = NOT_IN_FILE_NAMES.contains(c) || (last && matches!(c, '.' | ' '));
        match c {
            DELETE => Some(Escape::Behind('~')),
            _ if leads && is_wide_space(c) => Some(Escape::Wide(before_space(c))),
            ' ' if leads => Some(Escape::Plain),
            _ if c == '%' || c.is_ascii_control() || (self.folder && in_folder) => {
                Some(Escape::Plain)
            }
            _ => None,
        }
    }

    /// What a name says, whether or not it is the right name for it.
    fn decoded(&self, name: &str) -> Option<String> {
        let mut key = String::with_capacity(name.len());
        let mut separator = false;
        for part in name.split('/') {
            if separator {
                key.push('/');
            }
            let piece = part.strip_suffix("%+");
            separator = piece.is_none();
            let body = piece
                .or_else(|| part.strip_suffix("%f"))
                .or_else(|| part.strip_suffix("%d"))
                .unwrap_or(part);
            push_unescaped(&mut key, body)?;
        }
        Some(key)
    }
}

/// The longest key whose name fits, whatever the key: an escape makes three bytes of one, and a
/// part that is cut takes three more for each piece of 240.
fn longest_key(max_name_bytes: usize) -> u32 {
    u32::try_from(max_name_bytes.saturating_sub(8).saturating_mul(10) / 31).unwrap_or(u32::MAX)
}

fn push_unescaped(key: &mut String, mut rest: &str) -> Option<()> {
    while let Some((before, escape)) = rest.split_once('%') {
        let (digits, tail) = match escape.strip_prefix('u') {
            Some(wide) => (wide.get(..4)?, wide.get(4..)?),
            None => (escape.get(..2)?, escape.get(2..)?),
        };
        let c = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
        key.push_str(match c {
            DELETE => before.strip_suffix('~')?,
            _ if is_wide_space(c) => before.strip_suffix(before_space(c))?,
            _ => before,
        });
        key.push(c);
        rest = tail;
    }
    key.push_str(rest);
    Some(())
}

/// White space beyond ASCII.
fn is_wide_space(c: char) -> bool {
    !c.is_ascii() && c.is_whitespace()
}

/// The last character before some white space that is none itself.
fn before_space(space: char) -> char {
    ('\0'..space).rev().find(|c| !c.is_whitespace()).unwrap_or_default()
}

/// Whether white space follows a character in the order of all, so that escapes may begin with it.
fn is_before_space(c: char) -> bool {
    (c..=char::MAX).nth(1).is_some_and(is_wide_space)
}

/// Whether a store takes this as a name and keeps it as it is.
fn is_legal(name: &str) -> bool {
    !name.bytes().any(|byte| byte.is_ascii_control())
        && name.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// Whether the local file system keeps a plain name and takes it for nothing else.
fn fits_a_folder(key: &str) -> bool {
    !key.contains(['#', '\\']) && key.split('/').all(|part| part.len() <= PLAIN_NAME_BYTES)
}
