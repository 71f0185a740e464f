//! What a prefix means, the same everywhere.

use crate::storages::{Subject, every_storage};

fn filled(subject: &Subject, keys: &[&str]) {
    for key in keys {
        subject.set(key, key).unwrap_or_else(|error| panic!("{}: {error}", subject.name));
    }
}

/// Case LS-01. Spec: P-7
#[test]
fn a_prefix_that_is_itself_a_key_lists_itself_and_all_that_begins_with_it() {
    for subject in every_storage() {
        filled(&subject, &["a/b", "a/b/c", "a/bc"]);
        assert_eq!(subject.list("a/b"), ["a/b", "a/b/c", "a/bc"], "{}", subject.name);
    }
}

/// Case LS-02. Spec: P-7
#[test]
fn a_prefix_may_end_within_a_segment() {
    for subject in every_storage() {
        filled(&subject, &["foo/bar", "foo/ba/x", "foo/baz", "fo"]);
        let name = &subject.name;
        assert_eq!(subject.list("foo/ba"), ["foo/ba/x", "foo/bar", "foo/baz"], "{name}");
        assert_eq!(subject.list("foo/ba/"), ["foo/ba/x"], "{name}");
        assert_eq!(subject.list("f"), ["fo", "foo/ba/x", "foo/bar", "foo/baz"], "{name}");
    }
}

/// Case LS-03. Spec: P-7
#[test]
fn a_key_that_does_not_match_does_not_end_the_scan() {
    for subject in every_storage() {
        filled(&subject, &["a-b", "a/b", "a/c", "aa", "b"]);
        let name = &subject.name;
        assert_eq!(subject.list("a/"), ["a/b", "a/c"], "{name}");
        assert_eq!(subject.list("a"), ["a-b", "a/b", "a/c", "aa"], "{name}");
        assert_eq!(subject.list("aa"), ["aa"], "{name}");
    }
}

/// Case LS-05. Spec: P-7
#[test]
fn the_empty_prefix_lists_everything_and_nothing_where_there_is_nothing() {
    for subject in every_storage() {
        assert!(subject.list("").is_empty(), "{}", subject.name);
        filled(&subject, &["x", "y/z"]);
        assert_eq!(subject.list(""), ["x", "y/z"], "{}", subject.name);
    }
}

/// Case LS-06. Spec: P-7
#[test]
fn a_place_that_does_not_exist_lists_nothing_before_and_after_it_did() {
    for subject in every_storage() {
        assert!(subject.list("nope/").is_empty(), "{}", subject.name);
        filled(&subject, &["nope/x", "nope/y/z"]);
        assert_eq!(subject.list("nope/").len(), 2, "{}", subject.name);
        for key in ["nope/x", "nope/y/z"] {
            subject.delete(key).unwrap_or_else(|error| panic!("{}: {error}", subject.name));
        }
        assert!(subject.list("nope/").is_empty(), "{}", subject.name);
        assert!(subject.list("").is_empty(), "{}", subject.name);
    }
}
