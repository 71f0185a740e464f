//! Which keys a listing gives.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::report::{Deviation, Verdict};
use super::rule::rules;
use super::subject::{Subject, same, same_keys};
use crate::port::{LocalStorage, PageRequest};

rules! {
    "list-all", "list of the empty prefix gives every key", [List Set Delete], all;
    "list-nothing", "list of a prefix that no key has is an empty page, not an error",
        [List Set Delete], nothing;
    "list-prefix", "a prefix is plain text: it may end inside a name", [List Set Delete], prefix;
    "list-prefix-key", "a key that is itself the prefix of others is listed with them",
        [List Set Delete], prefix_key;
    "list-scan", "keys that sort between those that match end no listing",
        [List Set Delete], scan;
    "list-order", "keys are sorted by their bytes", [List Set Delete], order;
    "list-current", "a key is listed once while it has a value", [List Set Delete], current;
    "list-size", "a listing tells the size of each value", [List Set Delete], size;
}

async fn filled<S: LocalStorage>(s: &mut Subject<'_, S>, names: &[&str]) -> Verdict {
    for name in names {
        let key = s.fresh(name).await;
        s.set(&key, b"v").await?;
    }
    Ok(())
}

/// Other keys may be there, and many: so the walk starts at the area, wherever that lies.
async fn all<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    filled(s, &["x", "y/z"]).await?;
    let first = s.page("", &PageRequest::default()).await?;
    if first.entries.is_empty() && first.next.is_none() {
        return Err(Deviation::new("list(\"\")", "at least the keys just written", "no keys"));
    }
    let expected: Vec<String> = ["x", "y/z"].map(|name| format!("{}{name}", s.area())).into();
    let (mut found, mut after) = (Vec::new(), String::from(s.area()));
    // A backend may give fewer keys than asked for, down to none, and still have more.
    for _ in 0..100 {
        let page = s.page("", &PageRequest::after(after.as_str(), 2)).await?;
        let keys = page.entries.into_iter().map(|entry| entry.key);
        found.extend(keys.filter(|key| key.starts_with(s.area())));
        match page.next {
            Some(next) if found.len() < expected.len() => after = next,
            _ => break,
        }
    }
    same_keys(&found, &expected, || {
        format!("the keys of the suite in list(\"\") after {:?}", s.area())
    })
}

async fn nothing<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    s.lists("nope/", &[]).await?;
    filled(s, &["nop", "nope"]).await?;
    s.lists("nope/", &[]).await?;
    let key = s.fresh("nope/x").await;
    s.set(&key, b"v").await?;
    s.delete(&key).await?;
    s.lists("nope/", &[]).await
}

async fn prefix<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    filled(s, &["foo/bar", "foo/ba/x", "foo/baz", "fo"]).await?;
    s.lists("foo/ba", &["foo/bar", "foo/ba/x", "foo/baz"]).await?;
    s.lists("foo/ba/", &["foo/ba/x"]).await?;
    s.lists("f", &["foo/bar", "foo/ba/x", "foo/baz", "fo"]).await
}

async fn prefix_key<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    filled(s, &["a/b", "a/b/c", "a/bc"]).await?;
    s.lists("a/b", &["a/b", "a/b/c", "a/bc"]).await?;
    s.lists("a/b/", &["a/b/c"]).await?;
    s.lists("a/bc", &["a/bc"]).await
}

async fn scan<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    filled(s, &["a-b", "a/b", "a/c", "aa", "b"]).await?;
    s.lists("a/", &["a/b", "a/c"]).await?;
    s.lists("a", &["a-b", "a/b", "a/c", "aa"]).await?;
    s.lists("aa", &["aa"]).await
}

/// The last two change places where text is compared in units of 16 bits.
async fn order<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let names = ["b", "a/b", "a-b", "aa", "B", "10", "9", "é", "z", "🦀", "\u{ff5e}"];
    filled(s, &names).await?;
    s.lists("", &names).await
}

async fn current<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    filled(s, &["a", "b", "c"]).await?;
    filled(s, &["a", "b"]).await?;
    let key = s.fresh("c").await;
    s.delete(&key).await?;
    s.set(&format!("{}a", s.area()), b"again").await?;
    s.lists("", &["a", "b"]).await
}

async fn size<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let (short, long) = (s.fresh("a").await, s.fresh("b").await);
    s.set(&short, b"").await?;
    s.set(&long, b"0123456789").await?;
    for (key, expected) in [(short, 0), (long, 10)] {
        let page = s.page(&key, &PageRequest::default()).await?;
        let sizes: Vec<u64> = page.entries.iter().map(|entry| entry.metadata.size).collect();
        same(&sizes, &[expected].into(), || format!("the sizes in list({key:?})"))?;
    }
    Ok(())
}
