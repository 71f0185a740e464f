//! The chip, with a memory of its last fault.
//!
//! The map's listing goes on past a sector whose state cannot be read. A listing that lacks keys
//! is worse than none, so the fault is remembered here.

use embedded_storage_async::nor_flash::{
    ErrorType, MultiwriteNorFlash, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash,
};

pub(super) struct Chip<F> {
    chip: F,
    fault: Option<NorFlashErrorKind>,
}

impl<F> Chip<F> {
    pub(super) const fn new(chip: F) -> Self {
        Self { chip, fault: None }
    }

    /// What failed since this was asked last.
    pub(super) const fn take_fault(&mut self) -> Option<NorFlashErrorKind> {
        self.fault.take()
    }

    fn noted<T, E: NorFlashError>(&mut self, result: Result<T, E>) -> Result<T, E> {
        if let Err(error) = &result {
            self.fault = Some(error.kind());
        }
        result
    }
}

impl<F: ErrorType> ErrorType for Chip<F> {
    type Error = F::Error;
}

impl<F: ReadNorFlash> ReadNorFlash for Chip<F> {
    const READ_SIZE: usize = F::READ_SIZE;

    async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), F::Error> {
        let result = self.chip.read(offset, bytes).await;
        self.noted(result)
    }

    fn capacity(&self) -> usize {
        self.chip.capacity()
    }
}

impl<F: NorFlash> NorFlash for Chip<F> {
    const WRITE_SIZE: usize = F::WRITE_SIZE;
    const ERASE_SIZE: usize = F::ERASE_SIZE;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), F::Error> {
        let result = self.chip.erase(from, to).await;
        self.noted(result)
    }

    async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), F::Error> {
        let result = self.chip.write(offset, bytes).await;
        self.noted(result)
    }
}

impl<F: MultiwriteNorFlash> MultiwriteNorFlash for Chip<F> {}
