//! The bugs of listings, over the keys of the store inside.

use storage_mux::{Entry, LocalStorage, Metadata, OpContext, Page, PageRequest, StorageError};

use crate::bug::Bug;
use crate::store::Broken;

impl Broken {
    pub(crate) async fn listing(
        &self,
        prefix: &str,
        request: &PageRequest,
    ) -> Result<Page, StorageError> {
        let mut keys = self.keys_under(prefix);
        match self.bug {
            Bug::NoMatchIsAnError if keys.is_empty() => return Err(StorageError::key_not_found()),
            Bug::NoMatchListsAll if keys.is_empty() => keys = self.inner.keys(),
            Bug::OrderIsBackwards => keys.reverse(),
            Bug::OrderIsUtf16 => keys.sort_by_key(|key| key.encode_utf16().collect::<Vec<_>>()),
            _ => {}
        }
        if let Some(after) = request.after.as_deref() {
            keys = self.resumed(keys, after);
        }
        let limit = match self.bug {
            Bug::PageIsTooLarge => request.limit.saturating_add(1),
            _ => request.limit,
        };
        let skipped = keys.get(limit).cloned();
        let more = keys.len() > limit;
        keys.truncate(limit);
        let mut next = keys.last().filter(|_| more).cloned();
        match self.bug {
            Bug::PageIsCutQuietly => next = None,
            Bug::PagesNeverEnd => {
                next = next.or_else(|| request.after.clone()).or(Some("a".into()))
            }
            Bug::LastPageNamesNext => {
                next = next.or_else(|| keys.last().cloned()).or_else(|| {
                    // Once more for good measure: an end for all who go on from here.
                    request
                        .after
                        .clone()
                        .filter(|after| !after.ends_with('!'))
                        .map(|after| after + "!")
                })
            }
            // Where the next page begins, taken for where the last one ended.
            Bug::PageSkipsOne => next = skipped,
            _ => {}
        }
        let mut entries = Vec::new();
        for key in keys {
            entries.push(self.entry(key).await);
        }
        if self.is(Bug::EmptyIsUnlisted) {
            entries.retain(|entry| entry.metadata.size > 0);
        }
        Ok(Page::new(entries, next))
    }

    /// The matching keys, as this store finds them.
    fn keys_under(&self, prefix: &str) -> Vec<String> {
        let mut keys = self.inner.keys();
        if matches!(self.bug, Bug::ListsDeleted | Bug::ListsRewrittenTwice) {
            keys.extend(self.ghosts.borrow().iter().cloned());
            keys.sort();
        }
        if self.is(Bug::ScanStopsEarly) {
            let start = prefix.trim_end_matches('/').to_owned();
            keys.retain(|key| *key >= start);
            return keys.into_iter().take_while(|key| key.starts_with(prefix)).collect();
        }
        keys.retain(|key| key.starts_with(prefix));
        match self.bug {
            Bug::RootListsNothing if prefix.is_empty() => keys.clear(),
            Bug::RootListsFirstSegments if prefix.is_empty() => {
                keys.retain(|key| !key.contains('/'));
            }
            Bug::PrefixIsSegments if !prefix.is_empty() && !prefix.ends_with('/') => {
                keys.retain(|key| {
                    key.len() == prefix.len() || key[prefix.len()..].starts_with('/')
                });
            }
            Bug::PrefixKeyIsHidden => keys.retain(|key| key != prefix),
            Bug::LimitIsLessWhereListed => keys.retain(|key| key.len() < 1_024),
            _ => {}
        }
        keys
    }

    /// The keys after that one, as this store finds its place again.
    fn resumed(&self, keys: Vec<String>, after: &str) -> Vec<String> {
        match self.bug {
            Bug::PageRepeatsLast => keys.into_iter().filter(|key| key.as_str() >= after).collect(),
            Bug::ResumesOnlyAfterKeys => {
                let place = keys.iter().position(|key| key == after);
                place.map_or_else(Vec::new, |place| keys[place + 1..].to_vec())
            }
            Bug::ResumeCountsSegments => {
                // Compares segment by segment, where "b/1" comes before "b-x".
                let split = |key: &str| key.split('/').map(String::from).collect::<Vec<_>>();
                let whole = split(after);
                keys.into_iter()
                    .filter(|key| split(key)[..whole.len().min(split(key).len())] > whole[..])
                    .collect()
            }
            Bug::OrderIsBackwards => keys.into_iter().filter(|key| key.as_str() < after).collect(),
            _ => keys.into_iter().filter(|key| key.as_str() > after).collect(),
        }
    }

    async fn entry(&self, key: String) -> Entry {
        let metadata = self.inner.stat(&key, &OpContext::new()).await.unwrap_or_default();
        match self.bug {
            Bug::ListsNoSizes => Entry::new(key, Metadata::new(0)),
            Bug::ListsEncoded => Entry::new(key.replace(' ', "%20"), metadata),
            _ => Entry::new(key, metadata),
        }
    }
}
