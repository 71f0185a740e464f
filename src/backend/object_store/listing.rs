//! One page of a listing, out of a store's own listing of any order.

use alloc::boxed::Box;
use alloc::string::String;
use core::future::poll_fn;
use core::pin::Pin;

use ::object_store::{ObjectMeta, ObjectStore};
use futures_core::Stream;

use super::errors::store_error;
use super::settings::Settings;
use super::values::{metadata, path_of};
use crate::backend::first_keys::{FirstKeys, first_key, is_past};
use crate::error::StorageError;
use crate::port::{Page, PageRequest};

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
    let Ok(folder) = root.path.as_deref().map(path_of).transpose() else {
        return Ok(Page::default());
    };
    let offset = first_key(prefix, request).and_then(|key| names.offset(key, &root));
    let mut objects: Objects = match offset.and_then(|offset| path_of(&offset).ok()) {
        Some(offset) => store.list_with_offset(folder.as_ref(), &offset),
        None => store.list(folder.as_ref()),
    };
    let after = request.after.as_deref();
    let mut found = FirstKeys::new(request.limit);
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
        let last =
            if wanted { found.offer(key, || metadata(&object)) } else { is_past(&key, prefix) };
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
