//! The public suite on the chip.

use storage_mux::backend::FlashStorage;
use storage_mux::conformance::Suite;

use crate::chip::{Nor, Once, SIZE};
use crate::script::run;

/// The rules that ask for `set_if`.
const CONDITIONAL: [&str; 6] = [
    "if-absent",
    "if-version",
    "if-stale",
    "if-version-missing",
    "version-changes",
    "version-agrees",
];

/// Spec: CF-1, P-7
#[test]
fn the_chip_passes_all_that_it_declares() {
    const SECTOR: usize = 4_096;
    let nor = Nor::<SECTOR>::sized(vec![0xFF; 6 * SECTOR]);
    let most = FlashStorage::<Nor<SECTOR>>::MOST_VALUE_BYTES;
    let storage = FlashStorage::new(nor, 0..6 * SECTOR as u32, most).unwrap();
    let suite = Suite::new().with_prefix("c/").with_large_value(most);
    let report = run(suite.run(&storage)).unwrap_or_else(|failures| panic!("{failures}"));
    let skipped: Vec<&str> = report.skipped().iter().map(|rule| rule.id()).collect();
    assert_eq!(skipped, CONDITIONAL);
    assert!(report.excepted().is_empty());
}

/// Spec: CF-1, P-7
#[test]
fn so_does_one_whose_words_take_one_write() {
    let chip = Once::of(vec![0xFF; SIZE]);
    let storage = FlashStorage::write_once(chip, 0..SIZE as u32, 60).unwrap();
    run(Suite::new().with_prefix("c/").run(&storage)).unwrap_or_else(|error| panic!("{error}"));
}
