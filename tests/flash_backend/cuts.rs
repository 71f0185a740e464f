//! Power cuts: at every write and erase of a script, and again during the repair.

use embedded_storage_async::nor_flash::NorFlash;
use storage_mux::backend::FlashStorage;

use crate::chip::{Nor, Once, SIZE, Step};
use crate::script::{MAX_VALUE, Model, Op, old_or_new, run, script};

/// How far a change may have come: not begun, a byte, half, all but a byte, all but acknowledged.
/// Where a word goes whole or not at all only words count.
fn torn(step: &Step, whole_words: bool) -> Vec<(usize, Vec<u8>)> {
    let len = step.change.len();
    let mut lens = vec![0, 1, 4, len / 2, len - 1, len];
    lens.retain(|done| *done <= len && !(whole_words && done % 4 != 0));
    lens.sort_unstable();
    lens.dedup();
    let image = |done: usize| {
        let mut cells = step.before.clone();
        step.change.apply(&mut cells, done);
        (done, cells)
    };
    lens.into_iter().map(image).collect()
}

/// An operation with what was held before and after it, and the changes that it made to the chip.
struct Traced {
    op: Op,
    old: Model,
    new: Model,
    steps: Vec<Step>,
}

fn traced<F: NorFlash + 'static>(
    nor: &Nor,
    storage: &FlashStorage<F>,
    ops: Vec<Op>,
    mut old: Model,
) -> Vec<Traced> {
    ops.into_iter()
        .map(|op| {
            nor.0.borrow_mut().steps = Some(Vec::new());
            run(op.run(storage)).expect("room for everything");
            let steps = nor.0.borrow_mut().steps.take().unwrap();
            let mut new = old.clone();
            op.apply(&mut new);
            Traced { op, old: std::mem::replace(&mut old, new.clone()), new, steps }
        })
        .collect()
}

#[derive(Clone, Copy)]
struct Settings {
    /// Cuts the repair after some of the cuts as well.
    again: bool,
    whole_words: bool,
}

/// Cuts everywhere, looks at what is there, and goes on with a write.
fn survives<F: NorFlash + 'static>(
    trace: &[Traced],
    restart: fn(Vec<u8>) -> (Nor, FlashStorage<F>),
    settings: Settings,
) -> usize {
    let mut cuts = 0;
    for (number, each) in trace.iter().enumerate() {
        for (at, step) in each.steps.iter().enumerate() {
            for (done, image) in torn(step, settings.whole_words) {
                cuts += 1;
                let when = || format!("op {number} {:?}, step {at}, {done} bytes", each.op);
                let (_, storage) = restart(image.clone());
                old_or_new(&storage, &each.old, &each.new, &when);
                // Without a look first: the write itself meets what was left half-done.
                let (nor, storage) = restart(image);
                let found = old_or_new(&restart(nor.image()).1, &each.old, &each.new, &when);
                let next = vec![Op::Set(each.op.key().into(), "after the cut".into())];
                let repair = traced(&nor, &storage, next, found);
                let (_, storage) = restart(nor.image());
                old_or_new(&storage, &repair[0].new, &repair[0].new, &when);
                if settings.again && cuts % 97 == 0 {
                    survives(&repair, restart, Settings { again: false, ..settings });
                }
            }
        }
    }
    cuts
}

fn multiwrite(image: Vec<u8>) -> (Nor, FlashStorage<Nor>) {
    let nor = Nor::of(image);
    (nor.clone(), FlashStorage::new(nor, 0..SIZE as u32, MAX_VALUE).unwrap())
}

fn once(image: Vec<u8>) -> (Nor, FlashStorage<Once>) {
    let chip = Once::of(image);
    (chip.0.clone(), FlashStorage::write_once(chip, 0..SIZE as u32, MAX_VALUE).unwrap())
}

/// Spec: P-7
#[test]
fn a_power_cut_anywhere_loses_nothing_acknowledged_and_leaves_the_rest_old_or_new() {
    let (nor, storage) = multiwrite(vec![0xFF; SIZE]);
    let trace = traced(&nor, &storage, script(7, 200, true), Model::new());
    assert!(nor.0.borrow().erases > 20, "the sectors must go round");
    let cuts = survives(&trace, multiwrite, Settings { again: true, whole_words: false });
    assert!(cuts > 2_000, "only {cuts} cuts");
}

/// A chip with error correction writes a word whole or not at all.
///
/// Spec: P-7
#[test]
fn so_it_is_where_a_word_can_be_written_once() {
    let (nor, storage) = once(vec![0xFF; SIZE]);
    let trace = traced(&nor, &storage, script(8, 200, false), Model::new());
    assert!(nor.0.borrow().erases > 20, "the sectors must go round");
    assert!(survives(&trace, once, Settings { again: true, whole_words: true }) > 1_000);
}
