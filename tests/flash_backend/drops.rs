//! Futures that are dropped in the middle of what they do.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

use storage_mux::backend::FlashStorage;

use crate::chip::{Nor, SIZE};
use crate::script::{MAX_VALUE, Model, Op, held, old_or_new, run, script};

/// Polls so often and no more. Whether the end was reached.
fn poll<F: Future>(future: F, times: usize) -> bool {
    let mut future = pin!(future);
    let mut cx = Context::from_waker(Waker::noop());
    (0..times).any(|_| future.as_mut().poll(&mut cx).is_ready())
}

fn storage_on(image: &[u8]) -> (Nor, FlashStorage<Nor>) {
    let nor = Nor::of(image.into());
    (nor.clone(), FlashStorage::new(nor, 0..SIZE as u32, MAX_VALUE).unwrap())
}

/// Drops each operation at each of its awaits, and goes on with the same storage.
fn survives(ops: Vec<Op>, set_slow: impl Fn(&Nor)) -> usize {
    let (nor, storage) = storage_on(&[0xFF; SIZE]);
    let (mut old, mut drops) = (Model::new(), 0);
    for (number, op) in ops.into_iter().enumerate() {
        let image = nor.image();
        let mut new = old.clone();
        op.apply(&mut new);
        for polls in 1.. {
            let (nor, storage) = storage_on(&image);
            set_slow(&nor);
            let ended = poll(op.run(&storage), polls);
            let when = || format!("op {number} {op:?}, dropped after {polls} polls");
            if ended {
                break;
            }
            drops += 1;
            old_or_new(&storage, &old, &new, &when);
            // And where the next operation is a write, before anybody looked.
            let (nor, storage) = storage_on(&image);
            set_slow(&nor);
            poll(op.run(&storage), polls);
            let mut after = held(&storage_on(&nor.image()).1);
            assert!(after == old || after == new, "{}", when());
            let next = Op::Set(op.key().into(), "after the drop".into());
            run(next.run(&storage)).expect("room for everything");
            next.apply(&mut after);
            old_or_new(&storage, &after, &after, &when);
        }
        run(op.run(&storage)).expect("room for everything");
        old = new;
    }
    drops
}

/// Spec: AB-5, P-7
#[test]
fn a_future_dropped_in_any_write_or_erase_leaves_all_values_readable_and_its_own_old_or_new() {
    assert!(survives(script(9, 200, true), |nor| nor.0.borrow_mut().slow = true) > 1_000);
}

/// Spec: AB-5
#[test]
fn a_future_dropped_in_any_read_leaves_all_values_readable() {
    let slow = |nor: &Nor| {
        nor.0.borrow_mut().slow = true;
        nor.0.borrow_mut().slow_reads = true;
    };
    assert!(survives(script(10, 40, true), slow) > 500);
}
