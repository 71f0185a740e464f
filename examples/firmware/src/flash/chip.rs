//! The chip: what erasing and writing do to its cells.

use storage_mux::StorageError;

/// What can be erased at once, in bytes.
pub(super) const SECTOR: usize = 512;

/// The size of the chip, in bytes.
pub(super) const SIZE: usize = 8 * SECTOR;

/// The cells. Erased ones read as ones.
pub(super) struct Chip {
    cells: [u8; SIZE],
    pub(super) erases: u32,
}

impl Default for Chip {
    fn default() -> Self {
        Self { cells: [0xFF; SIZE], erases: 0 }
    }
}

impl Chip {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.cells
    }

    /// Sets all bits of the sector that `at` lies in.
    pub(super) fn erase(&mut self, at: usize) {
        let start = at - at % SECTOR;
        if let Some(sector) = self.cells.get_mut(start..start + SECTOR) {
            sector.fill(0xFF);
            self.erases += 1;
        }
    }

    /// Clears bits. A write that would set one is refused whole: its sector was not erased.
    pub(super) fn write(&mut self, at: usize, bytes: &[u8]) -> Result<(), StorageError> {
        let cells = self.cells.get_mut(at..at + bytes.len());
        let cells = cells.ok_or_else(|| StorageError::other("a write past the end of the chip"))?;
        if cells.iter().zip(bytes).any(|(cell, byte)| cell & byte != *byte) {
            return Err(StorageError::other("a write to cells that were not erased"));
        }
        cells.iter_mut().zip(bytes).for_each(|(cell, byte)| *cell &= byte);
        Ok(())
    }
}
