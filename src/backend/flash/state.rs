//! The map on the chip, and the memory to read and write it with.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::future::Future;
use core::ops::Range;
use core::pin::Pin;

use bytes::Bytes;
use embedded_storage_async::nor_flash::{ErrorType, MultiwriteNorFlash, NorFlash};
use sequential_storage::Error;
use sequential_storage::cache::{Cache, Uncached};
use sequential_storage::map::{MapConfig, MapStorage};

use super::chip::Chip;
use super::error::{FlashError, explained, full};
use super::name::{MAX_BYTES, Name};
use crate::error::StorageError;
use crate::port::{Entry, Metadata, Page, PageRequest};

type Map<F> = MapStorage<Name, Chip<F>, Cache<Uncached, Uncached, Uncached, Name>>;

type Removal<'a, F> =
    Pin<Box<dyn Future<Output = Result<(), Error<<F as ErrorType>::Error>>> + 'a>>;

type Remove<F> = for<'a> fn(&'a mut Map<F>, &'a mut [u8], &'a Name) -> Removal<'a, F>;

/// What some chips ask of the address of a buffer.
const ALIGNMENT: usize = 4;

pub(super) struct State<F: NorFlash> {
    map: Map<F>,
    buffer: Vec<u8>,
    remove: Option<Remove<F>>,
    /// The size of key and value that there was no room for, while nothing was written since.
    no_room_for: Option<usize>,
}

/// The size of a word: what the map rounds sizes to.
const fn word_bytes<F: NorFlash>() -> usize {
    if F::WRITE_SIZE > F::READ_SIZE { F::WRITE_SIZE } else { F::READ_SIZE }
}

/// A sector holds two words for its state, and an item eight bytes for its lengths and checksums.
pub(super) const fn most_value_bytes<F: NorFlash>() -> usize {
    let word = word_bytes::<F>();
    let item = F::ERASE_SIZE.saturating_sub(2 * word + 8_usize.next_multiple_of(word));
    let item = if item > u16::MAX as usize { u16::MAX as usize } else { item };
    (item / word * word).saturating_sub(1 + MAX_BYTES)
}

impl<F: NorFlash> State<F> {
    pub(super) fn new(
        chip: F,
        range: Range<u32>,
        max_value_bytes: usize,
    ) -> Result<Self, FlashError> {
        let (sector_bytes, chip_bytes) = (F::ERASE_SIZE, chip.capacity());
        let wrong = FlashError::Range { sector_bytes, chip_bytes };
        let end = usize::try_from(range.end).unwrap_or(usize::MAX);
        if range.start > range.end || end > chip_bytes {
            return Err(wrong);
        }
        let most_bytes = most_value_bytes::<F>();
        if max_value_bytes > most_bytes {
            return Err(FlashError::ValueLimit { most_bytes });
        }
        let config = MapConfig::try_new(range).map_err(|_| wrong)?;
        let item_bytes = (1 + MAX_BYTES + max_value_bytes).next_multiple_of(word_bytes::<F>());
        Ok(Self {
            map: MapStorage::new(Chip::new(chip), config, Cache::new_uncached()),
            buffer: vec![0; item_bytes + ALIGNMENT],
            remove: None,
            no_room_for: None,
        })
    }

    /// The same with the means to remove items.
    pub(super) fn removing(mut self) -> Self
    where
        F: MultiwriteNorFlash,
    {
        self.remove = Some(|map, buffer, name| Box::pin(map.remove_item(buffer, name)));
        self
    }

    pub(super) const fn removes(&self) -> bool {
        self.remove.is_some()
    }

    /// The value of a key, where it has one.
    pub(super) async fn fetch(&mut self, name: &Name) -> Result<Option<Bytes>, StorageError> {
        self.size_and(name, Bytes::copy_from_slice).await
    }

    /// The size of the value of a key, where it has one.
    pub(super) async fn size(&mut self, name: &Name) -> Result<Option<usize>, StorageError> {
        self.size_and(name, <[u8]>::len).await
    }

    async fn size_and<T>(
        &mut self,
        name: &Name,
        then: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, StorageError> {
        let buffer = aligned(&mut self.buffer);
        let value = self.map.fetch_item::<&[u8]>(buffer, name).await;
        Ok(value.map_err(explained)?.map(then))
    }

    pub(super) async fn store(&mut self, name: &Name, value: &[u8]) -> Result<(), StorageError> {
        let size = name.len() + value.len();
        if self.no_room_for.is_some_and(|least| size >= least) {
            return Err(full());
        }
        self.no_room_for = None;
        let stored = self.map.store_item(aligned(&mut self.buffer), name, &value).await;
        if matches!(stored, Err(Error::FullStorage)) {
            self.no_room_for = Some(size);
        }
        stored.map_err(explained)
    }

    pub(super) async fn remove(&mut self, name: &Name) -> Result<(), StorageError> {
        let Some(remove) = self.remove else { return Err(StorageError::unsupported()) };
        self.no_room_for = None;
        remove(&mut self.map, aligned(&mut self.buffer), name).await.map_err(explained)
    }

    pub(super) async fn erase(&mut self) -> Result<(), StorageError> {
        self.no_room_for = None;
        self.map.erase_all().await.map_err(explained)
    }

    /// Reads the whole log, of which the latest item of a key counts, and keeps no more than the
    /// page: of the keys that come after it, whether there are any.
    pub(super) async fn page(
        &mut self,
        prefix: &str,
        request: &PageRequest,
    ) -> Result<Page, StorageError> {
        let (limit, after) = (request.limit.max(1), request.after.as_deref());
        let mut sizes: BTreeMap<String, u64> = BTreeMap::new();
        let mut more = false;
        let buffer = aligned(&mut self.buffer);
        // The map does not repair what a listing comes across, but what a look-up does.
        if let Err(Error::Corrupted { .. }) = self.map.fetch_all_items(buffer).await.map(drop) {
            self.map.fetch_item::<&[u8]>(buffer, &Name::none()).await.map_err(explained)?;
        }
        let _ = self.map.flash().take_fault();
        let mut items = self.map.fetch_all_items(buffer).await.map_err(explained)?;
        while let Some((name, value)) = items.next::<&[u8]>(buffer).await.map_err(explained)? {
            let Some(key) = name.as_str().filter(|key| key.starts_with(prefix)) else { continue };
            if after.is_some_and(|after| key <= after) {
                continue;
            }
            if let Some(size) = sizes.get_mut(key) {
                *size = value.len() as u64;
                continue;
            }
            sizes.insert(key.into(), value.len() as u64);
            if sizes.len() > limit {
                // A key that goes never comes back: those that stay are all smaller.
                sizes.pop_last();
                more = true;
            }
        }
        if let Some(fault) = self.map.flash().take_fault() {
            return Err(StorageError::other(FlashError::Chip(fault)));
        }
        let next = sizes.last_key_value().filter(|_| more).map(|(key, _)| key.clone());
        let entries = sizes.into_iter().map(|(key, size)| Entry::new(key, Metadata::new(size)));
        Ok(Page::new(entries.collect(), next))
    }
}

/// The buffer from an address on that every chip takes.
fn aligned(buffer: &mut [u8]) -> &mut [u8] {
    let skipped = buffer.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
    buffer.get_mut(skipped..).unwrap_or_default()
}
