//! Mistakes in a document, each told by its line and its key.

use std::time::{Duration, Instant};

use storage_mux::config::MuxConfig;

#[track_caller]
fn refused(text: &str) -> String {
    MuxConfig::parse(text).expect_err("a mistake").to_string()
}

/// A document with one backend; `rest` begins on line 4.
#[track_caller]
fn backend(rest: &str) -> String {
    refused(&format!("mode = \"failover\"\n[[backend]]\nname = \"b\"\n{rest}\n"))
}

/// Spec: MX-4, MX-6
#[test]
fn a_mistake_among_the_options_names_its_line_and_key() {
    let unknown = refused("\nbackend_timeout = 5\n");
    assert!(unknown.starts_with("line 2, `backend_timeout`: no such key is known"), "{unknown}");
    assert!(unknown.contains("backend_timeout_ms"), "{unknown}");

    let wrong = refused("mode = \"failover\"\nbackend_timeout_ms = \"soon\"\n");
    assert!(wrong.starts_with("line 2, `backend_timeout_ms`: "), "{wrong}");
    assert!(!wrong.contains("soon"), "{wrong}");

    let mode = refused("mode = \"failovr\"\n");
    assert!(mode.starts_with("line 1, `mode`: ") && mode.contains("failovr"), "{mode}");

    let inner = refused("[retry]\nmax_attempts = \"many\"\n");
    assert_eq!(inner, "line 2, `retry.max_attempts`: invalid type: string …, expected u32");
    let deep =
        refused("[retry]\nmax_attempts = 3\n[retry.backoff]\nstrategy = \"linear\"\nspeed = 1\n");
    assert!(deep.contains("`retry.backoff"), "{deep}");
    // Where two are wrong no one of them is to blame; the first is told all the same.
    let two = refused("backend_timeout_ms = \"a\"\ncooldown_base_ms = \"b\"\n");
    assert!(two.contains("backend_timeout_ms"), "{two}");

    let range = refused("cooldown_base_ms = 9000\ncooldown_cap_ms = 10\n");
    assert!(range.contains("cooldown"), "{range}");
}

#[test]
fn a_document_that_is_no_toml_names_the_line_and_shows_no_value() {
    let error = refused("mode = \"failover\"\nurl = s3cr3t-value\n");
    assert!(error.starts_with("line 2: no TOML: "), "{error}");
    assert!(!error.contains("s3cr3t"), "{error}");
    assert_eq!(error.lines().count(), 1);
    let twice = refused("mode = \"mirror\"\nmode = \"shield\"\n");
    assert!(twice.starts_with("line 2: no TOML: "), "{twice}");
}

#[test]
fn a_backend_needs_a_name_and_a_url_of_the_right_type() {
    assert_eq!(refused("[[backend]]\nurl = \"memory://\"\n"), "line 1, `name`: is missing; add it");
    assert_eq!(backend(""), "line 2, backend `b`, `url`: is missing; add it");
    assert_eq!(
        backend("url = 7"),
        "line 4, backend `b`, `url`: must be a text in quotes, and not empty"
    );
    assert_eq!(
        backend("url = \"memory://\"\nweight = \"heavy\""),
        "line 5, backend `b`, `weight`: must be a decimal number"
    );
    assert_eq!(
        backend("url = \"s3://b\"\nallow_http = 1"),
        "line 5, backend `b`, `allow_http`: must be true or false"
    );
    let flat = refused("backend = 3\n");
    assert_eq!(flat, "line 1, `backend`: must be a table for each backend, headed [[backend]]");
    let single = refused("[backend]\nname = \"a\"\n");
    assert!(single.contains("[[backend]]"), "{single}");
    assert!(refused("backend = [1]\n").contains("[[backend]]"));
}

#[test]
fn a_key_of_another_kind_of_store_is_refused_with_the_keys_of_this_one() {
    assert_eq!(
        backend("url = \"memory://\"\nregion = \"eu\""),
        "line 5, backend `b`, `region`: no such key is known; use one of name, url, weight"
    );
    let error = backend("url = \"redis://h:1\"\nallow_http = true");
    assert!(
        error.ends_with("use one of name, url, weight, root, username, password_env"),
        "{error}"
    );
}

#[test]
fn a_url_that_leads_nowhere_says_what_it_lacks() {
    for (url, says) in [
        ("no url", "is no URL"),
        ("memory://shared", "names no place"),
        ("file://host/path", "from the root on"),
        ("file://relative", "from the root on"),
        ("s3:///key", "names no bucket"),
        ("redis://", "names no server"),
        ("redis://host/seven", "by number"),
        ("redis://host/-1", "by number"),
        ("http://host/", "is not encrypted"),
        ("ftp://host", "no storage has this scheme"),
        ("s3://bucket?region=eu", "must end before any ?"),
        ("s3://bucket#part", "must end before any ?"),
    ] {
        let error = backend(&format!("url = \"{url}\""));
        assert!(error.starts_with("line 4, backend `b`, `url`: "), "{url}: {error}");
        assert!(error.contains(says), "{url}: {error}");
    }
}

#[test]
fn half_a_pair_of_keys_is_refused() {
    let error = backend("url = \"s3://b\"\naccess_key_id_env = \"ID\"");
    assert_eq!(error, "line 5, backend `b`, `secret_access_key_env`: is missing; add it");
    let error = backend("url = \"s3://b\"\nsecret_access_key_env = \"KEY\"");
    assert_eq!(error, "line 5, backend `b`, `access_key_id_env`: is missing; add it");
    let error = backend("url = \"s3://b\"\nsession_token_env = \"T\"");
    assert_eq!(error, "line 5, backend `b`, `access_key_id_env`: is missing; add it");
}

/// Spec: MX-6
#[test]
fn of_several_unknown_options_the_first_is_told_by_line_and_key() {
    let error = refused("zone = 1\narea = 2\nmode = \"magic\"\n");
    assert!(error.starts_with("line 1, `zone`: no such key is known"), "{error}");
}

/// The search for the one that is to blame must not try each of them.
#[test]
fn a_document_with_thousands_of_mistakes_is_refused_at_once() {
    let many =
        |head: &str| (0..20_000).fold(head.to_owned(), |text, n| text + &format!("k{n} = 1\n"));
    for head in ["", "[retry]\n", "[retry.backoff]\nstrategy = \"linear\"\n", "[mode]\n"] {
        let text = many(head);
        let begun = Instant::now();
        MuxConfig::parse(&text).expect_err("mistakes");
        assert!(begun.elapsed() < Duration::from_secs(5), "{head:?}: {:?}", begun.elapsed());
    }
}
