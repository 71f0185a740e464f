//! One page of a listing, out of a store's own listing of any order.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use core::future::poll_fn;
use core::pin::Pin;

use ::object_store::{ObjectMeta, ObjectStore};
use futures_core::Stream;

use super::errors::store_error;
use super::settings::Settings;
use super::values::metadata;
use crate::error::StorageError;
use crate::port::{Entry, Metadata, Page, PageRequest};

type Objects = Pin<Box<dyn Stream<Item = ::object_store::Result<ObjectMeta>> + Send>>;

/// Reads the store's listing as far as it must and keeps the first keys of the page: one more than
/// asked for, to know whether there are more. So memory is bounded by the page, not by the store.
pub(super) async fn page<S: ObjectStore>(
    store: &S,
    settings: &Settings,
    prefix: &str,
    request: &PageRequest,
) -> Result<Page, StorageError> {
    let names = &settings.names;
    let Some(root) = names.root(prefix) else { return Ok(Page::default()) };
    let mut objects: Objects =
        match first_key(prefix, request).and_then(|key| names.offset(key, &root)) {
            Some(offset) => store.list_with_offset(root.path.as_ref(), &offset),
            None => store.list(root.path.as_ref()),
        };
    let after = request.after.as_deref();
    let mut found = Found::new(request.limit);
    let mut previous = String::new();
    let mut sorted = settings.sorted_listing;
    while let Some(object) = poll_fn(|cx| objects.as_mut().poll_next(cx)).await {
        let object = object.map_err(store_error)?;
        let name = object.location.as_ref();
        // A store that was said to be sorted and shows that it is not is read to its end.
        sorted = sorted && name >= previous.as_str();
        let Some(key) = names.key(name) else { continue };
        let barrier = sorted && names.is_barrier(root.below(name));
        let wanted = key.starts_with(prefix) && after.is_none_or(|after| key.as_str() > after);
        let last = if wanted { found.offer(key, &object) } else { is_past(&key, prefix) };
        if barrier && last {
            break;
        }
        if sorted {
            previous.clear();
            previous.push_str(name);
        }
    }
    Ok(found.page())
}

/// What every key of the page sorts after: its prefix less one character, and the key that it
/// follows.
fn first_key<'a>(prefix: &'a str, request: &'a PageRequest) -> Option<&'a str> {
    let before = prefix.char_indices().next_back().and_then(|(at, _)| prefix.get(..at));
    before.max(request.after.as_deref())
}

/// Whether the key, and so all that sort after it, are past those with the prefix.
fn is_past(key: &str, prefix: &str) -> bool {
    key > prefix && !key.starts_with(prefix)
}

/// The first keys of those seen so far.
struct Found {
    first: BTreeMap<String, Metadata>,
    limit: usize,
}

impl Found {
    fn new(limit: usize) -> Self {
        Self { first: BTreeMap::new(), limit: limit.max(1) }
    }

    /// Takes a key. Whether the page is complete, if no key comes before this one any more.
    fn offer(&mut self, key: String, object: &ObjectMeta) -> bool {
        let is_last = self.first.last_key_value().is_none_or(|(last, _)| *last <= key);
        let full = self.first.len() > self.limit;
        if !(full && is_last) {
            // A store may give a name twice, when it is replaced meanwhile.
            let is_new = self.first.insert(key, metadata(object)).is_none();
            if is_new && full {
                self.first.pop_last();
            }
        }
        is_last && self.first.len() > self.limit
    }

    fn page(mut self) -> Page {
        let more = self.first.len() > self.limit && self.first.pop_last().is_some();
        let next = self.first.last_key_value().filter(|_| more).map(|(key, _)| key.clone());
        let entries = self.first.into_iter().map(|(key, known)| Entry::new(key, known)).collect();
        Page::new(entries, next)
    }
}
