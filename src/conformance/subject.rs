//! The storage under test, and the steps that rules are made of.
//!
//! Each step that does not go as the rule wants ends the rule with a [`Deviation`].

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use bytes::Bytes;

use super::report::{Deviation, Verdict};
use crate::error::{StorageError, StorageErrorKind};
use crate::port::{
    Capabilities, Condition, LocalStorage, Metadata, OpContext, Operation, Page, PageRequest,
    Written,
};

/// Pages after which a listing of the suite's few keys counts as endless.
const MAX_PAGES: usize = 200;

/// Keys of a listing that a failure shows.
const FEW_KEYS: usize = 6;

/// Bytes of a value that a failure shows.
const SHOWN_BYTES: usize = 40;

/// The storage under test, and the area in it where the present rule may write.
pub(super) struct Subject<'a, S> {
    pub(super) storage: &'a S,
    pub(super) cx: OpContext,
    pub(super) large_value_bytes: usize,
    capabilities: Capabilities,
    area: String,
    used: Vec<String>,
}

impl<'a, S: LocalStorage> Subject<'a, S> {
    pub(super) fn new(storage: &'a S, large_value_bytes: usize) -> Self {
        Self {
            storage,
            cx: OpContext::new(),
            large_value_bytes,
            capabilities: storage.capabilities(),
            area: String::new(),
            used: Vec::new(),
        }
    }

    pub(super) fn can(&self, operation: Operation) -> bool {
        self.capabilities.contains(operation)
    }

    pub(super) fn key_limit(&self) -> usize {
        self.capabilities.max_key_bytes()
    }

    /// The prefix of the keys of the present rule.
    pub(super) fn area(&self) -> &str {
        &self.area
    }

    pub(super) fn enter(&mut self, area: String) {
        self.area = area;
    }

    /// A key of the present rule that holds no value.
    pub(super) async fn fresh(&mut self, name: &str) -> String {
        let key = format!("{}{name}", self.area);
        self.will_use(&key).await;
        key
    }

    /// Clears a key of what an earlier run may have left, and remembers to clear it again.
    pub(super) async fn will_use(&mut self, key: &str) {
        self.used.push(key.into());
        if self.can(Operation::Delete) {
            // A storage that cannot delete what is missing is told so by a rule of its own.
            let _ = self.storage.delete(key, &self.cx).await;
        }
    }

    /// Removes what the present rule has written.
    pub(super) async fn clean(&mut self) {
        for key in core::mem::take(&mut self.used) {
            if self.can(Operation::Delete) {
                // As above: the rules of `delete` have their own verdict.
                let _ = self.storage.delete(&key, &self.cx).await;
            }
        }
    }

    pub(super) async fn set(&self, key: &str, value: &[u8]) -> Verdict<Written> {
        let result = self.storage.set(key, Bytes::copy_from_slice(value), &self.cx).await;
        succeeds(result, || format!("set({key:?}, {})", shown(value)))
    }

    pub(super) async fn set_partial(&self, key: &str, offset: u64, bytes: &[u8]) -> Verdict {
        let value = Bytes::copy_from_slice(bytes);
        let result = self.storage.set_partial(key, offset, value, &self.cx).await;
        succeeds(result, || format!("set_partial({key:?}, {offset}, {})", shown(bytes)))
    }

    pub(super) async fn delete(&self, key: &str) -> Verdict {
        succeeds(self.storage.delete(key, &self.cx).await, || format!("delete({key:?})"))
    }

    pub(super) async fn stat(&self, key: &str) -> Verdict<Metadata> {
        succeeds(self.storage.stat(key, &self.cx).await, || format!("stat({key:?})"))
    }

    pub(super) async fn set_if(
        &self,
        key: &str,
        value: &[u8],
        condition: &Condition,
    ) -> Result<Written, StorageError> {
        let value = Bytes::copy_from_slice(value);
        self.storage.set_if(key, value, condition.clone(), &self.cx).await
    }

    /// `get` must give this value.
    pub(super) async fn holds(&self, key: &str, value: &[u8]) -> Verdict {
        let step = || format!("get({key:?})");
        let found = succeeds(self.storage.get(key, &self.cx).await, step)?;
        same_bytes(&found, value, step)
    }

    /// `get` must find nothing.
    pub(super) async fn holds_nothing(&self, key: &str) -> Verdict {
        let result = self.storage.get(key, &self.cx).await.map(|value| shown(&value));
        fails(result, &StorageErrorKind::KeyNotFound, || format!("get({key:?})"))
    }

    /// `has` must give this answer.
    pub(super) async fn has(&self, key: &str, expected: bool) -> Verdict {
        let step = || format!("has({key:?})");
        let found = succeeds(self.storage.has(key, &self.cx).await, step)?;
        same(&found, &expected, step)
    }

    /// `stat` must give this size.
    pub(super) async fn has_size(&self, key: &str, size: usize) -> Verdict {
        let found = self.stat(key).await?.size;
        same(&found, &(size as u64), || format!("size of stat({key:?})"))
    }

    pub(super) async fn page(&self, prefix: &str, request: &PageRequest) -> Verdict<Page> {
        let page = self.storage.list(prefix, request, &self.cx).await;
        succeeds(page, || list_step(prefix, request))
    }

    /// Every key that a listing gives, page by page.
    pub(super) async fn listed(&self, prefix: &str, limit: usize) -> Verdict<Vec<String>> {
        let (mut keys, mut request) = (Vec::new(), PageRequest::first(limit));
        for _ in 0..MAX_PAGES {
            let page = self.page(prefix, &request).await?;
            if page.entries.len() > limit {
                let found = format!("{} keys", page.entries.len());
                let step = list_step(prefix, &request);
                return Err(Deviation::new(step, format!("at most {limit} keys"), found));
            }
            keys.extend(page.entries.into_iter().map(|entry| entry.key));
            let Some(next) = page.next else { return Ok(keys) };
            request = PageRequest::after(next, limit);
        }
        Err(Deviation::new(
            list_step(prefix, &request),
            "a last page, with no next one",
            format!("still more after {MAX_PAGES} pages"),
        ))
    }

    /// A listing of the area, with `name` as the rest of the prefix, must give just these names,
    /// each once, in the order of their bytes.
    pub(super) async fn lists(&self, name: &str, names: &[&str]) -> Verdict {
        let prefix = format!("{}{name}", self.area);
        let mut expected: Vec<String> =
            names.iter().map(|name| format!("{}{name}", self.area)).collect();
        expected.sort_unstable();
        let found = self.listed(&prefix, 1_000).await?;
        same_keys(&found, &expected, || format!("list({prefix:?})"))
    }

    /// One plain call of any operation, its answer dropped.
    pub(super) async fn call(
        &self,
        operation: Operation,
        key: &str,
        cx: &OpContext,
    ) -> Result<(), StorageError> {
        let (storage, value) = (self.storage, Bytes::from_static(b"call"));
        match operation {
            Operation::Get => storage.get(key, cx).await.map(drop),
            Operation::Set => storage.set(key, value, cx).await.map(drop),
            Operation::SetPartial => storage.set_partial(key, 0, value, cx).await,
            Operation::Has => storage.has(key, cx).await.map(drop),
            Operation::Delete => storage.delete(key, cx).await,
            Operation::List => storage.list(key, &PageRequest::first(1), cx).await.map(drop),
            Operation::Stat => storage.stat(key, cx).await.map(drop),
            Operation::GetStream => storage.get_stream(key, cx).await.map(drop),
            Operation::SetStream => storage.set_stream(key, cx).await.map(drop),
            Operation::GetRange => storage.get_range(key, 0..1, cx).await.map(drop),
            Operation::SetIf => storage.set_if(key, value, Condition::Absent, cx).await.map(drop),
        }
    }
}

fn list_step(prefix: &str, request: &PageRequest) -> String {
    match &request.after {
        Some(after) => format!("list({prefix:?}) after {after:?}, limit {}", request.limit),
        None => format!("list({prefix:?}), limit {}", request.limit),
    }
}

/// A value as a failure shows it: escaped, and cut where it is long.
pub(super) fn shown(value: &[u8]) -> String {
    match value.get(..SHOWN_BYTES) {
        Some(start) if value.len() > SHOWN_BYTES => {
            format!("\"{}...\" of {} bytes", start.escape_ascii(), value.len())
        }
        _ => format!("\"{}\"", value.escape_ascii()),
    }
}

pub(super) fn succeeds<T>(
    result: Result<T, StorageError>,
    step: impl FnOnce() -> String,
) -> Verdict<T> {
    result.map_err(|error| Deviation::new(step(), "success", quoted(&error)))
}

/// The error must be of this kind.
pub(super) fn fails<T: core::fmt::Debug>(
    result: Result<T, StorageError>,
    kind: &StorageErrorKind,
    step: impl FnOnce() -> String,
) -> Verdict {
    let expected = StorageError::new(kind.clone());
    match result {
        Err(error) if is_kind(&error, kind) => Ok(()),
        Err(error) => Err(Deviation::new(step(), quoted(&expected), quoted(&error))),
        Ok(value) => Err(Deviation::new(step(), quoted(&expected), format!("success: {value:?}"))),
    }
}

/// An HTTP answer counts by its status: whether it says when to come back is the backend's affair.
fn is_kind(error: &StorageError, kind: &StorageErrorKind) -> bool {
    match (error.kind(), kind) {
        (
            StorageErrorKind::Http { status: found, .. },
            StorageErrorKind::Http { status: wanted, .. },
        ) => found == wanted,
        (found, wanted) => found == wanted,
    }
}

fn quoted(error: &StorageError) -> String {
    format!("{} ({error})", error.code())
}

pub(super) fn same<T: PartialEq + core::fmt::Debug>(
    found: &T,
    expected: &T,
    step: impl FnOnce() -> String,
) -> Verdict {
    if found == expected {
        return Ok(());
    }
    Err(Deviation::new(step(), format!("{expected:?}"), format!("{found:?}")))
}

/// Like [`same`] for lists of keys: where they are long it tells the first difference alone.
pub(super) fn same_keys(
    found: &[String],
    expected: &[String],
    step: impl FnOnce() -> String,
) -> Verdict {
    if found == expected || found.len().max(expected.len()) <= FEW_KEYS {
        return same(&found, &expected, step);
    }
    let alike = found.iter().zip(expected).take_while(|(found, expected)| found == expected);
    let at = alike.count();
    let told = |keys: &[String]| match keys.get(at) {
        Some(key) => format!("{key:?} as key {} of {}", at.saturating_add(1), keys.len()),
        None => format!("{} keys", keys.len()),
    };
    Err(Deviation::new(step(), told(expected), told(found)))
}

pub(super) fn same_bytes(found: &[u8], expected: &[u8], step: impl FnOnce() -> String) -> Verdict {
    if found == expected {
        return Ok(());
    }
    let alike = found.iter().zip(expected).take_while(|(found, expected)| found == expected);
    let at = alike.count();
    let found =
        if at == 0 { shown(found) } else { format!("{}, other from byte {at} on", shown(found)) };
    Err(Deviation::new(step(), shown(expected), found))
}

/// What a failure calls an operation that was called with a plain key.
pub(super) fn call_step(operation: Operation, key: &str) -> String {
    // A key at the limit would fill the screen.
    if key.len() > 2 * SHOWN_BYTES {
        return format!("{operation} of a key of {} bytes", key.len());
    }
    format!("{operation}({key:?})")
}
