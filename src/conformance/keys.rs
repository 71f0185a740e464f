//! Keys: which are illegal, and that all others are kept byte for byte.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::report::Verdict;
use super::rule::rules;
use super::subject::{Subject, call_step, fails, succeeds};
use crate::error::StorageErrorKind;
use crate::port::{LocalStorage, Operation};

rules! {
    "key-empty", "an empty key fails with INVALID_KEY in every operation", [], empty;
    "key-nul", "a key with a NUL fails with INVALID_KEY in every operation", [], nul;
    "key-too-long", "a key past the declared limit fails with INVALID_KEY in every operation",
        [], too_long;
    "key-limit", "a key of just the declared limit works", [Set Get Delete], limit;
    "key-bytes", "a key is taken byte for byte, with no encoding to be seen",
        [Set Get Delete], bytes;
    "key-forms", "keys that differ in case, space or Unicode form are different keys",
        [Set Get Delete], forms;
    "key-paths", "a key that looks like a path is refused or kept, and never stands for another",
        [Set Get Delete], paths;
}

/// Limits past this are not tried: so long a key is as good as no limit.
const LONGEST_TRIED_BYTES: usize = 64 * 1024;

/// Names that an encoding somewhere on the way would change.
const NAMES: [&str; 15] = [
    "a b",
    "%",
    "%25",
    "a%2Fb",
    "a+b",
    "q?x",
    "h#x",
    "[x]",
    "~t",
    "mäggi.png",
    "中文",
    "🦀",
    "&amp;",
    "a\nb",
    "'\"",
];

/// Names that fall together where keys are folded, trimmed or normalised.
const FORMS: [&str; 13] = [
    "a",
    "A",
    "a ",
    " a",
    "a.",
    "\u{e9}",
    "e\u{301}",
    "\u{c5}",
    "\u{212b}",
    "A\u{30a}",
    "ß",
    "ss",
    "\u{feff}a",
];

/// Names that a path would make something else of, and two that they must not become.
const PATHS: [&str; 9] = ["a//b", "a/./b", "a/../c", "../a/b", "a/", ".", "..", "a\\b", "C:/x"];
const PATH_NEIGHBOURS: [&str; 2] = ["a/b", "c"];

async fn refused<S: LocalStorage>(s: &mut Subject<'_, S>, key: &str) -> Verdict {
    s.will_use(key).await;
    for operation in Operation::ALL {
        if operation != Operation::List && s.can(operation) {
            let result = s.call(operation, key, &s.cx).await;
            fails(result, &StorageErrorKind::InvalidKey, || call_step(operation, key))?;
        }
    }
    Ok(())
}

async fn empty<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    refused(s, "").await
}

async fn nul<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    for name in ["\0", "a\0", "\0a", "a\0b"] {
        let key = format!("{}{name}", s.area());
        refused(s, &key).await?;
    }
    Ok(())
}

async fn too_long<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let limit = s.key_limit();
    if limit < LONGEST_TRIED_BYTES {
        for filler in ['x', 'ä'] {
            let key = padded(s.area(), filler, limit.saturating_add(1));
            refused(s, &key).await?;
        }
    }
    Ok(())
}

async fn limit<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let limit = s.key_limit().min(LONGEST_TRIED_BYTES);
    for filler in ['x', 'ä'] {
        let key = padded(s.area(), filler, limit);
        s.will_use(&key).await;
        s.set(&key, b"v").await?;
        s.holds(&key, b"v").await?;
        if s.can(Operation::List) {
            let name = key.get(s.area().len()..).unwrap_or_default();
            s.lists("", &[name]).await?;
        }
        s.delete(&key).await?;
    }
    Ok(())
}

/// A key of just `len` bytes. In segments, since file systems limit the length of each.
fn padded(area: &str, filler: char, len: usize) -> String {
    const SEGMENT_BYTES: usize = 100;
    let mut key = String::from(area);
    let mut segment = 0_usize;
    while key.len() < len {
        let left = len - key.len();
        if segment >= SEGMENT_BYTES && left > 1 {
            key.push('/');
            segment = 0;
        } else {
            let next = if filler.len_utf8() <= left { filler } else { 'x' };
            key.push(next);
            segment += next.len_utf8();
        }
    }
    key
}

async fn bytes<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    all_different(s, &NAMES).await
}

async fn forms<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    all_different(s, &FORMS).await
}

/// Each name holds its own value, is listed as it is, and goes without taking another along.
async fn all_different<S: LocalStorage>(s: &mut Subject<'_, S>, names: &[&str]) -> Verdict {
    let mut keys = Vec::new();
    for name in names {
        let key = s.fresh(name).await;
        s.set(&key, name.as_bytes()).await?;
        keys.push(key);
    }
    for (key, name) in keys.iter().zip(names) {
        s.holds(key, name.as_bytes()).await?;
    }
    if s.can(Operation::List) {
        s.lists("", names).await?;
    }
    for (key, gone) in keys.iter().zip([true, false].into_iter().cycle()) {
        if gone {
            s.delete(key).await?;
        }
    }
    for ((key, name), gone) in keys.iter().zip(names).zip([true, false].into_iter().cycle()) {
        if gone {
            s.holds_nothing(key).await?;
        } else {
            s.holds(key, name.as_bytes()).await?;
        }
    }
    Ok(())
}

async fn paths<S: LocalStorage>(s: &mut Subject<'_, S>) -> Verdict {
    let mut kept = Vec::new();
    for name in PATH_NEIGHBOURS {
        let key = s.fresh(name).await;
        s.set(&key, name.as_bytes()).await?;
        kept.push((name, key));
    }
    for name in PATHS {
        let key = s.fresh(name).await;
        match s.storage.set(&key, name.as_bytes().into(), &s.cx).await {
            Err(error) if *error.kind() == StorageErrorKind::InvalidKey => {}
            result => {
                succeeds(result.map(drop), || format!("set({key:?}), unless it is INVALID_KEY"))?;
                kept.push((name, key));
            }
        }
    }
    for (name, key) in &kept {
        s.holds(key, name.as_bytes()).await?;
    }
    if s.can(Operation::List) {
        let names: Vec<&str> = kept.iter().map(|(name, _)| *name).collect();
        s.lists("", &names).await?;
    }
    Ok(())
}
