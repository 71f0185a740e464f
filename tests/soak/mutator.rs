//! Whoever changes the membership of one mux, without rest.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use storage_mux::{Backend, MuxCode, Rng, SeededRng};

use crate::weather::Weather;
use crate::{Mux, STUCK};

pub(crate) async fn run(mux: Mux, seed: u64, over: Arc<AtomicBool>) {
    let chance = SeededRng::new(!seed);
    while !over.load(Ordering::SeqCst) {
        let draw = chance.next_u64();
        // The first two stay, so that a shield always has its origin and a mirror.
        let name = ["c", "d", "e", "f"][(draw >> 8) as usize % 4];
        match draw % 4 {
            0 => {
                let guest = Backend::new(name, Weather::new(draw)).with_weight(0.5);
                check(mux.add_backend(guest).err().map(|error| error.code()));
            }
            1 => check(mux.set_weight(name, 0.25).err().map(|error| error.code())),
            2 => {
                let drained = tokio::time::timeout(STUCK, mux.drain(name)).await;
                check(drained.expect("a drain ends").err().map(|error| error.code()));
                let removed = tokio::time::timeout(STUCK, mux.remove_backend(name)).await;
                check(removed.expect("a removal ends").err().map(|error| error.code()));
            }
            _ => {
                // Whoever gives a drain up has begun it all the same.
                let short = Duration::from_millis(1);
                let _ = tokio::time::timeout(short, mux.remove_backend(name)).await;
            }
        }
        tokio::time::sleep(Duration::from_millis(1 + (draw >> 32) % 4)).await;
    }
}

/// What a change may come back with while others change too.
fn check(code: Option<MuxCode>) {
    let legal = [MuxCode::BackendNotFound, MuxCode::BackendNameConflict, MuxCode::BackendDraining];
    assert!(code.is_none_or(|code| legal.contains(&code)), "{code:?}");
}
