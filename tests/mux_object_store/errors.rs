//! What each of our errors becomes, and that it comes back as it was.

use std::error::Error as _;
use std::time::Duration;

use object_store::path::Path;
use object_store::{Error, ObjectStoreExt};
use storage_mux::backend::ObjectStoreBackend;
use storage_mux::sim::Fault;
use storage_mux::{
    Backend, MemoryStorage, MuxCode, NetworkFault, OpContext, SeededRng, SharedStorage, Storage,
    StorageError, StorageErrorKind, StorageMux,
};

use crate::support::{drive, faulty};

/// Whether an error is of the kind that is expected.
type Is = fn(&Error) -> bool;

fn kinds() -> Vec<(StorageError, Is)> {
    let generic: Is = |error| matches!(error, Error::Generic { store: "storage-mux", .. });
    vec![
        (StorageError::key_not_found(), |error| matches!(error, Error::NotFound { .. })),
        (StorageError::http(404), |error| matches!(error, Error::NotFound { .. })),
        (StorageError::unsupported(), |error| matches!(error, Error::NotSupported { .. })),
        (StorageError::credential_expired(), |e| matches!(e, Error::Unauthenticated { .. })),
        (StorageError::http(401), |error| matches!(error, Error::Unauthenticated { .. })),
        (StorageError::http(403), |error| matches!(error, Error::PermissionDenied { .. })),
        (StorageError::http(304), |error| matches!(error, Error::NotModified { .. })),
        (StorageError::precondition_failed(), |e| matches!(e, Error::Precondition { .. })),
        (StorageError::http(503).with_retry_after(Duration::from_secs(7)), generic),
        (StorageError::http(409), generic),
        (StorageError::network(NetworkFault::Refused), generic),
        (StorageError::aborted(), generic),
        (StorageError::other("why"), generic),
    ]
}

/// Spec: E-1
#[test]
fn every_error_of_ours_becomes_its_kind_with_ours_as_the_source() {
    for (error, expected) in kinds() {
        let (store, storage, _) = faulty();
        storage.push(Fault::Fail(error.clone()));
        let found = drive(store.head(&Path::from("a/k"))).unwrap_err();
        assert!(expected(&found), "{error}: {found:?}");
        let source = found.source().expect("a source");
        assert_eq!(source.downcast_ref(), Some(&error), "{found:?}");
        assert!(!found.to_string().contains('\n'));
        if let Error::NotFound { path, .. } = found {
            assert_eq!(path, "a/k");
        }
    }
}

/// A store that is a mux tells the mux around it all it knows, `Retry-After` included.
///
/// Spec: E-1, HE-2
#[test]
fn an_error_comes_back_through_a_backend_as_it_was() {
    for (error, _) in kinds() {
        let (store, storage, _) = faulty();
        let backend = ObjectStoreBackend::new(store);
        let expected = match error.kind() {
            // There is one word for these two there.
            StorageErrorKind::Http { status: 404, .. } => StorageError::key_not_found(),
            StorageErrorKind::CredentialExpired => StorageError::credential_expired(),
            _ => error.clone(),
        };
        storage.push(Fault::Fail(error));
        let found = drive(backend.get("k", &OpContext::new())).unwrap_err();
        assert_eq!(found, expected, "{found:?}");
    }
}

/// Spec: FO-3, E-3
#[test]
fn the_code_of_a_mux_can_be_asked_for() {
    let mux = StorageMux::builder(storage_mux::sim::FakeClock::new(), SeededRng::new(1))
        .backend(Backend::new("only", SharedStorage::new(MemoryStorage::new())))
        .build()
        .unwrap();
    drive(mux.drain("only")).unwrap();
    let store = storage_mux::backend::MuxObjectStore::from(mux);
    let error = drive(store.head(&Path::from("k"))).unwrap_err();
    let source = error.source().and_then(|source| source.downcast_ref::<StorageError>());
    let source = source.expect("our error is the source");
    assert!(source.is_mux(MuxCode::AllBackendsDown), "{error}");
}
