//! Whatever answers to HTTP as a storage, through the host's `fetch`.
//!
//! [`FetchStorage`] is the storage. Beside it stand what it is made of: the address of a key
//! (`address`), a request and its answer (`exchange`), what the answer's head says (`head`), and
//! the read stream (`reader`).

mod address;
mod exchange;
mod head;
mod reader;
mod storage;

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use web_sys::RequestCredentials;

pub use self::reader::FetchReader;

/// A storage behind HTTP: a bucket that takes `PUT`, a server of files, a read-only CDN. Clones
/// share the settings.
///
/// | operation | request | counts as |
/// |---|---|---|
/// | `get`, `get_stream` | `GET` | |
/// | `get_range` | `GET` with `Range` | a server that answers 200 is taken at its word and the part cut out here |
/// | `has`, `stat` | `HEAD` | the size is `Content-Length`, the version a strong `ETag` |
/// | `set`, `set_stream` | `PUT` | the version of what stands is the answer's `ETag` |
/// | `set_if` | `PUT` with `If-None-Match: *` or `If-Match` | 412 where the condition does not hold |
/// | `delete` | `DELETE` | 404 is success |
///
/// HTTP has no way to list, and none to write a part that servers agree on: `list` and
/// `set_partial` answer `UNSUPPORTED`.
///
/// ```
/// # #[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
/// # async fn example(token: &str) -> Result<(), storage_mux::StorageError> {
/// use storage_mux::backend::FetchStorage;
/// use storage_mux::{LocalStorage, OpContext};
///
/// let storage = FetchStorage::new("https://files.example/team/")
///     .with_header("authorization", format!("Bearer {token}"));
/// let value = storage.get("notes/today.txt", &OpContext::new()).await?;
/// # Ok(())
/// # }
/// ```
///
/// # Addresses
///
/// The address of a key is the base, a slash if it has none, and the key, percent-encoded but for
/// its slashes. A browser resolves a segment `.` or `..`, however it is spelt, so a key with one is
/// `INVALID_KEY`.
///
/// # Errors
///
/// 404 and 410 to a read are `KEY_NOT_FOUND`; every other status is the HTTP error of that status,
/// with its `Retry-After`. No answer at all is a network fault: a host does not tell a page whether
/// the name, the connection or the rules of the origin were to blame. An answer that breaks off is
/// a reset connection. No error repeats an address or a header: they may hold secrets.
///
/// # What to know
///
/// - A future or stream that is dropped, and a signal that aborts, abort the request.
/// - Answers never come from the host's cache.
/// - From another origin a page sees only the headers that the server exposes to it:
///   `Access-Control-Expose-Headers: ETag, Retry-After, Content-Range`. It may only send methods
///   and headers that the server allows: `Access-Control-Allow-Methods: GET, HEAD, PUT, DELETE` and
///   `Access-Control-Allow-Headers: Range, If-Match, If-None-Match`, with those of your own.
/// - A server that compresses its answers tells another size than the value has: serve what is
///   stored as it is.
/// - A write is gathered whole until it closes: hosts do not stream a request over HTTP/1.1.
#[derive(Clone)]
pub struct FetchStorage {
    settings: Rc<Settings>,
}

/// What every request has in common.
#[derive(Clone)]
struct Settings {
    base: String,
    headers: Vec<(String, String)>,
    credentials: RequestCredentials,
}

impl FetchStorage {
    /// The longest key, in bytes. Three times as long in an address, at worst, which servers take.
    pub const MAX_KEY_BYTES: usize = 1024;

    /// The storage below an address. In a page it may be relative to the page. It holds no user and
    /// password: hosts refuse such an address; send a header.
    pub fn new(base: impl Into<String>) -> Self {
        let mut base = base.into();
        if !base.ends_with('/') {
            base.push('/');
        }
        let credentials = RequestCredentials::SameOrigin;
        Self { settings: Rc::new(Settings { base, headers: Vec::new(), credentials }) }
    }

    /// The same with a header on every request. One that no request may have, by its name or its
    /// value, makes every call fail with `STORAGE.OTHER`.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        Rc::make_mut(&mut self.settings).headers.push((name.into(), value.into()));
        self
    }

    /// The same with the cookies and logins of the other origin, where it is another.
    #[must_use]
    pub fn with_credentials(mut self) -> Self {
        Rc::make_mut(&mut self.settings).credentials = RequestCredentials::Include;
        self
    }
}

impl fmt::Debug for FetchStorage {
    /// Without the headers: they hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FetchStorage").field("base", &self.settings.base).finish_non_exhaustive()
    }
}
