//! A key as it lies on the chip: its length in one byte, then its bytes.

use heapless::Vec;
use sequential_storage::map::{Key, SerializationError};

/// The longest key. A look-up holds keys of this size on the stack.
pub(super) const MAX_BYTES: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name(Vec<u8, MAX_BYTES>);

impl Name {
    /// `None` where the key is too long.
    pub(super) fn new(key: &str) -> Option<Self> {
        Vec::from_slice(key.as_bytes()).ok().map(Self)
    }

    /// What no key is.
    pub(super) const fn none() -> Self {
        Self(Vec::new())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The key; `None` where what lies on the chip is none.
    pub(super) fn as_str(&self) -> Option<&str> {
        core::str::from_utf8(&self.0).ok()
    }
}

impl Key for Name {
    fn serialize_into(&self, buffer: &mut [u8]) -> Result<usize, SerializationError> {
        let len = self.0.len() + 1;
        let place = buffer.get_mut(..len).ok_or(SerializationError::BufferTooSmall)?;
        let (first, rest) = place.split_first_mut().ok_or(SerializationError::BufferTooSmall)?;
        *first = u8::try_from(self.0.len()).map_err(|_| SerializationError::InvalidData)?;
        rest.copy_from_slice(&self.0);
        Ok(len)
    }

    fn deserialize_from(buffer: &[u8]) -> Result<(Self, usize), SerializationError> {
        let (len, rest) = buffer.split_first().ok_or(SerializationError::BufferTooSmall)?;
        let len = usize::from(*len);
        let bytes = rest.get(..len).ok_or(SerializationError::BufferTooSmall)?;
        let name = Vec::from_slice(bytes).map_err(|_| SerializationError::InvalidFormat)?;
        Ok((Self(name), len + 1))
    }
}
