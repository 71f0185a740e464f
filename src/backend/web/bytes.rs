//! Bytes between the memory of the module and that of its host.
//!
//! Both ends can run out of memory. That is an error here, where the plain ways would end the
//! program.

use alloc::vec::Vec;

use bytes::Bytes;
use js_sys::Uint8Array;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::error::StorageError;

#[wasm_bindgen]
extern "C" {
    /// `Uint8Array` by a constructor that may fail.
    #[wasm_bindgen(js_name = Uint8Array)]
    type HostBytes;

    #[wasm_bindgen(constructor, catch, js_class = "Uint8Array")]
    fn new(len: f64) -> Result<HostBytes, JsValue>;
}

/// The answer where the memory has no room for a value.
pub(super) fn no_memory() -> StorageError {
    StorageError::http(507).with_detail("there is not enough memory for the value")
}

/// Zero bytes in the host's memory.
pub(super) fn zeroed(len: usize) -> Result<Uint8Array, StorageError> {
    let room = HostBytes::new(len as f64).map_err(|_| no_memory())?;
    Ok(room.unchecked_into())
}

/// A copy in the host's memory.
pub(super) fn to_host(bytes: &[u8]) -> Result<Uint8Array, StorageError> {
    let copy = zeroed(bytes.len())?;
    copy.copy_from(bytes);
    Ok(copy)
}

/// A copy in the module's memory.
pub(super) fn from_host(bytes: &Uint8Array) -> Result<Bytes, StorageError> {
    let mut copy = room(bytes.length() as usize)?;
    copy.resize(bytes.length() as usize, 0);
    bytes.copy_to(&mut copy);
    Ok(copy.into())
}

/// Room for `len` bytes in the module's memory.
pub(super) fn room(len: usize) -> Result<Vec<u8>, StorageError> {
    let mut room = Vec::new();
    room.try_reserve_exact(len).map_err(|_| no_memory())?;
    Ok(room)
}
