//! The driver of a NOR chip, which erases whole sectors and otherwise only clears bits.
//!
//! The chip is simulated in RAM, so it forgets with the power. A real device has a driver of its
//! own in this place, and the storage on it is the same.

use alloc::rc::Rc;
use alloc::vec;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};
use core::ops::Range;

use embassy_time::Timer;
use embedded_storage_async::nor_flash::{
    ErrorType, MultiwriteNorFlash, NorFlash, NorFlashErrorKind, ReadNorFlash,
};
use storage_mux::backend::{FlashError, FlashStorage};

/// How long a write and an erasure take, in milliseconds.
const WRITE_MILLIS: u64 = 1;
const ERASE_MILLIS: u64 = 3;

/// A handle on a chip with sectors of `SECTOR` bytes. Clones are wired to the same cells.
#[derive(Clone)]
pub struct Chip<const SECTOR: usize>(Rc<Cells>);

struct Cells {
    /// Erased ones read as ones.
    bytes: RefCell<Vec<u8>>,
    erases: Cell<u32>,
    broken: Cell<bool>,
}

impl<const SECTOR: usize> Chip<SECTOR> {
    /// An erased chip.
    pub fn new(sectors: usize) -> Self {
        let bytes = RefCell::new(vec![0xFF; sectors * SECTOR]);
        Self(Rc::new(Cells { bytes, erases: Cell::new(0), broken: Cell::new(false) }))
    }

    /// The whole chip as a storage for values of up to `max_value_bytes` bytes. It finds what was
    /// stored there before.
    ///
    /// # Errors
    ///
    /// [`FlashError`], where that cannot be.
    pub fn storage(&self, max_value_bytes: usize) -> Result<FlashStorage<Self>, FlashError> {
        FlashStorage::new(self.clone(), 0..self.capacity() as u32, max_value_bytes)
    }

    /// From now on the chip answers nothing but errors, or works again.
    pub fn set_broken(&self, broken: bool) {
        self.0.broken.set(broken);
    }

    /// How many sectors were erased so far.
    pub fn erases(&self) -> u32 {
        self.0.erases.get()
    }

    /// The cells that an operation is about, where the chip answers and they make whole `units`.
    fn cells(&self, from: u32, len: usize, unit: usize) -> Result<Range<usize>, NorFlashErrorKind> {
        let from = from as usize;
        if self.0.broken.get() {
            Err(NorFlashErrorKind::Other)
        } else if !from.is_multiple_of(unit) || !len.is_multiple_of(unit) {
            Err(NorFlashErrorKind::NotAligned)
        } else if len > self.capacity().saturating_sub(from) {
            Err(NorFlashErrorKind::OutOfBounds)
        } else {
            Ok(from..from + len)
        }
    }
}

impl<const SECTOR: usize> ErrorType for Chip<SECTOR> {
    type Error = NorFlashErrorKind;
}

impl<const SECTOR: usize> ReadNorFlash for Chip<SECTOR> {
    const READ_SIZE: usize = 1;

    async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        let cells = self.cells(offset, bytes.len(), Self::READ_SIZE)?;
        bytes.copy_from_slice(&self.0.bytes.borrow()[cells]);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.0.bytes.borrow().len()
    }
}

impl<const SECTOR: usize> NorFlash for Chip<SECTOR> {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = SECTOR;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        let cells = self.cells(from, to.saturating_sub(from) as usize, SECTOR)?;
        Timer::after_millis(ERASE_MILLIS).await;
        self.0.bytes.borrow_mut()[cells].fill(0xFF);
        self.0.erases.set(self.0.erases.get() + 1);
        Ok(())
    }

    async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        let cells = self.cells(offset, bytes.len(), Self::WRITE_SIZE)?;
        Timer::after_millis(WRITE_MILLIS).await;
        let mut all = self.0.bytes.borrow_mut();
        all[cells].iter_mut().zip(bytes).for_each(|(cell, byte)| *cell &= byte);
        Ok(())
    }
}

impl<const SECTOR: usize> MultiwriteNorFlash for Chip<SECTOR> {}
