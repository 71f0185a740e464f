//! What each error of a store becomes.

use std::error::Error as _;
use std::io;
use std::time::Duration;

use object_store::Error;
use storage_mux::backend::ObjectStoreBackend;
use storage_mux::{
    ErrorClass, NetworkFault, OpContext, Storage, StorageError, StorageErrorKind, classify,
};

use crate::fake::Fake;
use crate::support::{drive, get, keys, set};

/// An error with one that led to it, as HTTP clients stack them.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
struct Layer {
    text: String,
    source: Option<io::Error>,
}

fn generic(text: &str, source: Option<io::Error>) -> Error {
    let inner = Layer { text: text.into(), source };
    Error::Generic { store: "S3", source: Box::new(inner) }
}

fn status(line: &str) -> Error {
    // As the text of the stores that speak HTTP begins.
    generic(&format!("Server returned non-2xx status code: {line}"), None)
}

fn io_fault(kind: io::ErrorKind) -> Error {
    generic("HTTP error: error sending request", Some(kind.into()))
}

fn source() -> Box<dyn std::error::Error + Send + Sync> {
    "why".into()
}

const fn http(status: u16) -> StorageErrorKind {
    StorageErrorKind::Http { status, retry_after: None }
}

/// The error of a `get` whose store fails so.
fn read(error: Error) -> StorageError {
    let fake = Fake::default();
    fake.script().errors.push_back(error);
    get(&ObjectStoreBackend::new(fake), "k").expect_err("the store fails")
}

/// The error of a `set` whose store fails so.
fn write(error: Error) -> StorageError {
    let fake = Fake::default();
    fake.script().errors.push_back(error);
    set(&ObjectStoreBackend::new(fake), "k", "v").expect_err("the store fails")
}

/// Spec: E-1, E-2
#[test]
fn every_error_of_a_store_becomes_its_kind() {
    use StorageErrorKind::{CredentialExpired, InvalidKey, Network, Other, Unsupported};
    let path = || "k".to_owned();
    let invalid = object_store::path::Path::parse("a//b").expect_err("an empty part");
    let expired = "400 Bad Request: <Error><Code>ExpiredToken</Code></Error>";
    let table: Vec<(Error, StorageErrorKind)> = vec![
        (Error::NotSupported { source: source() }, Unsupported),
        (
            Error::NotImplemented { operation: "put".into(), implementer: "Fake".into() },
            Unsupported,
        ),
        (Error::AlreadyExists { path: path(), source: source() }, http(412)),
        (Error::Precondition { path: path(), source: source() }, http(412)),
        (Error::NotModified { path: path(), source: source() }, http(304)),
        (Error::PermissionDenied { path: path(), source: source() }, http(403)),
        (Error::Unauthenticated { path: path(), source: source() }, http(401)),
        (Error::InvalidPath { source: invalid }, InvalidKey),
        (Error::UnknownConfigurationKey { store: "S3", key: path() }, Other),
        (generic("something else", None), Other),
        (status("400 Bad Request: no"), http(400)),
        (status("408 Request Timeout: "), http(408)),
        (status("429 Too Many Requests: "), http(429)),
        (status("503 Service Unavailable: SlowDown"), http(503)),
        (status("x"), Other),
        (status(expired), CredentialExpired),
        (io_fault(io::ErrorKind::ConnectionRefused), Network(NetworkFault::Refused)),
        (io_fault(io::ErrorKind::ConnectionReset), Network(NetworkFault::Reset)),
        (io_fault(io::ErrorKind::ConnectionAborted), Network(NetworkFault::Reset)),
        (io_fault(io::ErrorKind::BrokenPipe), Network(NetworkFault::Reset)),
        (io_fault(io::ErrorKind::UnexpectedEof), Network(NetworkFault::Reset)),
        (io_fault(io::ErrorKind::TimedOut), Network(NetworkFault::TimedOut)),
        (io_fault(io::ErrorKind::HostUnreachable), Network(NetworkFault::Other)),
        (io_fault(io::ErrorKind::PermissionDenied), http(403)),
        (io_fault(io::ErrorKind::InvalidFilename), InvalidKey),
        (io_fault(io::ErrorKind::StorageFull), Other),
        (io_fault(io::ErrorKind::ReadOnlyFilesystem), Other),
        (io_fault(io::ErrorKind::NotFound), Other),
    ];
    for (error, kind) in table {
        let shown = error.to_string();
        let found = write(error);
        assert_eq!(*found.kind(), kind, "{shown}");
        let source = found.source().expect("the error of the store is kept");
        assert_eq!(source.to_string(), shown);
        assert!(!found.to_string().contains('\n'), "one line: {found}");
    }
}

/// Spec: E-2
#[test]
fn what_may_pass_is_transient_and_an_answer_is_not() {
    for error in [
        generic("something else", None),
        status("500 Internal Server Error"),
        io_fault(io::ErrorKind::ConnectionRefused),
        io_fault(io::ErrorKind::StorageFull),
    ] {
        assert_eq!(classify(&read(error)), ErrorClass::Transient);
    }
    for error in [
        status("400 Bad Request"),
        Error::PermissionDenied { path: "k".into(), source: source() },
        Error::NotFound { path: "k".into(), source: source() },
    ] {
        assert_eq!(classify(&read(error)), ErrorClass::Semantic);
    }
}

/// Spec: P-7, E-2
#[test]
fn not_found_is_the_key_for_a_read_and_trouble_for_a_write() {
    let missing = || Error::NotFound { path: "k".into(), source: source() };
    assert_eq!(*read(missing()).kind(), StorageErrorKind::KeyNotFound);
    assert_eq!(classify(&write(missing())), ErrorClass::Transient);

    let fake = Fake::default();
    let backend = ObjectStoreBackend::new(fake.clone());
    let cx = OpContext::new();
    fake.script().errors.push_back(missing());
    assert_eq!(drive(backend.has("k", &cx)), Ok(false));
    fake.script().errors.push_back(missing());
    assert_eq!(drive(backend.delete("k", &cx)), Ok(()));
    assert!(keys(&backend, "").is_empty());
}

/// Spec: E-2
#[test]
fn a_missing_bucket_is_no_missing_key() {
    for code in ["NoSuchBucket", "ContainerNotFound"] {
        let text = format!("404 Not Found: <Error><Code>{code}</Code></Error>");
        let error = Error::NotFound { path: "k".into(), source: text.into() };
        assert_eq!(classify(&read(error)), ErrorClass::Transient, "{code}");
    }
    // A listing and a write look for no key, so they need no more than the status.
    assert_eq!(classify(&write(status("404 Not Found: "))), ErrorClass::Transient);
    let fake = Fake::default();
    fake.script().errors.push_back(status("404 Not Found: "));
    let listing =
        drive(ObjectStoreBackend::new(fake).list("", &Default::default(), &OpContext::new()));
    assert_eq!(listing.map(drop).map_err(|error| classify(&error)), Err(ErrorClass::Transient));
}

/// Spec: P-7
#[test]
fn another_key_in_the_way_is_a_miss_for_a_read_and_an_invalid_key_for_a_write() {
    for kind in [io::ErrorKind::NotADirectory, io::ErrorKind::IsADirectory] {
        assert_eq!(*read(io_fault(kind)).kind(), StorageErrorKind::KeyNotFound);
        assert_eq!(*write(io_fault(kind)).kind(), StorageErrorKind::InvalidKey);
    }
}

/// Spec: P-7, AB-3
#[test]
fn what_is_refused_never_reaches_the_store() {
    let fake = Fake::default();
    let backend = ObjectStoreBackend::new(fake.clone()).with_plain_names();
    let controller = storage_mux::AbortController::new();
    controller.abort();
    let given_up = OpContext::new().with_signal(controller.signal());
    for (key, cx) in [("", &OpContext::new()), ("a//b", &OpContext::new()), ("k", &given_up)] {
        assert!(drive(backend.get(key, cx)).is_err());
        assert!(drive(backend.set(key, "v".into(), cx)).is_err());
        assert!(drive(backend.set_partial(key, 0, "v".into(), cx)).is_err());
        assert!(drive(backend.has(key, cx)).is_err());
        assert!(drive(backend.delete(key, cx)).is_err());
        assert!(drive(backend.stat(key, cx)).is_err());
        assert!(drive(backend.get_stream(key, cx)).is_err());
        assert!(drive(backend.set_stream(key, cx)).is_err());
        assert!(drive(backend.get_range(key, 0..1, cx)).is_err());
    }
    let list = drive(backend.list("", &Default::default(), &given_up));
    assert_eq!(list.map(drop), Err(StorageError::aborted()));
    assert_eq!(fake.calls(), Vec::<&str>::new());
}

/// As an HTTP client that knows of us passes on what it was told.
///
/// Spec: E-1, HE-2
#[test]
fn an_error_of_ours_among_the_sources_counts_with_its_retry_after() {
    #[derive(Debug, thiserror::Error)]
    #[error("{text}")]
    struct Client {
        text: String,
        source: StorageError,
    }
    let busy = StorageError::http(503).with_retry_after(Duration::from_secs(9));
    for text in ["HTTP error", "Server returned non-2xx status code: 500 Internal"] {
        let client = Client { text: text.into(), source: busy.clone() };
        let error = || Error::Generic { store: "S3", source: Box::new(client_again(&client)) };
        for found in [read(error()), write(error())] {
            assert_eq!(found.retry_after(), Some(Duration::from_secs(9)), "{found:?}");
            assert_eq!(found, busy);
        }
    }
    fn client_again(client: &Client) -> Client {
        Client { text: client.text.clone(), source: client.source.clone() }
    }
    // Without one there is nothing to be had: the text of an answer does not name it.
    assert_eq!(read(status("503 Service Unavailable: ")).retry_after(), None);
}
