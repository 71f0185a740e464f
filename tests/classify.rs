//! Errors: their class, their code, what they say, where they came from, when they are equal.

use std::collections::BTreeSet;
use std::error::Error;
use std::time::Duration;

use proptest::prelude::*;
use storage_mux::{
    ErrorClass, MuxCode, MuxError, MuxMode, NetworkFault, StorageError, StorageErrorKind, classify,
};

const FAULTS: [NetworkFault; 4] =
    [NetworkFault::Reset, NetworkFault::TimedOut, NetworkFault::Refused, NetworkFault::Other];

/// An error of a mux, as a user can get one without a mux.
fn mux_error(mode: &str) -> MuxError {
    mode.parse::<MuxMode>().expect_err("no mode has this name")
}

/// What the table of the contract says, written down a second time.
fn expected_class(kind: &StorageErrorKind) -> ErrorClass {
    match kind {
        StorageErrorKind::Aborted => ErrorClass::Abort,
        StorageErrorKind::Http { status, .. } if *status == 408 || *status == 429 => {
            ErrorClass::Transient
        }
        StorageErrorKind::Http { status, .. } if status / 100 == 5 => ErrorClass::Transient,
        StorageErrorKind::Network(_) | StorageErrorKind::Other => ErrorClass::Transient,
        // The only nested error here is INVALID_MODE, a configuration code.
        _ => ErrorClass::Semantic,
    }
}

fn any_kind() -> impl Strategy<Value = StorageErrorKind> {
    let wait = proptest::option::of(any::<Duration>());
    prop_oneof![
        Just(StorageErrorKind::KeyNotFound),
        Just(StorageErrorKind::InvalidKey),
        Just(StorageErrorKind::Unsupported),
        Just(StorageErrorKind::CredentialExpired),
        (any::<u16>(), wait.clone())
            .prop_map(|(status, retry_after)| StorageErrorKind::Http { status, retry_after }),
        // Most of all numbers are no status: these are.
        (100_u16..600, wait)
            .prop_map(|(status, retry_after)| StorageErrorKind::Http { status, retry_after }),
        proptest::sample::select(&FAULTS[..]).prop_map(StorageErrorKind::Network),
        Just(StorageErrorKind::Aborted),
        any::<String>().prop_map(|mode| StorageErrorKind::Mux(mux_error(&format!("?{mode}")))),
        Just(StorageErrorKind::Other),
    ]
}

/// Text as a foreign system may send it: line breaks, terminal escapes, no end of it.
fn hostile_text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[\\x00-\\x1f\\x7f-\\u{9f}]{0,20}",
        "(line\r\n){0,5}\\x1b\\[2J",
        Just(String::new()),
        Just("x".repeat(10_000)),
    ]
}

fn any_error() -> impl Strategy<Value = StorageError> {
    let text = || proptest::option::of(hostile_text());
    (any_kind(), text(), text()).prop_map(|(kind, detail, source)| {
        let mut error = StorageError::new(kind);
        if let Some(detail) = detail {
            error = error.with_detail(detail);
        }
        if let Some(source) = source {
            error = error.with_source(source);
        }
        error
    })
}

/// How many times a character comes up that ends a line or drives a terminal.
fn controls(text: &str) -> usize {
    text.chars().filter(|c| c.is_control()).count()
}

/// Spec: E-2
#[test]
fn every_http_status_has_the_class_of_the_table() {
    for status in 0..=u16::MAX {
        let transient = matches!(status, 408 | 429) || (500..600).contains(&status);
        let expected = if transient { ErrorClass::Transient } else { ErrorClass::Semantic };
        let error = StorageError::http(status);
        assert_eq!(classify(&error), expected, "{status}");
        let waiting = error.with_retry_after(Duration::from_secs(1));
        assert_eq!(classify(&waiting), expected, "{status} with a time to come back");
    }
}

/// Spec: E-2
#[test]
fn the_edges_of_the_table_lie_where_they_should() {
    for (status, transient) in [
        (399, false),
        (400, false),
        (404, false),
        (407, false),
        (408, true),
        (409, false),
        (412, false),
        (416, false),
        (428, false),
        (429, true),
        (430, false),
        (499, false),
        (500, true),
        (503, true),
        (599, true),
        (600, false),
    ] {
        let class = classify(&StorageError::http(status));
        assert_eq!(class == ErrorClass::Transient, transient, "{status}");
    }
}

/// Spec: E-1, E-2
#[test]
fn each_kind_has_its_code_and_its_class() {
    use ErrorClass::{Abort, Semantic, Transient};
    let network = StorageError::network;
    let table = [
        (StorageError::key_not_found(), "STORAGE.KEY_NOT_FOUND", Semantic),
        (StorageError::invalid_key("why"), "STORAGE.INVALID_KEY", Semantic),
        (StorageError::unsupported(), "STORAGE.UNSUPPORTED", Semantic),
        (StorageError::credential_expired(), "STORAGE_CDN.CREDENTIAL_EXPIRED", Semantic),
        (StorageError::precondition_failed(), "STORAGE.HTTP_STATUS", Semantic),
        (StorageError::range_not_satisfiable(), "STORAGE.HTTP_STATUS", Semantic),
        (StorageError::http(503), "STORAGE.HTTP_STATUS", Transient),
        (network(NetworkFault::Reset), "STORAGE.NETWORK_RESET", Transient),
        (network(NetworkFault::TimedOut), "STORAGE.NETWORK_TIMED_OUT", Transient),
        (network(NetworkFault::Refused), "STORAGE.NETWORK_REFUSED", Transient),
        (network(NetworkFault::Other), "STORAGE.NETWORK_FAILED", Transient),
        (StorageError::aborted(), "STORAGE.ABORTED", Abort),
        (StorageError::other("disk on fire"), "STORAGE.OTHER", Transient),
        (mux_error("nope").into(), "STORAGE_MUX.INVALID_MODE", Semantic),
    ];
    let mut texts = BTreeSet::new();
    for (error, code, class) in table {
        assert_eq!(error.code(), code);
        assert_eq!(classify(&error), class, "{code}");
        texts.insert(error.to_string());
    }
    assert_eq!(texts.len(), 14, "each says something of its own: {texts:#?}");
}

proptest! {
    /// Spec: E-2
    #[test]
    fn the_class_follows_from_the_kind_alone(error in any_error()) {
        prop_assert_eq!(classify(&error), expected_class(error.kind()));
        prop_assert_eq!(classify(&error), classify(&StorageError::new(error.kind().clone())));
        prop_assert_eq!(classify(&error.clone()), classify(&error), "a clone is no other error");
    }

    /// Spec: E-5, E-6
    #[test]
    fn every_message_is_one_line_that_ends_in_advice(error in any_error()) {
        let text = error.to_string();
        prop_assert_eq!(controls(&text), 0, "{:?}", text);
        let advice = text.rsplit("; ").next().unwrap_or_default();
        prop_assert!(!advice.is_empty() && text.contains("; "), "{:?}", text);
        prop_assert!(!text.starts_with(';') && !text.starts_with(' '), "{:?}", text);
        // Debug has no promise but this one.
        let _ = format!("{error:?} {error:#?}");
    }

    /// Spec: E-1, E-5
    #[test]
    fn a_message_keeps_the_printable_part_of_its_detail(kind in any_kind(), detail in "[ -~]{1,40}") {
        let error = StorageError::new(kind.clone()).with_detail(detail.clone());
        let shown = error.to_string().contains(&detail);
        // A mux error speaks for itself.
        prop_assert_eq!(shown || matches!(kind, StorageErrorKind::Mux(_)), true);
    }

    /// Spec: E-1
    #[test]
    fn two_errors_are_equal_when_their_kinds_are(a in any_error(), b in any_error()) {
        prop_assert_eq!(&a, &a.clone());
        prop_assert_eq!(a == b, a.kind() == b.kind());
        prop_assert_eq!(a == b, b == a);
        prop_assert_eq!(&a, &a.clone().with_detail("other words").with_source("another cause"));
        if a == b {
            prop_assert_eq!(a.code(), b.code());
            prop_assert_eq!(classify(&a), classify(&b));
        }
    }

    /// Spec: E-1, E-3
    #[test]
    fn the_source_chain_is_kept_link_by_link(
        kind in any_kind(),
        links in proptest::collection::vec("[a-z]{1,8}", 1..6),
    ) {
        let mut chain = StorageError::other(links[0].clone());
        for link in &links[1..] {
            chain = StorageError::other(chain).with_detail(link.clone());
        }
        let error = StorageError::new(kind).with_source(chain.clone());
        if matches!(error.kind(), StorageErrorKind::Mux(_)) {
            // The envelope has no source of its own: the mux error inside has the word.
            prop_assert!(error.source().is_none());
            return Ok(());
        }
        let first = error.source().and_then(|source| source.downcast_ref::<StorageError>());
        prop_assert_eq!(first, Some(&chain));
        let mut depth = 0;
        let mut next: Option<&(dyn Error + 'static)> = Some(&error);
        while let Some(link) = next {
            depth += 1;
            next = link.source();
        }
        // The error, each wrapped one, and the text at the bottom.
        prop_assert_eq!(depth, 1 + links.len() + 1);
    }

    /// Spec: E-1
    #[test]
    fn only_an_http_error_says_when_to_come_back(error in any_error(), wait: Duration) {
        let http = matches!(error.kind(), StorageErrorKind::Http { .. });
        let had = error.retry_after();
        let told = error.clone().with_retry_after(wait);
        prop_assert_eq!(told.retry_after(), http.then_some(wait));
        prop_assert!(http || had.is_none());
        prop_assert!(http || told == error, "another kind is not changed");
    }

    /// Spec: E-3, E-5, MX-4
    #[test]
    fn a_mode_that_is_none_is_refused_on_one_line_whatever_it_holds(mode in hostile_text()) {
        prop_assume!(MuxMode::ALL.iter().all(|known| known.as_str() != mode));
        let error = mux_error(&mode);
        prop_assert_eq!(error.code(), MuxCode::InvalidMode);
        prop_assert_eq!(controls(&error.to_string()), 0, "{}", error);
        prop_assert!(error.to_string().ends_with(MuxCode::InvalidMode.advice()));
        prop_assert_eq!(&error, &mux_error(&mode));
        let outer = StorageError::from(error.clone());
        prop_assert_eq!(outer.to_string(), error.to_string(), "the envelope adds nothing");
        prop_assert_eq!(outer.as_mux(), Some(&error));
        prop_assert!(outer.is_mux(MuxCode::InvalidMode) && !outer.is_mux(MuxCode::InvalidWeight));
    }
}

#[cfg(feature = "sim")]
proptest! {
    /// Spec: E-3, E-5, MX-3
    #[test]
    fn a_backend_is_named_on_one_line_whatever_its_name_holds(name in hostile_text()) {
        use storage_mux::sim::FakeClock;
        use storage_mux::{Backend, MemoryStorage, SeededRng, StorageMux};

        let backend = || Backend::new(name.as_str(), MemoryStorage::new());
        let refused = StorageMux::builder(FakeClock::new(), SeededRng::new(1))
            .backends([backend(), backend()])
            .build();
        let Err(error) = refused else {
            return Err(TestCaseError::fail("two backends of one name"));
        };
        prop_assert_eq!(controls(&error.to_string()), 0, "{}", error);
        // An empty name may be refused for itself.
        if error.code() == MuxCode::BackendNameConflict {
            prop_assert_eq!(error.backend().map(|known| known.as_str()), Some(name.as_str()));
        }
    }
}

/// Spec: E-1
#[test]
fn predicates_tell_their_own_kind_from_its_neighbours() {
    let (missing, refused) = (StorageError::key_not_found(), StorageError::precondition_failed());
    assert!(missing.is_key_not_found() && !refused.is_key_not_found());
    assert!(!StorageError::http(404).is_key_not_found(), "a status is not a verdict on the key");
    assert!(refused.is_precondition_failed() && !missing.is_precondition_failed());
    assert!(!StorageError::http(411).is_precondition_failed());
    assert!(!StorageError::http(413).is_precondition_failed());
    assert_eq!(StorageError::range_not_satisfiable(), StorageError::http(416));
    assert_ne!(StorageError::http(412), StorageError::http(416));
    assert_ne!(
        StorageError::http(503),
        StorageError::http(503).with_retry_after(Duration::ZERO),
        "when to come back is part of the answer"
    );
}

/// Spec: E-1, E-5
#[test]
fn a_message_says_what_happened_what_was_said_and_what_to_do() {
    let busy = StorageError::http(503)
        .with_retry_after(Duration::from_millis(1_500))
        .with_detail("slow down\r\nplease");
    let text = busy.to_string();
    assert!(text.contains("http 503") && text.contains("1.5s"), "{text}");
    assert!(text.contains("slow down") && text.contains("please"), "{text}");
    assert!(!text.contains(['\r', '\n']), "{text}");
}

/// Spec: E-4
#[test]
fn every_code_of_both_registries_has_words_and_advice_on_one_line() {
    let mut seen = BTreeSet::new();
    for code in MuxCode::CONTRACT.into_iter().chain(MuxCode::EXTENSIONS) {
        assert!(seen.insert(code.as_str()), "{code} is there twice");
        assert_eq!(code.to_string(), code.as_str());
        let name = code.as_str().strip_prefix("STORAGE_MUX.").expect("the namespace of a mux");
        assert!(name.chars().all(|c| c.is_ascii_uppercase() || c == '_'), "{code}");
        for text in [code.what(), code.advice()] {
            assert!(
                text.len() > 8 && controls(text) == 0 && !text.ends_with('.'),
                "{code}: {text}"
            );
        }
    }
}

/// Spec: E-1
#[cfg(feature = "std")]
#[test]
fn an_input_output_error_becomes_what_it_means_and_stays_the_source() {
    use std::io;
    let table = [
        (io::ErrorKind::NotFound, "STORAGE.KEY_NOT_FOUND", ErrorClass::Semantic),
        (io::ErrorKind::Unsupported, "STORAGE.UNSUPPORTED", ErrorClass::Semantic),
        (io::ErrorKind::ConnectionReset, "STORAGE.NETWORK_RESET", ErrorClass::Transient),
        (io::ErrorKind::BrokenPipe, "STORAGE.NETWORK_RESET", ErrorClass::Transient),
        (io::ErrorKind::TimedOut, "STORAGE.NETWORK_TIMED_OUT", ErrorClass::Transient),
        (io::ErrorKind::ConnectionRefused, "STORAGE.NETWORK_REFUSED", ErrorClass::Transient),
        (io::ErrorKind::NotConnected, "STORAGE.NETWORK_FAILED", ErrorClass::Transient),
        (io::ErrorKind::PermissionDenied, "STORAGE.OTHER", ErrorClass::Transient),
        (io::ErrorKind::StorageFull, "STORAGE.OTHER", ErrorClass::Transient),
    ];
    for (kind, code, class) in table {
        let error = StorageError::from(io::Error::new(kind, "the words of the system"));
        assert_eq!((error.code(), classify(&error)), (code, class), "{kind:?}");
        let source = error.source().and_then(|source| source.downcast_ref::<io::Error>());
        assert_eq!(source.map(io::Error::kind), Some(kind));
    }
}
