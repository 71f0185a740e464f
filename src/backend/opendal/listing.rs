//! One page of a listing, out of a service's own listing of any order.

use alloc::string::String;
use core::future::poll_fn;
use core::pin::Pin;

use ::opendal::options::ListOptions;
use ::opendal::{ErrorKind, Operator};
use futures_core::Stream;

use super::errors::store_error;
use super::settings::Settings;
use super::values::metadata;
use crate::backend::first_keys::{FirstKeys, first_key, is_past};
use crate::error::StorageError;
use crate::port::{Page, PageRequest};

/// Reads the service's listing as far as it must and keeps the first keys of the page: one more
/// than asked for, to know whether there are more. So memory is bounded by the page, not by the
/// store.
pub(super) async fn page(
    operator: &Operator,
    settings: &Settings,
    prefix: &str,
    request: &PageRequest,
) -> Result<Page, StorageError> {
    let names = &settings.names;
    let Some(root) = names.root(prefix) else { return Ok(Page::default()) };
    let known = operator.info().capability();
    let begins = known.list_with_start_after && known.list_with_recursive;
    // Services that begin after a name list in the order of names, unless told otherwise.
    let mut sorted = begins && settings.sorted_listing;
    let offset = first_key(prefix, request).and_then(|key| names.offset(key, &root));
    let options = ListOptions {
        recursive: true,
        start_after: offset.filter(|_| begins),
        ..ListOptions::default()
    };
    // What ends in a `/` is a directory.
    let folder = root.path.as_deref().map_or_else(|| "/".into(), |path| String::from(path) + "/");
    let missing = |kind| kind == ErrorKind::NotFound && root.path.is_some();
    let mut found = FirstKeys::new(request.limit);
    let mut entries = match operator.lister_options(&folder, options).await {
        Ok(entries) => entries,
        Err(error) if missing(error.kind()) => return Ok(found.page()),
        Err(error) => return Err(store_error(error)),
    };
    let after = request.after.as_deref();
    let mut previous = String::new();
    while let Some(entry) = poll_fn(|cx| Pin::new(&mut entries).poll_next(cx)).await {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) if missing(error.kind()) => break,
            Err(error) => return Err(store_error(error)),
        };
        let name = entry.path();
        if !entry.metadata().is_file() || name.ends_with('/') {
            continue;
        }
        // A service that should be sorted and shows that it is not is read to its end.
        sorted = sorted && name >= previous.as_str();
        let Some(key) = names.key(name) else { continue };
        let barrier = sorted && names.is_barrier(root.below(name));
        let wanted = key.starts_with(prefix) && after.is_none_or(|after| key.as_str() > after);
        let last = match wanted {
            true => found.offer(key, || metadata(entry.metadata())),
            false => is_past(&key, prefix),
        };
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
