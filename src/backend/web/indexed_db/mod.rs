//! The browser's own database as a storage.
//!
//! [`IndexedDbStorage`] is the storage. Beside it stand what it is made of: its connection
//! (`database`), a transaction and the requests in it (`transaction`), how a value is kept
//! (`record`), pages of a listing (`listing`), and the read stream (`reader`).

mod database;
mod listing;
mod reader;
mod record;
mod storage;
mod transaction;

use alloc::rc::Rc;
use alloc::string::String;
use core::fmt;

use web_sys::IdbTransactionMode;

use self::database::Database;
use self::transaction::Transaction;
use super::work::unless_aborted;
use crate::error::StorageError;
use crate::key::validate_key;
use crate::port::OpContext;

pub use self::reader::IndexedDbReader;

/// A storage in the browser, kept across visits: one IndexedDB database. Clones share its
/// connection.
///
/// Every operation is there. Each is one transaction, so a write is whole or not at all, also
/// between tabs; a future that is dropped aborts its transaction. Keys are kept as bytes, so a
/// listing is sorted as everywhere. Versions are drawn at random for each write.
///
/// ```
/// # #[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
/// # async fn example() -> Result<(), storage_mux::StorageError> {
/// use storage_mux::backend::IndexedDbStorage;
/// use storage_mux::{LocalStorage, OpContext};
///
/// let (storage, cx) = (IndexedDbStorage::new("notes"), OpContext::new());
/// storage.set("greeting", "hello".into(), &cx).await?;
/// assert_eq!(storage.get("greeting", &cx).await?, "hello");
/// # Ok(())
/// # }
/// ```
///
/// # The connection
///
/// The database is opened, and made where there is none, by the first operation. It is closed when
/// the last handle is dropped, when another tab wants to delete or upgrade it, and when the user
/// clears the site's data; the next operation opens it again. Its name should be no one else's: a
/// database of that name with other contents is left alone and every operation fails.
///
/// # What to know
///
/// - A value passes through memory whole, also where a part of it is read or written. Read streams
///   are cut from it, write streams are gathered until they close.
/// - Writes reach the disk when the browser sees fit, as the web platform has it: after a crash of
///   the machine the last ones may be missing, never torn.
/// - A quota that is used up is HTTP 507. Browsers may clear what they hold when space runs short;
///   `navigator.storage.persist()` asks them not to.
/// - A browser ends a transaction as soon as its event loop turns with nothing asked of it. Futures
///   of wasm-bindgen never let it turn in between; an executor that polls from a timer would find
///   its `set_partial` and `set_if` refused.
/// - Where there is no IndexedDB (Node) every operation answers `UNSUPPORTED`.
#[derive(Clone)]
pub struct IndexedDbStorage {
    database: Rc<Database>,
}

impl IndexedDbStorage {
    /// The longest key, in bytes.
    pub const MAX_KEY_BYTES: usize = 1024;

    /// The size in bytes up to which `set_partial` extends a value: one gibibyte, as in a
    /// [`MemoryStorage`](crate::MemoryStorage). Past this the answer is HTTP 413.
    pub const MAX_EXTENDED_BYTES: u64 = 1 << 30;

    /// The longest chunk that a read stream gives, in bytes.
    pub const MAX_CHUNK_BYTES: u32 = 64 * 1024;

    /// The storage in the database of this name.
    pub fn new(name: impl Into<String>) -> Self {
        Self { database: Rc::new(Database::new(name.into())) }
    }

    /// Closes the connection, for instance before the database is deleted. Transactions under way
    /// still end; the next operation opens it again.
    pub fn close(&self) {
        self.database.close();
    }

    /// Runs `work` in a transaction that reads. Where the work fails nothing is left behind.
    async fn read<T>(
        &self,
        key: Option<&str>,
        cx: &OpContext,
        work: impl AsyncFnOnce(&Transaction) -> Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        self.transact(IdbTransactionMode::Readonly, key, cx, work).await
    }

    /// The same in a transaction that writes, which is done once the browser says so.
    async fn write<T>(
        &self,
        key: &str,
        cx: &OpContext,
        work: impl AsyncFnOnce(&Transaction) -> Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        self.transact(IdbTransactionMode::Readwrite, Some(key), cx, work).await
    }

    async fn transact<T>(
        &self,
        mode: IdbTransactionMode,
        key: Option<&str>,
        cx: &OpContext,
        work: impl AsyncFnOnce(&Transaction) -> Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        if let Some(key) = key {
            validate_key(key, Self::MAX_KEY_BYTES)?;
        }
        unless_aborted(cx, async {
            let database = self.database.connection().await?;
            let transaction = Transaction::begin(&database, mode)?;
            let answer = work(&transaction).await?;
            transaction.end(mode).await?;
            Ok(answer)
        })
        .await
    }
}

impl fmt::Debug for IndexedDbStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexedDbStorage").field("name", &self.database.name()).finish()
    }
}
