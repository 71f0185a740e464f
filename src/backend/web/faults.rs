//! What the exceptions of a host mean for a storage.

use alloc::format;
use alloc::string::String;

use js_sys::Reflect;
use wasm_bindgen::JsValue;

use crate::error::{NetworkFault, StorageError, StorageErrorKind};

/// An exception of the database.
///
/// A quota that is used up is HTTP 507, as where a service has no room left. All else is unknown
/// and so transient: a page that may not use its database, or that lost it, is served by the
/// next backend.
pub(super) fn database(thrown: &JsValue) -> StorageError {
    let (name, text) = told(thrown);
    let error = match &*name {
        "QuotaExceededError" => StorageError::http(507),
        _ => StorageError::new(StorageErrorKind::Other),
    };
    error.with_detail(text)
}

/// An exception of `fetch`: no answer came.
///
/// A host does not tell a page why. What some tell instead is the address or the header that they
/// could not read, and with it whatever secret stands there: their words are not passed on.
pub(super) fn unreachable() -> StorageError {
    StorageError::network(NetworkFault::Other).with_detail(
        "no answer came, and the host does not tell why: look at the address, the network and \
         what the server allows other origins",
    )
}

/// A header that the host refuses to send.
pub(super) fn illegal_header() -> StorageError {
    StorageError::new(StorageErrorKind::Other).with_detail(
        "a header set by with_header has a name or a value that no request may have: correct it",
    )
}

/// An exception while an answer was read.
pub(super) fn broken(thrown: &JsValue) -> StorageError {
    StorageError::network(NetworkFault::Reset).with_detail(told(thrown).1)
}

/// The name of an exception, and its name with its message.
fn told(thrown: &JsValue) -> (String, String) {
    let field = |name: &str| {
        let field = Reflect::get(thrown, &JsValue::from_str(name)).ok()?;
        field.as_string().filter(|text| !text.is_empty())
    };
    let name = field("name").unwrap_or_default();
    let text = match field("message") {
        Some(message) if name.is_empty() => message,
        Some(message) => format!("{name}: {message}"),
        None if name.is_empty() => "the host gives no reason".into(),
        None => name.clone(),
    };
    (name, text)
}
