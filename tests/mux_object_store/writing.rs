//! Writes under conditions, copies, renames, and what is refused.

use bytes::Bytes;
use object_store::path::Path;
use object_store::{
    Attribute, Attributes, CopyMode, CopyOptions, Error, ObjectStore, ObjectStoreExt, PutMode,
    PutMultipartOptions, PutOptions, TagSet, UpdateVersion,
};
use storage_mux::sim::{Fault, StreamFault};
use storage_mux::{AbortController, Operation, SharedStorage, StorageError};

use crate::meddler::Meddler;
use crate::support::{Scratch, drive, faulty};

const MIB: usize = 1024 * 1024;

fn paths() -> (Path, Path) {
    ("from".into(), "to".into())
}

fn long() -> Bytes {
    (0..2 * MIB).map(|at| (at % 251) as u8).collect()
}

/// Spec: MX-1
#[test]
fn a_storage_without_conditions_says_so() {
    let meddler = Meddler::without(Operation::SetIf);
    let store = meddler.store();
    let (from, to) = paths();
    drive(store.put(&from, "v".into())).unwrap();
    let update = UpdateVersion { e_tag: Some("1".into()), version: None };
    for mode in [PutMode::Create, PutMode::Update(update)] {
        let error = drive(store.put_opts(&to, "v".into(), mode.into())).unwrap_err();
        assert!(matches!(error, Error::NotImplemented { .. }), "{error}");
    }
    let error = drive(store.copy_if_not_exists(&from, &to)).unwrap_err();
    assert!(matches!(error, Error::NotImplemented { .. }), "{error}");
    let error = drive(store.rename_if_not_exists(&from, &to)).unwrap_err();
    assert!(matches!(error, Error::NotImplemented { .. }), "{error}");
    assert_eq!(meddler.memory.keys(), ["from"], "nothing was written or removed");
}

/// Spec: P-7
#[test]
fn a_folder_can_create_and_cannot_update() {
    let mut scratch = Scratch::new();
    let store = storage_mux::backend::MuxObjectStore::from(scratch.backend());
    let path = Path::from("k");
    let put = drive(store.put_opts(&path, "1".into(), PutMode::Create.into())).unwrap();
    let error = drive(store.put_opts(&path, "2".into(), PutMode::Create.into())).unwrap_err();
    assert!(matches!(error, Error::AlreadyExists { .. }), "{error}");
    let update = PutMode::Update(put.into());
    let error = drive(store.put_opts(&path, "2".into(), update.into())).unwrap_err();
    assert!(matches!(error, Error::NotImplemented { .. }), "{error}");
    let value = drive(async { store.get(&path).await?.bytes().await }).unwrap();
    assert_eq!(value, "1");
}

/// Spec: P-7
#[test]
fn an_update_that_names_no_version_is_refused() {
    let (store, storage, _) = faulty();
    let nothing = PutMode::Update(UpdateVersion { e_tag: None, version: None });
    let error = drive(store.put_opts(&"k".into(), "v".into(), nothing.into())).unwrap_err();
    assert!(matches!(error, Error::Generic { .. }), "{error}");
    assert!(storage.inner().is_empty());
}

/// Spec: P-7
#[test]
fn attributes_are_refused_and_tags_are_ignored() {
    let (store, storage, _) = faulty();
    let attributes = Attributes::from_iter([(Attribute::ContentType, "text/plain")]);
    let options = PutOptions { attributes: attributes.clone(), ..PutOptions::default() };
    let error = drive(store.put_opts(&"k".into(), "v".into(), options)).unwrap_err();
    assert!(matches!(error, Error::NotImplemented { .. }), "{error}");
    let options = PutMultipartOptions { attributes, ..PutMultipartOptions::default() };
    let error = drive(store.put_multipart_opts(&"k".into(), options)).unwrap_err();
    assert!(matches!(error, Error::NotImplemented { .. }), "{error}");
    assert_eq!(storage.calls(), 0);
    let mut tags = TagSet::default();
    tags.push("a", "b");
    let options = PutOptions { tags, ..PutOptions::default() };
    assert!(drive(store.put_opts(&"k".into(), "v".into(), options)).is_ok());
}

/// Spec: SM-2
#[test]
fn a_long_value_is_copied_as_a_stream() {
    let (store, storage, _) = faulty();
    let (from, to) = paths();
    drive(store.put(&from, long().into())).unwrap();
    drive(store.copy(&from, &to)).unwrap();
    let asked = |operation| storage.log().iter().any(|(asked, _)| *asked == operation);
    assert!(asked(Operation::SetStream) && !asked(Operation::Get));
    assert_eq!(drive(async { store.get(&to).await?.bytes().await }).unwrap(), long());
    // Broken off while it reads, while it writes, and at the close, after 32 chunks of 64 KiB.
    for (reads, after) in [(true, 1), (false, 1), (false, 32)] {
        drive(store.put(&to, "old".into())).unwrap();
        let broken = StreamFault::new(after, Fault::Fail(StorageError::http(503)));
        if reads {
            storage.push_stream(broken);
        } else {
            storage.push_stream(StreamFault::new(usize::MAX, Fault::None));
            storage.push_stream(broken);
        }
        let error = drive(store.copy(&from, &to)).unwrap_err();
        assert!(matches!(error, Error::Generic { .. }), "{error}");
        let value = drive(async { store.get(&to).await?.bytes().await }).unwrap();
        assert_eq!(value, "old");
    }
}

/// Spec: P-7
#[test]
fn a_copy_that_must_not_overwrite_is_one_conditional_write() {
    let (store, ..) = faulty();
    let (from, to) = paths();
    drive(store.put(&from, long().into())).unwrap();
    let small = store.clone().with_max_whole_bytes(MIB as u64);
    let error = drive(small.copy_if_not_exists(&from, &to)).unwrap_err();
    assert!(matches!(error, Error::NotSupported { .. }), "{error}");
    drive(store.copy_if_not_exists(&from, &to)).unwrap();
    let error = drive(store.copy_if_not_exists(&from, &to)).unwrap_err();
    assert!(matches!(error, Error::AlreadyExists { .. }), "{error}");
    let error = drive(store.rename_if_not_exists(&from, &to)).unwrap_err();
    assert!(matches!(error, Error::AlreadyExists { .. }), "{error}");
    assert!(drive(store.head(&from)).is_ok(), "what was not copied is not removed");
}

/// Spec: P-7
#[test]
fn an_object_that_is_renamed_to_its_own_name_stays() {
    let (store, ..) = faulty();
    let (from, _) = paths();
    let error = drive(store.rename(&from, &from)).unwrap_err();
    assert!(matches!(error, Error::NotFound { .. }), "{error}");
    drive(store.put(&from, "v".into())).unwrap();
    drive(store.rename(&from, &from)).unwrap();
    let error = drive(store.rename_if_not_exists(&from, &from)).unwrap_err();
    assert!(matches!(error, Error::AlreadyExists { .. }), "{error}");
    assert_eq!(drive(async { store.get(&from).await?.bytes().await }).unwrap(), "v");
}

/// Spec: AB-3
#[test]
fn a_signal_among_the_extensions_gives_the_call_up() {
    let (store, storage, _) = faulty();
    let store = {
        // Through a mux, which touches no backend for an aborted caller.
        let mux = storage_mux::StorageMux::builder(
            storage_mux::sim::FakeClock::new(),
            storage_mux::SeededRng::new(1),
        );
        let backend = SharedStorage::new(storage.clone());
        let mux = mux.backend(storage_mux::Backend::new("only", backend)).build().unwrap();
        drive(store.put(&"from".into(), "v".into())).unwrap();
        storage_mux::backend::MuxObjectStore::from(mux)
    };
    let before = storage.calls();
    let controller = AbortController::new();
    controller.abort();
    let mut options = CopyOptions::new().with_mode(CopyMode::Overwrite);
    options.extensions.insert(controller.signal());
    let (from, to) = paths();
    let error = drive(store.copy_opts(&from, &to, options)).unwrap_err();
    assert!(matches!(error, Error::Generic { .. }), "{error}");
    assert_eq!(storage.calls(), before, "no backend is touched");
}
