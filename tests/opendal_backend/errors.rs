//! What each error of a service becomes.

use std::error::Error as _;
use std::io;
use std::time::Duration;

use opendal::{Error, ErrorKind};
use storage_mux::{
    ErrorClass, NetworkFault, OpContext, Storage, StorageError, StorageErrorKind, classify,
};

use crate::fake::{Fake, plain};
use crate::support::{drive, get, set};

const fn http(status: u16) -> StorageErrorKind {
    StorageErrorKind::Http { status, retry_after: None }
}

fn error(kind: ErrorKind) -> Error {
    Error::new(kind, "on cue")
}

/// An answer that is no kind of its own, as the services that speak HTTP put it.
fn answer(status: &str, headers: &str) -> Error {
    let head = format!("Parts {{ status: {status}, version: HTTP/1.1, headers: {{{headers}}} }}");
    error(ErrorKind::Unexpected).with_context("response", head)
}

fn io_fault(kind: io::ErrorKind) -> Error {
    error(ErrorKind::Unexpected).set_source(io::Error::from(kind))
}

/// The error of a `get` whose service fails so.
fn read(error: Error) -> StorageError {
    let fake = Fake::new(plain());
    fake.script().errors.push_back(error);
    get(&fake.backend(), "k").expect_err("the service fails")
}

/// The error of a `set` whose service fails so.
fn write(error: Error) -> StorageError {
    let fake = Fake::new(plain());
    fake.script().errors.push_back(error);
    set(&fake.backend(), "k", "v").expect_err("the service fails")
}

/// Spec: E-1, E-2
#[test]
fn every_error_of_a_service_becomes_its_kind() {
    use StorageErrorKind::{
        CredentialExpired, InvalidKey, KeyNotFound, Network, Other, Unsupported,
    };
    let text = |kind, text: &str| Error::new(kind, text);
    let patient = StorageErrorKind::Http { status: 503, retry_after: Some(Duration::from_secs(7)) };
    let table: Vec<(Error, StorageErrorKind)> = vec![
        (error(ErrorKind::NotFound), KeyNotFound),
        (text(ErrorKind::NotFound, "S3Error { code: \"NoSuchBucket\" }"), Other),
        (error(ErrorKind::Unsupported), Unsupported),
        (error(ErrorKind::PermissionDenied), http(403)),
        (text(ErrorKind::PermissionDenied, "code: \"ExpiredToken\""), CredentialExpired),
        (error(ErrorKind::RateLimited), http(429)),
        (error(ErrorKind::AlreadyExists), http(412)),
        (error(ErrorKind::ConditionNotMatch), http(412)),
        (error(ErrorKind::RangeNotSatisfied), http(416)),
        (error(ErrorKind::Conflict), http(409)),
        (error(ErrorKind::IsSameFile), InvalidKey),
        (error(ErrorKind::IsADirectory), KeyNotFound),
        (error(ErrorKind::NotADirectory), KeyNotFound),
        (error(ErrorKind::ConfigInvalid), Other),
        (error(ErrorKind::Unexpected), Other),
        (text(ErrorKind::Unexpected, "code: \"ExpiredToken\""), CredentialExpired),
        (answer("400", ""), http(400)),
        (answer("503", ""), http(503)),
        (answer("503", "\"retry-after\": \"7\""), patient),
        (answer("503", "\"retry-after\": \"soon\""), http(503)),
        (answer("404", ""), Other),
        (answer("x", ""), Other),
        (io_fault(io::ErrorKind::ConnectionRefused), Network(NetworkFault::Refused)),
        (io_fault(io::ErrorKind::ConnectionReset), Network(NetworkFault::Reset)),
        (io_fault(io::ErrorKind::TimedOut), Network(NetworkFault::TimedOut)),
        (io_fault(io::ErrorKind::HostUnreachable), Network(NetworkFault::Other)),
        (io_fault(io::ErrorKind::PermissionDenied), http(403)),
        (io_fault(io::ErrorKind::NotADirectory), KeyNotFound),
        (io_fault(io::ErrorKind::StorageFull), Other),
    ];
    for (error, kind) in table {
        let shown = error.to_string();
        let found = read(error);
        assert_eq!(*found.kind(), kind, "{shown}");
        let source = found.source().expect("the error of the service is kept");
        assert_eq!(source.to_string(), shown);
        assert!(!found.to_string().contains('\n'), "one line: {found}");
    }
}

/// Spec: E-2
#[test]
fn what_the_service_calls_temporary_is_transient_whatever_it_is() {
    for kind in [
        ErrorKind::Unexpected,
        ErrorKind::RateLimited,
        ErrorKind::PermissionDenied,
        ErrorKind::Conflict,
        ErrorKind::ConfigInvalid,
    ] {
        let found = read(error(kind).set_temporary());
        assert_eq!(classify(&found), ErrorClass::Transient, "{kind}");
    }
    assert_eq!(classify(&read(error(ErrorKind::PermissionDenied))), ErrorClass::Semantic);
    assert_eq!(classify(&read(error(ErrorKind::Conflict))), ErrorClass::Semantic);
    assert_eq!(classify(&read(error(ErrorKind::Unexpected).set_persistent())), {
        ErrorClass::Transient
    });
}

/// Spec: P-7, E-2
#[test]
fn not_found_is_the_key_for_a_read_and_trouble_for_a_write() {
    assert_eq!(*read(error(ErrorKind::NotFound)).kind(), StorageErrorKind::KeyNotFound);
    assert_eq!(classify(&write(error(ErrorKind::NotFound))), ErrorClass::Transient);

    let fake = Fake::new(plain());
    fake.script().errors.push_back(error(ErrorKind::NotFound));
    assert_eq!(drive(fake.backend().has("k", &OpContext::new())), Ok(false));
}

/// Spec: P-7
#[test]
fn what_stands_in_the_way_of_a_write_makes_its_key_invalid() {
    for foreign in [
        error(ErrorKind::IsADirectory),
        error(ErrorKind::NotADirectory),
        error(ErrorKind::AlreadyExists),
        io_fault(io::ErrorKind::NotADirectory),
    ] {
        assert_eq!(*write(foreign).kind(), StorageErrorKind::InvalidKey);
    }
}

/// Spec: P-7, AB-3
#[test]
fn what_is_refused_never_reaches_the_service() {
    let fake = Fake::new(plain());
    let backend = fake.backend();
    let controller = storage_mux::AbortController::new();
    controller.abort();
    let given_up = OpContext::new().with_signal(controller.signal());
    for (key, cx) in [("", &OpContext::new()), ("a\0", &OpContext::new()), ("k", &given_up)] {
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
    assert_eq!(fake.calls(), Vec::<String>::new());
}
