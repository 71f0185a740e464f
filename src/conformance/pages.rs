//! Listings page by page.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::report::Verdict;
use super::rule::rules;
use super::subject::{Subject, same, same_keys};
use crate::port::{LocalStorage, PageRequest};

rules! {
    "page-walk", "pages of any size give each key once, in order, none larger than asked for",
        [List Set Delete], walk;
    "page-last", "the last page names no next one", [List Set Delete], last;
    "page-resume", "a page resumes after any text, whether it is a key or not",
        [List Set Delete], resume;
}

/// The keys of the rules here, sorted. One holds the separator that object stores group by.
const NAMES: [&str; 5] = ["a", "b/1", "b/2", "c", "e"];

async fn filled<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict<Vec<String>> {
    let mut keys = Vec::new();
    for name in NAMES {
        let key = s.fresh(name).await;
        s.set(&key, b"v").await?;
        keys.push(key);
    }
    Ok(keys)
}

async fn walk<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let keys = filled(s).await?;
    for limit in 1..=NAMES.len() + 1 {
        let found = s.listed(s.area(), limit).await?;
        same_keys(&found, &keys, || format!("list({:?}) in pages of {limit}", s.area()))?;
    }
    Ok(())
}

/// A backend may learn that there is no more only by asking, so a page that is full may name a
/// next one that is empty. A page with room to spare may not, once all keys were given.
async fn last<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let keys = filled(s).await?;
    let Some(last) = keys.last() else { return Ok(()) };
    for request in [PageRequest::after(last.as_str(), 2), PageRequest::after(last.as_str(), 1_000)]
    {
        let page = s.page(s.area(), &request).await?;
        same(&(page.entries.len(), page.next), &(0, None), || {
            format!("keys and next page of list({:?}) after {last:?}", s.area())
        })?;
    }
    Ok(())
}

async fn resume<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let keys = filled(s).await?;
    let area = String::from(s.area());
    let beyond = format!("{area}\u{10ffff}");
    // Where the page resumes, and how many of the keys lie before it.
    let places = [
        (format!("{area}0"), 0),
        (format!("{area}a"), 1),
        (format!("{area}a0"), 1),
        (format!("{area}b"), 1),
        (format!("{area}b/1"), 2),
        (format!("{area}b/2/x"), 3),
        (format!("{area}d"), 4),
        (format!("{area}e"), 5),
        (beyond, 5),
    ];
    for (after, skipped) in places {
        let page = s.page(&area, &PageRequest::after(after.as_str(), 1_000)).await?;
        let found: Vec<String> = page.entries.into_iter().map(|entry| entry.key).collect();
        let expected: Vec<String> = keys.iter().skip(skipped).cloned().collect();
        same_keys(&found, &expected, || format!("list({area:?}) after {after:?}"))?;
    }
    Ok(())
}
