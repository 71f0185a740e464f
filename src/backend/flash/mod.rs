//! A NOR flash chip as a backend: values in a log that power cuts and dropped futures cannot hurt.
//!
//! # What keeps the log
//!
//! The map of the crate `sequential-storage`. It builds for every bare-metal target, brings no more
//! than the traits of `embedded-storage`, is fuzzed and released regularly, repairs by itself what a
//! power cut or a dropped future left half-done, gives back its items for a listing, and lets one
//! sector take many writes. The other candidate, `ekv`, is faster with thousands of keys, but each
//! of its writes opens a file and so erases a sector at least, its sizes are features of the crate
//! and so of the whole program, and it has flash traits of its own.
//!
//! An item of that map lies in one sector, which bounds a value; and a look-up reads the log from
//! its end back until it meets the key. Nothing is cached: what is not in RAM cannot be stale.
//!
//! - `storage`: the operations. `state`: the map, and the memory to read and write it with.
//! - `turns`: one operation at a time. `name`: a key as it lies on the chip. `chip`: remembers
//!   faults. `error`: what can go wrong. `streams`: values chunk by chunk.

mod chip;
mod error;
mod name;
mod state;
mod storage;
mod streams;
mod turns;

use alloc::rc::Rc;
use core::fmt;
use core::ops::Range;

use embedded_storage_async::nor_flash::{MultiwriteNorFlash, NorFlash};

use self::state::State;
use self::turns::Turns;
use crate::error::StorageError;

pub use self::error::FlashError;
pub use self::streams::{FlashReader, FlashWriter};

/// A part of a NOR flash chip as a storage. Clones share the chip; it lives on one thread.
///
/// Keys have up to [`MAX_KEY_BYTES`](Self::MAX_KEY_BYTES) bytes, values as many as it was told
/// when it was made; a longer value is HTTP 413. Every operation is there but `set_if`, as the chip
/// keeps no versions. `set_partial` writes the whole value anew. Listings read the whole log once a
/// page, and hold one page of keys in memory.
///
/// Where the chip is full the answer is HTTP 507, and nothing is lost: the old value stays, other
/// values can be read, deleted and made smaller. Until one of that succeeds a value of the same
/// size or more is refused without another look, since the look erases every sector.
///
/// # Power cuts and dropped futures
///
/// A write that was not acknowledged has happened or has not, never by half, and every other value
/// is as it was. What was left half-done is repaired by the next operation that comes across it.
/// Operations take turns, in the order of their first poll; dropped while it waits an operation
/// leaves nothing behind.
///
/// # How long a write takes
///
/// Now and then a write moves what is alive of a whole sector and erases it. For each item of the
/// sector the move may read the whole log, so its time grows with the size of a sector times that
/// of the range. A write that is dropped in there begins the move anew with the next one: the
/// timeout of a mux must be longer than a move, or no write would ever end.
///
/// # Errors
///
/// What the chip reports comes as `STORAGE.OTHER` with a [`FlashError`] as its source.
pub struct FlashStorage<F: NorFlash> {
    shared: Rc<Shared<F>>,
}

struct Shared<F: NorFlash> {
    turns: Turns<State<F>>,
    max_value_bytes: usize,
    deletes: bool,
}

impl<F: NorFlash> FlashStorage<F> {
    /// The longest key, in bytes.
    pub const MAX_KEY_BYTES: usize = name::MAX_BYTES;

    /// The longest value that a sector of this chip has room for, in bytes, beside a key of any
    /// length.
    pub const MOST_VALUE_BYTES: usize = state::most_value_bytes::<F>();

    /// A storage in the bytes `range` of a chip, which must be erased or hold such a storage. They
    /// begin and end with sectors, of which there are two at least; one is always kept free.
    ///
    /// It takes a little more than `max_value_bytes` of memory for good. Never make that smaller
    /// for a chip in use: a longer value on it would make the whole storage unreadable until it is
    /// large enough again.
    ///
    /// # Errors
    ///
    /// [`FlashError::Range`] and [`FlashError::ValueLimit`].
    pub fn new(chip: F, range: Range<u32>, max_value_bytes: usize) -> Result<Self, FlashError>
    where
        F: MultiwriteNorFlash,
    {
        Self::with(State::new(chip, range, max_value_bytes)?.removing(), max_value_bytes)
    }

    /// The same on a chip whose words can be written only once between two erasures, as those with
    /// error correction are. It does not `delete`, since that marks what was written. A word there
    /// goes whole or not at all, or a power cut could leave one that reads as erased and is not.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn write_once(
        chip: F,
        range: Range<u32>,
        max_value_bytes: usize,
    ) -> Result<Self, FlashError> {
        Self::with(State::new(chip, range, max_value_bytes)?, max_value_bytes)
    }

    fn with(state: State<F>, max_value_bytes: usize) -> Result<Self, FlashError> {
        let deletes = state.removes();
        let shared = Shared { turns: Turns::new(state), max_value_bytes, deletes };
        Ok(Self { shared: Rc::new(shared) })
    }

    /// Erases the whole range, whatever it holds. The way out where it holds what is no storage.
    /// Dropped in the middle it leaves some values and not others: erase again.
    ///
    /// # Errors
    ///
    /// What the chip reports.
    pub async fn erase(&self) -> Result<(), StorageError> {
        self.shared.turns.take().await.erase().await
    }
}

impl<F: NorFlash> Clone for FlashStorage<F> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<F: NorFlash> fmt::Debug for FlashStorage<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlashStorage")
            .field("max_value_bytes", &self.shared.max_value_bytes)
            .field("deletes", &self.shared.deletes)
            .finish_non_exhaustive()
    }
}
