//! Limits, a full chip, faults of the chip, and ranges that are none.

use std::error::Error;

use embedded_storage_async::nor_flash::NorFlashErrorKind;
use futures_util::SinkExt;
use storage_mux::backend::{FlashError, FlashStorage};
use storage_mux::{
    ErrorClass, LocalStorage, OpContext, Operation, PageRequest, StorageError, classify,
};

use crate::chip::{Nor, Once, SECTOR, SIZE};
use crate::script::{Model, held, run};

fn storage() -> (Nor, FlashStorage<Nor>) {
    let nor = Nor::new();
    (nor.clone(), FlashStorage::new(nor, 0..SIZE as u32, 60).unwrap())
}

fn source(error: &StorageError) -> Option<FlashError> {
    error.source()?.downcast_ref().copied()
}

#[test]
fn a_value_at_the_limit_is_stored_and_one_byte_more_is_refused() {
    let (_, storage) = storage();
    let cx = OpContext::new();
    run(storage.set("k", vec![1; 60].into(), &cx)).unwrap();
    let refused = [
        run(storage.set("k", vec![2; 61].into(), &cx)).map(drop),
        run(storage.set_partial("k", 60, "x".into(), &cx)),
        run(storage.set_partial("k", u64::MAX, "x".into(), &cx)),
    ];
    for result in refused {
        let error = result.unwrap_err();
        assert_eq!(error, StorageError::http(413));
        assert_eq!(classify(&error), ErrorClass::Semantic);
        assert!(error.to_string().contains("60 bytes"), "{error}");
    }
    run(storage.set_partial("k", 59, "x".into(), &cx)).unwrap();
    let mut writer = run(storage.set_stream("k", &cx)).unwrap();
    run(writer.feed(vec![3; 60].into())).unwrap();
    assert_eq!(run(writer.feed("x".into())), Err(StorageError::http(413)));
    assert_eq!(run(writer.close()), Err(StorageError::http(413)));
    assert_eq!(run(storage.get("k", &cx)).unwrap(), [&[1; 59][..], b"x"].concat());
}

/// The longest value that the sector takes does fit, beside the longest key; a longer limit is
/// refused. By hand: 256, less two words, less eight bytes of header, less 65 of the key.
#[test]
fn the_longest_value_that_a_sector_takes_is_known() {
    const MOST: usize = 175;
    assert_eq!(FlashStorage::<Nor>::MOST_VALUE_BYTES, MOST);
    let whole = 0..SIZE as u32;
    let storage = FlashStorage::new(Nor::new(), whole.clone(), MOST).unwrap();
    let (key, cx) = ("x".repeat(64), OpContext::new());
    for round in 0..10 {
        run(storage.set(&key, vec![round; MOST].into(), &cx)).unwrap();
        assert_eq!(run(storage.get(&key, &cx)).unwrap(), vec![round; MOST]);
    }
    let error = FlashStorage::new(Nor::new(), whole, MOST + 1).unwrap_err();
    assert_eq!(error, FlashError::ValueLimit { most_bytes: MOST });
}

#[test]
fn a_range_that_is_no_storage_is_refused() {
    let (sector, size) = (SECTOR as u32, SIZE as u32);
    let wrong = [
        (0, sector),
        (sector, sector),
        (0, 2 * sector - 1),
        (1, 2 * sector + 1),
        (0, size + sector),
        (2 * sector, 0),
        (u32::MAX, 0),
    ];
    for (start, end) in wrong {
        let error = FlashStorage::new(Nor::new(), start..end, 60).unwrap_err();
        assert_eq!(error, FlashError::Range { sector_bytes: SECTOR, chip_bytes: SIZE });
    }
    assert!(FlashStorage::new(Nor::new(), sector..3 * sector, 60).is_ok());
}

#[test]
fn nothing_outside_the_range_is_touched() {
    let nor = Nor::of(vec![0xA5; SIZE]);
    let inner = SECTOR..3 * SECTOR;
    nor.0.borrow_mut().bytes[inner.clone()].fill(0xFF);
    let range = inner.start as u32..inner.end as u32;
    let (storage, cx) = (FlashStorage::new(nor.clone(), range, 60).unwrap(), OpContext::new());
    for round in 0..100 {
        run(storage.set("k", vec![round; 40].into(), &cx)).unwrap();
    }
    run(storage.erase()).unwrap();
    let image = nor.image();
    assert!(image[..inner.start].iter().chain(&image[inner.end..]).all(|byte| *byte == 0xA5));
    assert!(image[inner].iter().all(|byte| *byte == 0xFF));
    assert_eq!(run(storage.has("k", &cx)), Ok(false));
}

#[test]
fn a_full_chip_says_so_loses_nothing_and_takes_more_once_there_is_room() {
    let (nor, storage) = storage();
    let (cx, mut model) = (OpContext::new(), Model::new());
    let error = loop {
        let (key, value) = (format!("k{}", model.len()), vec![model.len() as u8; 40]);
        match run(storage.set(&key, value.clone().into(), &cx)) {
            Ok(_) => drop(model.insert(key, value.into())),
            Err(error) => break error,
        }
    };
    assert_eq!(error, StorageError::http(507));
    assert!(error.to_string().contains("full"), "{error}");
    // Three sectors of four hold data: four items of 52 bytes each.
    assert!(model.len() >= 9, "only {} values", model.len());
    assert_eq!(held(&storage), model);

    // Asking again costs nothing: every look would erase all sectors.
    let erases = nor.0.borrow().erases;
    for _ in 0..10 {
        assert_eq!(
            run(storage.set("another", vec![0; 40].into(), &cx)),
            Err(StorageError::http(507))
        );
    }
    assert_eq!(nor.0.borrow().erases, erases);

    run(storage.delete("k3", &cx)).unwrap();
    model.remove("k3");
    run(storage.set("another", vec![9; 40].into(), &cx)).unwrap();
    model.insert("another".into(), vec![9; 40].into());
    assert_eq!(held(&storage), model);
}

#[test]
fn a_chip_whose_words_take_one_write_has_everything_but_delete() {
    let storage = FlashStorage::write_once(Once::of(vec![0xFF; SIZE]), 0..SIZE as u32, 60).unwrap();
    let lacking: Vec<Operation> =
        Operation::ALL.into_iter().filter(|each| !storage.capabilities().contains(*each)).collect();
    assert_eq!(lacking, [Operation::Delete, Operation::SetIf]);
    let cx = OpContext::new();
    run(storage.set("k", "v".into(), &cx)).unwrap();
    assert_eq!(run(storage.delete("k", &cx)), Err(StorageError::unsupported()));
    assert_eq!(run(storage.get("k", &cx)).unwrap(), "v");
}

#[test]
fn a_fault_of_the_chip_is_told_and_passes_with_it() {
    let (nor, storage) = storage();
    let cx = OpContext::new();
    run(storage.set("k", "v".into(), &cx)).unwrap();
    nor.0.borrow_mut().broken = true;
    let errors = [
        run(storage.get("k", &cx)).map(drop),
        run(storage.set("k", "w".into(), &cx)).map(drop),
        run(storage.delete("k", &cx)),
        run(storage.list("", &PageRequest::default(), &cx)).map(drop),
    ];
    for result in errors {
        let error = result.unwrap_err();
        assert_eq!(source(&error), Some(FlashError::Chip(NorFlashErrorKind::Other)));
        assert_eq!(classify(&error), ErrorClass::Transient);
    }
    nor.0.borrow_mut().broken = false;
    assert_eq!(run(storage.get("k", &cx)).unwrap(), "v");
}

/// The map's iteration skips a sector whose state it cannot read.
#[test]
fn a_listing_that_would_lack_keys_is_an_error() {
    let (nor, storage) = storage();
    let cx = OpContext::new();
    for key in 0..12 {
        run(storage.set(&format!("{key}"), vec![0; 30].into(), &cx)).unwrap();
    }
    let page = || run(storage.list("", &PageRequest::default(), &cx));
    assert_eq!(page().unwrap().entries.len(), 12);
    for from in (0..SIZE).step_by(SECTOR) {
        nor.0.borrow_mut().unreadable_from = Some(from);
        let error = page().unwrap_err();
        assert_eq!(source(&error), Some(FlashError::Chip(NorFlashErrorKind::Other)), "{from}");
    }
    nor.0.borrow_mut().unreadable_from = None;
    assert_eq!(page().unwrap().entries.len(), 12);
}

#[test]
fn a_limit_that_was_lowered_is_told_and_hurts_nothing() {
    let (nor, storage) = storage();
    let cx = OpContext::new();
    run(storage.set("k", vec![1; 60].into(), &cx)).unwrap();
    let range = 0..SIZE as u32;
    let small = FlashStorage::new(nor.clone(), range.clone(), 0).unwrap();
    // The buffer has room for the longest key, so only a long item is too much for it.
    run(storage.set(&"x".repeat(64), vec![1; 60].into(), &cx)).unwrap();
    let error = run(small.get("k", &cx)).unwrap_err();
    assert_eq!(source(&error), Some(FlashError::LimitLowered));
    let again = FlashStorage::new(nor, range, 60).unwrap();
    assert_eq!(run(again.get("k", &cx)).unwrap(), vec![1; 60]);
}

#[test]
fn a_chip_full_of_noise_is_told_or_made_a_storage_and_erasing_it_makes_one() {
    for fill in [0x00, 0x5A, 0xF0] {
        let nor = Nor::of(vec![fill; SIZE]);
        let storage = FlashStorage::new(nor, 0..SIZE as u32, 60).unwrap();
        let cx = OpContext::new();
        if let Err(error) = run(storage.set("k", "v".into(), &cx)) {
            assert_eq!(source(&error), Some(FlashError::Corrupted), "{fill}");
        }
        run(storage.erase()).unwrap();
        run(storage.set("k", "v".into(), &cx)).unwrap();
        assert_eq!(run(storage.get("k", &cx)).unwrap(), "v");
    }
}

#[test]
fn a_chip_that_holds_a_storage_still_does_after_a_restart() {
    let (nor, storage) = storage();
    let cx = OpContext::new();
    run(storage.set("k", "v".into(), &cx)).unwrap();
    drop(storage);
    let again = FlashStorage::new(nor, 0..SIZE as u32, 60).unwrap();
    assert_eq!(run(again.get("k", &cx)).unwrap(), "v");
}
