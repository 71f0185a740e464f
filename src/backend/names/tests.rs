//! Each key has a name of its own, and the orders of both agree where listings rely on it.

use proptest::prelude::*;

use super::*;

const BUCKET: Names = Names { max_name_bytes: 4096, ..Names::bucket() };
const FOLDER: Names = Names { folder: true, ..BUCKET };
const TRIMMED: Names = Names { trimmed: true, ..BUCKET };
const TRIMMED_FOLDER: Names = Names { trimmed: true, ..FOLDER };
const PLAIN: Names = Names { plain: true, ..BUCKET };
const PLAIN_FOLDER: Names = Names { plain: true, ..FOLDER };

fn name(names: Names, key: &str) -> String {
    names.name(key).unwrap()
}

/// Spec: P-7
#[test]
fn names_look_like_their_keys_and_escapes_are_where_the_documentation_says() {
    for (key, bucket, folder) in [
        ("src/lib.rs", "src/lib.rs", "src/lib.rs"),
        ("LICENSE", "LICENSE", "LICENSE%f"),
        ("v1.2/notes.md", "v1.2/notes.md", "v1.2%d/notes.md"),
        (".gitignore", ".gitignore", ".gitignore"),
        ("100%", "100%25", "100%25%f"),
        ("a\nb", "a%0Ab", "a%0Ab%f"),
        ("a\u{7f}b~", "a~%7Fb~", "a~%7Fb~%f"),
        ("/a//b/", "%d/a/%d/b/%f", "%d/a/%d/b/%f"),
        ("./../.", ".%d/..%d/.%f", "%2E/.%2E%d/%2E%f"),
        ("a.#1", "a.#1", "a.%231"),
        ("C:\\x. ", "C:\\x. ", "C%3A%5Cx.%20"),
    ] {
        assert_eq!(name(BUCKET, key), bucket);
        assert_eq!(name(FOLDER, key), folder);
        assert_eq!(BUCKET.key(bucket).as_deref(), Some(key));
        assert_eq!(FOLDER.key(folder).as_deref(), Some(key));
    }
}

/// Spec: P-7
#[test]
fn names_that_no_key_has_are_nobodys() {
    for foreign in ["a%", "a%2", "a%2f", "a%41", "a%+1", "a%f", "%7F", "a%25%f", "a%+/b", "a%C3"] {
        assert_eq!(BUCKET.key(foreign), None, "{foreign}");
    }
    for foreign in ["LICENSE", "a.b%f", "v1.2/notes.md", "a.b#1", "a%+/b.c", "a%d/b.c"] {
        assert_eq!(FOLDER.key(foreign), None, "{foreign}");
    }
    assert_eq!(PLAIN_FOLDER.key("a#b"), None);
    assert_eq!(PLAIN.key("a#b").as_deref(), Some("a#b"));
}

/// Spec: P-7
#[test]
fn plain_names_are_kept_or_refused() {
    for key in ["a/b", "%", "%2F", "a b", "~", "中文", "a#1"] {
        assert_eq!(name(PLAIN, key), key);
    }
    for key in ["/a", "a/", "a//b", ".", "..", "a/../b", "a\nb", "a\u{7f}"] {
        assert!(PLAIN.name(key).is_err(), "{key:?}");
    }
    assert!(PLAIN_FOLDER.name("a#1").is_err());
    assert!(PLAIN_FOLDER.name("a\\b").is_err());
    assert!(PLAIN_FOLDER.name(&"x".repeat(PLAIN_NAME_BYTES)).is_ok());
    assert!(PLAIN_FOLDER.name(&"x".repeat(PLAIN_NAME_BYTES + 1)).is_err());
}

/// Spec: P-7
#[test]
fn white_space_at_either_end_survives_a_store_that_trims() {
    for (key, bucket, folder) in [
        ("a b", "a b", "a b%f"),
        (" a ", "%20a %f", "%20a%20%f"),
        ("b/ c/ ", "b/ c/ %f", "b/ c/%20%f"),
        (" ", "%20", "%20%f"),
        ("\u{3000}x\u{a0}", "\u{2fff}%u3000x\u{a0}%f", "\u{2fff}%u3000x\u{a0}%f"),
        ("\u{2001}.", "\u{1fff}%u2001.", "\u{1fff}%u2001%2E%f"),
    ] {
        assert_eq!(name(TRIMMED, key), bucket);
        assert_eq!(name(TRIMMED_FOLDER, key), folder);
        assert_eq!(TRIMMED.key(bucket).as_deref(), Some(key));
        assert_eq!(TRIMMED_FOLDER.key(folder).as_deref(), Some(key));
    }
    let plain = Names { plain: true, ..TRIMMED };
    assert!(plain.name("a b").is_ok() && plain.name(" a").is_err() && plain.name("a ").is_err());
    assert_eq!(plain.key("a "), None);
    assert!(TRIMMED.key(" a").is_none() && TRIMMED.key("a ").is_none());
}

/// Spec: P-7
#[test]
fn long_parts_go_on_in_directories_below() {
    let (fits, long) = ("x".repeat(NAME_BYTES), "x".repeat(NAME_BYTES + 1));
    assert_eq!(name(FOLDER, &fits), alloc::format!("{fits}%f"));
    assert_eq!(name(FOLDER, &long), alloc::format!("{fits}%+/x%f"));
    assert_eq!(FOLDER.key(&name(FOLDER, &long)), Some(long));
}

/// Spec: P-7
#[test]
fn an_escaped_key_may_be_too_long_for_the_store() {
    let names = Names { max_name_bytes: 8, ..BUCKET };
    assert!(names.name("12345%").is_ok());
    let error = names.name("123456%").unwrap_err();
    assert_eq!(error.code(), "STORAGE.INVALID_KEY");
}

/// Two keys that begin alike: where orders could differ.
fn alike() -> impl Strategy<Value = (String, String)> {
    (text(), text(), text()).prop_map(|(start, a, b)| (start.clone() + &a, start + &b))
}

/// Text of what matters here: separators, dots, escapes and their neighbours in the order.
fn text() -> impl Strategy<Value = String> {
    let c = prop::sample::select(alloc::vec![
        '\u{1}',
        '\u{1f}',
        ' ',
        '$',
        '\u{2027}',
        '\u{2028}',
        '\u{2029}',
        '\u{2fff}',
        '\u{3000}',
        '%',
        '&',
        '-',
        '.',
        '/',
        '0',
        '2',
        'F',
        'a',
        'd',
        'f',
        '+',
        '#',
        ':',
        '~',
        '\u{7f}',
        'é',
        '\u{10ffff}'
    ]);
    prop::collection::vec(c, 1..6).prop_map(String::from_iter)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Spec: P-7
    #[test]
    fn every_key_has_a_name_of_its_own(key in text(), long in "[a.é%\u{1}/]{0,600}") {
        for key in [key, long] {
            if key.is_empty() || key.len() > 1024 {
                continue;
            }
            for names in [BUCKET, FOLDER, TRIMMED, TRIMMED_FOLDER] {
                let name = name(names, &key);
                prop_assert!(!names.trimmed || name.trim() == name);
                prop_assert_eq!(names.key(&name), Some(key.clone()));
            }
            let name = name(FOLDER, &key);
            for part in name.split('/') {
                prop_assert!(part.len() <= NAME_BYTES + 2 && !part.contains('#'));
            }
        }
    }

    /// Spec: P-7
    #[test]
    fn a_name_leads_to_one_key_or_none(name in "[a./%fd+2E~7F]{1,10}") {
        for names in [BUCKET, FOLDER, TRIMMED, TRIMMED_FOLDER] {
            if let Some(key) = names.key(&name)
                && is_legal(&name)
            {
                prop_assert_eq!(names.encoded(&key), name.as_str());
            }
        }
    }

    /// Spec: P-7
    #[test]
    fn no_file_is_also_a_directory((a, b) in alike()) {
        let (a, b) = (name(FOLDER, &a), name(FOLDER, &b));
        let below = alloc::format!("{a}/");
        prop_assert!(!b.starts_with(&below));
    }

    /// Spec: P-7
    #[test]
    fn the_keys_of_a_prefix_lie_below_its_root(key in text(), cut in 0_usize..8) {
        let prefix: String = key.chars().take(cut).collect();
        for names in [BUCKET, FOLDER, TRIMMED, TRIMMED_FOLDER] {
            let name = names.name(&key).unwrap();
            if let Some(root) = names.root(&prefix).unwrap().path {
                prop_assert!(is_legal(&root) && name.starts_with(&(root + "/")));
            }
        }
    }

    /// Spec: P-7
    #[test]
    fn an_offset_passes_over_no_later_key((after, key) in alike(), cut in 0_usize..8) {
        let prefix: String = key.chars().take(cut).collect();
        for names in [BUCKET, TRIMMED] {
            let root = names.root(&prefix).unwrap();
            if key > after && let Some(offset) = names.offset(&after, &root) {
                let name = names.name(&key).unwrap();
                prop_assert!(name > offset, "{name} is not after {offset}");
            }
        }
    }

    /// Spec: P-7
    #[test]
    fn behind_a_barrier_come_only_later_keys((at, key) in alike(), cut in 0_usize..8) {
        let prefix: String = at.chars().take(cut).collect();
        for names in [BUCKET, TRIMMED] {
            let root = names.root(&prefix).unwrap();
            let (barrier, name) = (name(names, &at), name(names, &key));
            let barred = names.is_barrier(root.below(&barrier));
            if barred && key.starts_with(&prefix) && name > barrier {
                prop_assert!(key > at);
            }
        }
    }

    /// Spec: P-7
    #[test]
    fn plain_names_sort_as_their_keys((after, key) in alike()) {
        let top = PLAIN.root("").unwrap();
        if let (Some(offset), Ok(name)) = (PLAIN.offset(&after, &top), PLAIN.name(&key)) {
            prop_assert_eq!(key > after, name > offset);
        }
    }
}

#[test]
fn ordinary_keys_are_offsets_and_barriers_themselves() {
    let top = BUCKET.root("").unwrap();
    for key in ["a/b", "photos/2024/x.jpg", "中文/é"] {
        assert_eq!(BUCKET.offset(key, &top).unwrap(), key);
        assert!(BUCKET.is_barrier(key));
    }
    assert_eq!(BUCKET.offset("a/.git/x", &top).unwrap(), "a");
    assert!(BUCKET.offset("\u{1}", &top).is_none());
    assert!(FOLDER.offset("a", &top).is_none() && !FOLDER.is_barrier("a"));

    // What the names of a listing share does not stand in the way.
    let root = BUCKET.root("my %/x").unwrap();
    assert_eq!(BUCKET.offset("my %/y.jpg", &root).unwrap(), "my %25/y.jpg");
    assert!(BUCKET.is_barrier(root.below("my %25/y.jpg")));
    assert!(BUCKET.offset("elsewhere", &root).is_none());
}
