//! Reads: ranges of every kind, conditions, and values that change meanwhile.

use std::ops::Range;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{Error, GetOptions, GetRange, ObjectStore, ObjectStoreExt};
use storage_mux::backend::MuxObjectStore;
use storage_mux::{Operation, StorageError};

use crate::meddler::Meddler;
use crate::support::{drive, faulty};

const MIB: usize = 1024 * 1024;

fn path() -> Path {
    "k".into()
}

fn bytes(len: usize) -> Bytes {
    (0..len).map(|at| (at % 251) as u8).collect()
}

type Read = Result<(Range<u64>, Bytes), Error>;

async fn read(store: &MuxObjectStore, range: GetRange) -> Read {
    let options = GetOptions { range: Some(range), ..GetOptions::default() };
    let result = store.get_opts(&path(), options).await?;
    Ok((result.range.clone(), result.bytes().await?))
}

/// A value short enough for one call and one that is streamed; a storage with ranges, one without,
/// and a limit that makes every range a stream.
///
/// Spec: P-3, P-7
#[test]
fn ranges_of_every_kind_give_what_a_slice_gives() {
    for len in [0, 1, 10, MIB, MIB + 1, 2 * MIB + 7] {
        let value = bytes(len);
        let size = len as u64;
        let plain = Meddler::default();
        let lacking = Meddler::without(Operation::GetRange);
        let stores = [plain.store(), plain.store().with_max_whole_bytes(0), lacking.store()];
        for store in stores {
            drive(store.put(&path(), value.clone().into())).unwrap();
            let all = drive(async { store.get(&path()).await.unwrap().bytes().await.unwrap() });
            assert_eq!(all, value);
            let mut table: Vec<(GetRange, Option<Range<u64>>)> = vec![
                (GetRange::Suffix(3), Some(size.saturating_sub(3)..size)),
                (GetRange::Suffix(size + 9), Some(0..size)),
                (GetRange::Offset(size), None),
                (GetRange::Bounded(size..size + 1), None),
                (GetRange::Bounded(5..5), None),
                #[expect(clippy::reversed_empty_ranges, reason = "a range that is no range")]
                (GetRange::Bounded(5..4), None),
            ];
            if size > 0 {
                table.push((GetRange::Offset(0), Some(0..size)));
                table.push((GetRange::Offset(size - 1), Some(size - 1..size)));
                table.push((GetRange::Bounded(0..size), Some(0..size)));
                table.push((GetRange::Bounded(0..1), Some(0..1)));
                table.push((GetRange::Bounded(size / 2..u64::MAX / 2), Some(size / 2..size)));
            }
            for (range, expected) in table {
                let shown = format!("{range:?} of {len}, {store:?}");
                match (drive(read(&store, range)), expected) {
                    (Ok((range, found)), Some(expected)) => {
                        assert_eq!(range, expected, "{shown}");
                        let slice = expected.start as usize..expected.end as usize;
                        assert_eq!(found, value.slice(slice), "{shown}");
                    }
                    (Err(Error::Generic { .. }), None) => {}
                    (found, _) => panic!("{shown}: {found:?}"),
                }
            }
        }
    }
}

/// Spec: P-3
#[test]
fn several_ranges_are_read_without_a_look_and_clamped_where_the_value_ends() {
    let (store, storage, _) = faulty();
    drive(store.put(&path(), "0123456789".into())).unwrap();
    let before = storage.calls();
    let found = drive(store.get_ranges(&path(), &[1..3, 0..10, 9..10])).unwrap();
    assert_eq!(found, ["12", "0123456789", "9"]);
    let log = &storage.log()[before..];
    assert!(log.iter().all(|(operation, _)| *operation == Operation::GetRange), "{log:?}");
    for store in [store, {
        let meddler = Meddler::without(Operation::GetRange);
        drive(meddler.store().put(&path(), "0123456789".into())).unwrap();
        meddler.store()
    }] {
        let found = drive(store.get_ranges(&path(), &[0..2, 8..100]));
        assert_eq!(found.unwrap(), ["01", "89"]);
        assert!(drive(store.get_ranges(&path(), &[])).unwrap().is_empty());
        #[expect(clippy::reversed_empty_ranges, reason = "a range that is no range")]
        for wrong in [vec![0..2, 10..11], vec![0..1, 4..4], vec![4..3, 0..9], vec![0..6, 20..30]] {
            let result = drive(store.get_ranges(&path(), &wrong));
            assert!(matches!(result, Err(Error::Generic { .. })), "{wrong:?}: {result:?}");
        }
        let missing = drive(store.get_ranges(&Path::from("missing"), &[0..1, 0..2]));
        assert!(matches!(missing, Err(Error::NotFound { .. })), "{missing:?}");
    }
}

/// Spec: P-7
#[test]
fn a_value_that_changes_its_length_meanwhile_is_read_again() {
    let meddler = Meddler::default();
    let store = meddler.store();
    drive(store.put(&path(), "old".into())).unwrap();
    meddler.meddle(["longer".into(), "x".into()]);
    let result = drive(async {
        let result = store.get(&path()).await.unwrap();
        (result.meta.clone(), result.bytes().await.unwrap())
    });
    assert_eq!((result.0.size, &result.1[..]), (1, &b"x"[..]));
    assert_eq!(result.0.e_tag, drive(store.head(&path())).unwrap().e_tag);

    meddler.meddle(["ab".into()]);
    let found = drive(read(&store, GetRange::Offset(0))).unwrap();
    assert_eq!(found, (0..2, "ab".into()));
    meddler.meddle(["cdefgh".into()]);
    let found = drive(read(&store, GetRange::Suffix(1))).unwrap();
    assert_eq!(found.1, "d", "a part of a value may be that of the next one");
    // Somebody who never stops ends in an error, not in a read without end.
    meddler.meddle((0..40).map(|len| bytes(len % 2 + 1)));
    let error = drive(store.get(&path())).unwrap_err();
    assert!(error.to_string().contains("changed"), "{error}");
    assert!(meddler.left() > 0);
}

/// Spec: SM-5
#[test]
fn a_long_value_that_changes_meanwhile_ends_in_an_error() {
    for (len, range) in [
        (3 * MIB, None),
        (MIB, None),
        (MIB, Some(GetRange::Offset(1))),
        (3 * MIB, Some(GetRange::Offset(1))),
    ] {
        let meddler = Meddler::default();
        let store = meddler.store().with_max_whole_bytes(0);
        drive(store.put(&path(), bytes(2 * MIB).into())).unwrap();
        meddler.meddle([bytes(len)]);
        let options = GetOptions { range, ..GetOptions::default() };
        let result = drive(async { store.get_opts(&path(), options).await.unwrap().bytes().await });
        let error = result.expect_err("it is another value");
        assert!(error.to_string().contains("changed"), "{error}");
    }
}

/// Spec: P-7
#[test]
fn what_is_asked_for_by_its_tag_is_never_another_value() {
    let meddler = Meddler::default();
    let store = meddler.store();
    let tag = drive(store.put(&path(), "one".into())).unwrap().e_tag;
    // The same length: only the tag tells.
    meddler.meddle(["two".into()]);
    let options = || GetOptions::new().with_if_match(tag.clone());
    let error = drive(store.get_opts(&path(), options())).unwrap_err();
    assert!(matches!(error, Error::Precondition { .. }), "{error}");
    // Without it the value may be newer than its tag, so that an update by the tag fails.
    let (meta, value) = {
        meddler.meddle(["six".into()]);
        let result = drive(store.get(&path())).unwrap();
        (result.meta.clone(), drive(result.bytes()).unwrap())
    };
    assert_eq!(value, "six");
    let update = object_store::UpdateVersion { e_tag: meta.e_tag, version: meta.version };
    let mode = object_store::PutMode::Update(update);
    let error = drive(store.put_opts(&path(), "seven".into(), mode.into())).unwrap_err();
    assert!(matches!(error, Error::Precondition { .. }), "{error}");
}

/// Spec: P-3
#[test]
fn what_the_storage_does_not_know_is_not_made_up() {
    let (store, ..) = faulty();
    drive(store.put(&path(), "v".into())).unwrap();
    let meta = drive(store.head(&path())).unwrap();
    assert_eq!(meta.last_modified.timestamp_millis(), 0, "memory knows no time");
    assert_eq!(meta.version, None);
    let time = Some(meta.last_modified);
    for options in [
        GetOptions::new().with_if_modified_since(time),
        GetOptions::new().with_if_unmodified_since(time),
        GetOptions::new().with_version(Some("older".to_owned())),
    ] {
        let result = drive(store.get_opts(&path(), options));
        assert!(matches!(result, Err(Error::NotSupported { .. })), "{result:?}");
    }
    // A tag takes precedence over a time, which then plays no part.
    let options = GetOptions::new()
        .with_if_match(meta.e_tag.clone())
        .with_if_unmodified_since(time)
        .with_if_none_match(Some("other".to_owned()))
        .with_if_modified_since(time);
    assert!(drive(store.get_opts(&path(), options)).is_ok());
}

/// Spec: P-7
#[test]
fn a_name_that_can_have_no_value_has_none() {
    let (store, ..) = faulty();
    for path in [Path::ROOT, Path::from("x".repeat(2_000))] {
        let missing = drive(store.get(&path));
        assert!(matches!(missing, Err(Error::NotFound { .. })), "{missing:?}");
        let error = drive(store.put(&path, "v".into())).unwrap_err();
        let Error::Generic { source, .. } = error else { panic!("{error}") };
        let source: &StorageError = source.downcast_ref().expect("our error is the source");
        assert_eq!(source.code(), "STORAGE.INVALID_KEY");
    }
}
