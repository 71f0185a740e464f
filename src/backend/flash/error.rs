//! What can go wrong with a chip.

use alloc::format;

use embedded_storage_async::nor_flash::{NorFlashError, NorFlashErrorKind};
use sequential_storage::Error;
use thiserror::Error as ThisError;

use crate::error::StorageError;

/// Why a chip cannot be a storage, or what it reported. The source of the error of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ThisError)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum FlashError {
    /// The range does not lie on the chip, does not begin and end with sectors, or has fewer than
    /// two of them.
    #[error(
        "the range is no storage; give it two sectors of {sector_bytes} bytes or more, all of them \
         whole, on a chip of {chip_bytes}"
    )]
    Range {
        /// The size of a sector.
        sector_bytes: usize,
        /// The size of the chip.
        chip_bytes: usize,
    },
    /// A value so long does not fit into a sector.
    #[error("values so long do not fit into a sector; allow at most {most_bytes} bytes")]
    ValueLimit {
        /// The longest value that does.
        most_bytes: usize,
    },
    /// The chip failed.
    #[error("the flash chip failed ({0}); see that it is connected and its driver in order")]
    Chip(#[cfg_attr(feature = "defmt", defmt(Debug2Format))] NorFlashErrorKind),
    /// A value on the chip is longer than the limit that the storage was made with.
    #[error("the chip holds a value longer than the limit; make the storage with a higher one")]
    LimitLowered,
    /// What lies on the chip is no storage, and could not be made one.
    #[error("the flash chip holds no readable storage; erase it to begin anew")]
    Corrupted,
}

/// What an error of the map means for a caller.
pub(super) fn explained<E: NorFlashError>(error: Error<E>) -> StorageError {
    let source = match error {
        Error::FullStorage => return full(),
        Error::Storage { value, .. } => FlashError::Chip(value.kind()),
        Error::BufferTooSmall(_) => FlashError::LimitLowered,
        _ => FlashError::Corrupted,
    };
    StorageError::other(source)
}

pub(super) fn full() -> StorageError {
    StorageError::http(507).with_detail("the flash chip is full: delete keys or give it more room")
}

pub(super) fn too_long(max_value_bytes: usize) -> StorageError {
    let detail = format!("the flash chip takes values of up to {max_value_bytes} bytes");
    StorageError::http(413).with_detail(detail)
}
