//! Pages of a listing, as ranges of keys.
//!
//! Keys are bytes to the database, which sorts them as bytes. As strings it would sort them by
//! their UTF-16 units, and so put U+1F980 before U+FF5E.

use alloc::string::String;
use alloc::vec::Vec;

use js_sys::Uint8Array;
use web_sys::IdbKeyRange;

use super::record::Record;
use super::transaction::Transaction;
use crate::backend::web::bytes::to_host;
use crate::backend::web::faults;
use crate::error::{StorageError, StorageErrorKind};
use crate::port::{Entry, Metadata, Page, PageRequest};

/// Keys of one page at most. More would be held in memory at once without need.
const MOST_KEYS: usize = 10_000;

/// The page that is asked for.
pub(super) async fn page(
    transaction: &Transaction,
    prefix: &str,
    request: &PageRequest,
) -> Result<Page, StorageError> {
    let limit = request.limit.clamp(1, MOST_KEYS);
    let Some(range) = range(prefix, request.after.as_deref())? else { return Ok(Page::default()) };
    // One more than asked for tells whether there is a next page.
    let (keys, records) = transaction.page(&range, limit as u32 + 1).await?;
    let mut entries = Vec::new();
    for (key, record) in keys.iter().zip(records.iter()).take(limit) {
        let key = String::from_utf8(Uint8Array::new(&key).to_vec()).ok();
        let (Some(key), Some(record)) = (key, Record::from_host(&record)) else {
            return Err(StorageError::new(StorageErrorKind::Other)
                .with_detail("the database holds what this storage did not write"));
        };
        entries.push(Entry::new(key, Metadata::from(record)));
    }
    let more = keys.length() as usize > limit;
    let next = entries.last().filter(|_| more).map(|entry| entry.key.clone());
    Ok(Page::new(entries, next))
}

/// The range of the keys that start with `prefix` and come after `after`; none where it is empty.
fn range(prefix: &str, after: Option<&str>) -> Result<Option<IdbKeyRange>, StorageError> {
    let after = after.filter(|after| *after >= prefix);
    let first = after.unwrap_or(prefix).as_bytes();
    let (from, open) = (to_host(first)?, after.is_some());
    let range = match end(prefix) {
        None => IdbKeyRange::lower_bound_with_open(&from, open),
        Some(end) if *first >= *end => return Ok(None),
        Some(end) => {
            let end = to_host(&end)?;
            IdbKeyRange::bound_with_lower_open_and_upper_open(&from, &end, open, true)
        }
    };
    range.map(Some).map_err(|thrown| faults::database(&thrown))
}

/// The first bytes past all that start with `prefix`; none where every key does.
fn end(prefix: &str) -> Option<Vec<u8>> {
    let mut end = Vec::from(prefix);
    // A byte of UTF-8 is below 0xff, so there is no carry.
    let last = end.last_mut()?;
    *last = last.saturating_add(1);
    Some(end)
}
