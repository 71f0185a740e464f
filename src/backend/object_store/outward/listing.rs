//! Listings: all below a directory, from a place on, and one level.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use futures_util::stream::{self, BoxStream, StreamExt, TryStreamExt};

use super::MuxObjectStore;
use super::api;
use super::api::list::{PaginatedListOptions, PaginatedListResult};
use super::api::path::Path;
use super::api::{Error, ListResult, ObjectMeta, Result};
use super::errors::foreign;
use super::reading::object;
use crate::port::{Entry, OpContext, Page, PageRequest, Storage};

/// What sorts after nearly all that a directory holds.
const LAST: char = char::MAX;

/// What the keys below a directory begin with: prefixes of paths end where a part does.
fn directory(prefix: Option<&Path>) -> String {
    match prefix {
        Some(prefix) if !prefix.is_root() => format!("{prefix}/"),
        _ => String::new(),
    }
}

/// The path whose text is just this. A key that is no path cannot be named here.
fn as_path(key: &str) -> Option<Path> {
    Path::parse(key).ok().filter(|path| !path.is_root() && path.as_ref() == key)
}

fn as_object(entry: &Entry) -> Option<ObjectMeta> {
    Some(object(as_path(&entry.key)?, &entry.metadata))
}

/// What a level shows in the place of a key: all up to the delimiter, which for `/` is the name of
/// a directory.
fn group_of<'a>(key: &'a str, prefix: &str, delimiter: &str) -> Option<&'a str> {
    let (name, _) = key.strip_prefix(prefix)?.split_once(delimiter)?;
    let shown = if delimiter == "/" { 0 } else { delimiter.len() };
    key.get(..prefix.len().saturating_add(name.len()).saturating_add(shown))
}

/// A place that nearly all keys of the group of this one sort before.
fn past_group(key: &str, prefix: &str, delimiter: &str) -> Option<String> {
    let group = group_of(key, prefix, delimiter)?;
    let inside = if delimiter == "/" { delimiter } else { "" };
    Some(format!("{group}{inside}{LAST}"))
}

impl MuxObjectStore {
    async fn page(&self, prefix: &str, request: &PageRequest) -> Result<Page> {
        let page = self.storage.list(prefix, request, &OpContext::new()).await;
        page.map_err(|error| foreign(error, prefix))
    }

    /// Page by page, each asked for once the one before has been taken.
    pub(super) fn list_from(
        &self,
        prefix: Option<&Path>,
        offset: Option<&Path>,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        let first = match offset {
            Some(offset) if !offset.is_root() => {
                PageRequest::after(offset.as_ref(), self.page_keys)
            }
            _ => PageRequest::first(self.page_keys),
        };
        let state = (self.clone(), directory(prefix), Some(first));
        stream::try_unfold(state, |(store, prefix, request)| async move {
            let Some(request) = request else { return Ok(None) };
            let page = store.page(&prefix, &request).await?;
            let next = page.next.map(|after| PageRequest::after(after, store.page_keys));
            let objects = page.entries.into_iter().filter_map(|entry| as_object(&entry).map(Ok));
            Ok::<_, Error>(Some((stream::iter(objects), (store, prefix, next))))
        })
        .try_flatten()
        .boxed()
    }

    /// At most `limit` objects and groups that sort after a place, and the place to go on from. A
    /// group that fills a page is not read any further.
    async fn gather(
        &self,
        prefix: &str,
        delimiter: Option<&str>,
        after: Option<String>,
        limit: usize,
    ) -> Result<(ListResult, Option<String>)> {
        let (mut objects, mut groups) = (Vec::new(), Vec::<Path>::new());
        let mut after = after;
        // Where a page that is cut short goes on.
        let mut last = None;
        loop {
            let request = match after.take() {
                Some(after) => PageRequest::after(after, self.page_keys),
                None => PageRequest::first(self.page_keys),
            };
            let page = self.page(prefix, &request).await?;
            for entry in &page.entries {
                let group = delimiter.and_then(|by| group_of(&entry.key, prefix, by));
                // The keys of a group follow one another.
                let is_known =
                    group.is_some_and(|name| groups.last().is_some_and(|p| p.as_ref() == name));
                if is_known {
                    continue;
                }
                if objects.len().saturating_add(groups.len()) >= limit {
                    return Ok((api::list_result(groups, objects), last));
                }
                match group {
                    None => objects.extend(as_object(entry)),
                    Some(name) => groups.extend(as_path(name)),
                }
                let past = delimiter.and_then(|by| past_group(&entry.key, prefix, by));
                last = Some(past.unwrap_or_else(|| entry.key.clone()));
            }
            let Some(next) = page.next else {
                return Ok((api::list_result(groups, objects), None));
            };
            let past = delimiter.and_then(|by| past_group(&next, prefix, by));
            after = Some(past.filter(|past| *past > next).unwrap_or(next));
        }
    }

    /// One level.
    pub(super) async fn level(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let level = self.gather(&directory(prefix), Some("/"), None, usize::MAX).await?;
        Ok(level.0)
    }

    /// A page, as one call tells the next where to go on.
    pub(super) async fn paginated(
        &self,
        prefix: &str,
        options: PaginatedListOptions,
    ) -> Result<PaginatedListResult> {
        let PaginatedListOptions { offset, delimiter, max_keys, page_token, .. } = options;
        let after = page_token.max(offset).filter(|after| !after.is_empty());
        let delimiter = delimiter.as_deref().filter(|by| !by.is_empty());
        let limit = max_keys.unwrap_or(self.page_keys).max(1);
        let (result, page_token) = self.gather(prefix, delimiter, after, limit).await?;
        Ok(PaginatedListResult { result, page_token })
    }
}
