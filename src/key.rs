//! Keys: UTF-8 text, never normalised, and the rules that make one illegal everywhere.

use crate::error::StorageError;

/// Checks a key against the rules that every backend shares.
///
/// A backend calls this first in each keyed operation, with its own limit. The check touches
/// nothing and allocates nothing for a legal key.
///
/// # Errors
///
/// `STORAGE.INVALID_KEY` for an empty key, a key with a NUL, and a key of more than `max_bytes`
/// bytes.
///
/// ```
/// use storage_mux::validate_key;
///
/// assert!(validate_key("a/b", 3).is_ok());
/// assert!(validate_key("a/bc", 3).is_err());
/// assert!(validate_key("", 3).is_err());
/// assert!(validate_key("a\0", 3).is_err());
/// ```
#[inline]
pub fn validate_key(key: &str, max_bytes: usize) -> Result<(), StorageError> {
    if key.is_empty() {
        return Err(StorageError::invalid_key("the key is empty"));
    }
    if key.len() > max_bytes {
        return Err(StorageError::invalid_key("the key is longer than the backend takes"));
    }
    if has_nul(key.as_bytes()) {
        return Err(StorageError::invalid_key("the key holds a NUL"));
    }
    Ok(())
}

/// Whether one of the bytes is zero, eight at a look: a call over memory is so short that a look at
/// each byte would show. What is made of a word is zero if and only if none of its bytes is.
///
/// Source: S. E. Anderson, "Bit twiddling hacks", *Determine if a word has a zero byte*.
fn has_nul(bytes: &[u8]) -> bool {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = LOW << 7;
    let in_word = |word: &[u8; 8]| {
        let word = u64::from_ne_bytes(*word);
        word.wrapping_sub(LOW) & !word & HIGH != 0
    };
    match bytes.last_chunk::<8>() {
        // The last word overlaps the one before it, so that no rest is left.
        Some(last) => in_word(last) || bytes.as_chunks::<8>().0.iter().any(in_word),
        None => bytes.contains(&0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nul_is_found_wherever_it_stands_and_nothing_else_is_taken_for_one() {
        for fill in [1_u8, 0x7f, 0x80, 0x81, 0xff] {
            for length in 0..=33 {
                let mut bytes = alloc::vec![fill; length];
                assert!(!has_nul(&bytes), "{length} bytes of {fill:#x}");
                for at in 0..length {
                    bytes[at] = 0;
                    assert!(has_nul(&bytes), "byte {at} of {length} of {fill:#x}");
                    bytes[at] = fill;
                }
            }
        }
    }
}
