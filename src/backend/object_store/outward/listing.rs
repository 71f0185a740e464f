//! Listings: all below a directory, from a place on, and one level.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use futures_util::stream::{self, BoxStream, StreamExt, TryStreamExt};

use super::MuxObjectStore;
use super::api;
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

/// The name of the directory below `prefix` that a key lies in.
fn directory_of<'a>(key: &'a str, prefix: &str) -> Option<&'a str> {
    let (name, _) = key.strip_prefix(prefix)?.split_once('/')?;
    key.get(..prefix.len().saturating_add(name.len()))
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

    /// One level. A directory that fills a page is not read any further.
    pub(super) async fn level(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let prefix = directory(prefix);
        let (mut objects, mut common_prefixes) = (Vec::new(), Vec::<Path>::new());
        let mut request = Some(PageRequest::first(self.page_keys));
        while let Some(wanted) = request {
            let page = self.page(&prefix, &wanted).await?;
            for entry in &page.entries {
                match directory_of(&entry.key, &prefix) {
                    None => objects.extend(as_object(entry)),
                    // The keys of a directory follow one another.
                    Some(name) if common_prefixes.last().is_some_and(|p| p.as_ref() == name) => {}
                    Some(name) => common_prefixes.extend(as_path(name)),
                }
            }
            request = page.next.map(|next| {
                let past = directory_of(&next, &prefix).map(|name| format!("{name}/{LAST}"));
                let after = past.filter(|past| *past > next).unwrap_or(next);
                PageRequest::after(after, self.page_keys)
            });
        }
        Ok(api::list_result(common_prefixes, objects))
    }
}
