//! A page of the first keys of a listing that comes in any order.

use alloc::collections::BTreeMap;
use alloc::string::String;

use crate::port::{Entry, Metadata, Page, PageRequest};

/// What every key of the page sorts after: its prefix less one character, and the key that it
/// follows.
pub(super) fn first_key<'a>(prefix: &'a str, request: &'a PageRequest) -> Option<&'a str> {
    let before = prefix.char_indices().next_back().and_then(|(at, _)| prefix.get(..at));
    before.max(request.after.as_deref())
}

/// Whether the key, and so all that sort after it, are past those with the prefix.
pub(super) fn is_past(key: &str, prefix: &str) -> bool {
    key > prefix && !key.starts_with(prefix)
}

/// The first keys of those seen so far.
pub(super) struct FirstKeys {
    first: BTreeMap<String, Metadata>,
    limit: usize,
}

impl FirstKeys {
    pub(super) fn new(limit: usize) -> Self {
        Self { first: BTreeMap::new(), limit: limit.max(1) }
    }

    /// Takes a key. Whether the page is complete, if no key comes before this one any more.
    pub(super) fn offer(&mut self, key: String, known: impl FnOnce() -> Metadata) -> bool {
        let is_last = self.first.last_key_value().is_none_or(|(last, _)| *last <= key);
        let full = self.first.len() > self.limit;
        if !(full && is_last) {
            // A store may give a name twice, when it is replaced meanwhile.
            let is_new = self.first.insert(key, known()).is_none();
            if is_new && full {
                self.first.pop_last();
            }
        }
        is_last && self.first.len() > self.limit
    }

    pub(super) fn page(mut self) -> Page {
        let more = self.first.len() > self.limit && self.first.pop_last().is_some();
        let next = self.first.last_key_value().filter(|_| more).map(|(key, _)| key.clone());
        let entries = self.first.into_iter().map(|(key, known)| Entry::new(key, known)).collect();
        Page::new(entries, next)
    }
}
