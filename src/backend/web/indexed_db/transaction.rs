//! One transaction over both object stores, and the requests in it.

use js_sys::{Array, Promise, Uint8Array};
use wasm_bindgen::JsValue;
use web_sys::{DomException, IdbTransactionMode};
use web_sys::{IdbDatabase, IdbKeyRange, IdbObjectStore, IdbRequest, IdbTransaction};

use super::record::Record;
use crate::backend::web::bytes::to_host;
use crate::backend::web::faults;
use crate::error::StorageError;
use crate::runtime::wasm::JsFuture;

/// The object stores: the bytes of the values, and beside them what is known of each, so that
/// asking and listing read no value. Both have the bytes of the key as key.
pub(super) const STORES: [&str; 2] = ["values", "records"];

/// A transaction. Dropped before its end it is aborted, and nothing of it was written.
pub(super) struct Transaction {
    host: IdbTransaction,
    values: IdbObjectStore,
    records: IdbObjectStore,
    ended: Option<JsFuture>,
}

impl Transaction {
    pub(super) fn begin(
        database: &IdbDatabase,
        mode: IdbTransactionMode,
    ) -> Result<Self, StorageError> {
        let stores: Array = STORES.into_iter().map(JsValue::from_str).collect();
        let host = told(database.transaction_with_str_sequence_and_mode(&stores, mode))?;
        let ended = Promise::new(&mut |resolve, reject| {
            host.set_oncomplete(Some(&resolve));
            host.set_onabort(Some(&reject));
        });
        let [values, records] = STORES.map(|store| host.object_store(store));
        Ok(Self { values: told(values)?, records: told(records)?, host, ended: Some(ended.into()) })
    }

    /// Waits until what was written stands. Given up before, it is aborted all the same.
    pub(super) async fn end(mut self, mode: IdbTransactionMode) -> Result<(), StorageError> {
        let stands = match &mut self.ended {
            Some(ended) if mode != IdbTransactionMode::Readonly => ended.await.is_ok(),
            Some(_) | None => true,
        };
        self.ended = None;
        if stands { Ok(()) } else { Err(failure(self.host.error())) }
    }

    /// The value of a key.
    pub(super) async fn value(&self, key: &str) -> Result<Uint8Array, StorageError> {
        let key = to_host(key.as_bytes())?;
        let found = answer(self.values.get(&key)).await?;
        if found.is_undefined() {
            return Err(StorageError::key_not_found());
        }
        Ok(found.into())
    }

    /// What is known of the value of a key.
    pub(super) async fn record(&self, key: &str) -> Result<Option<Record>, StorageError> {
        let key = to_host(key.as_bytes())?;
        let found = answer(self.records.get(&key)).await?;
        Ok(Record::from_host(&found))
    }

    /// At most `limit` keys of a range, and what is known of their values.
    pub(super) async fn page(
        &self,
        range: &IdbKeyRange,
        limit: u32,
    ) -> Result<(Array, Array), StorageError> {
        // Both are asked before either is waited for.
        let keys = self.records.get_all_keys_with_key_and_limit(range, limit);
        let records = self.records.get_all_with_key_and_limit(range, limit);
        Ok((answer(keys).await?.into(), answer(records).await?.into()))
    }

    /// Puts a value in its place. Whether it stands is known at the end.
    pub(super) fn put(
        &self,
        key: &str,
        value: &Uint8Array,
        record: &Record,
    ) -> Result<(), StorageError> {
        let key = to_host(key.as_bytes())?;
        told(self.values.put_with_key(value, &key))?;
        told(self.records.put_with_key(&record.to_host(), &key))?;
        Ok(())
    }

    /// Removes a value. Whether it is gone is known at the end.
    pub(super) fn delete(&self, key: &str) -> Result<(), StorageError> {
        let key = to_host(key.as_bytes())?;
        told(self.values.delete(&key))?;
        told(self.records.delete(&key))?;
        Ok(())
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if self.ended.is_some() {
            // It fails where the transaction has ended by itself, which is as good.
            let _ = self.host.abort();
        }
    }
}

/// Waits for a request, however it ends.
pub(super) async fn settled(request: &IdbRequest) -> Result<(), JsValue> {
    let settled = Promise::new(&mut |resolve, reject| {
        request.set_onsuccess(Some(&resolve));
        request.set_onerror(Some(&reject));
    });
    if JsFuture::from(settled).await.is_ok() {
        return Ok(());
    }
    // The event tells no more than that it failed.
    Err(request.error()?.map_or(JsValue::UNDEFINED, JsValue::from))
}

/// The answer to a request.
async fn answer(request: Result<IdbRequest, JsValue>) -> Result<JsValue, StorageError> {
    let request = told(request)?;
    told(settled(&request).await)?;
    told(request.result())
}

fn told<T>(result: Result<T, JsValue>) -> Result<T, StorageError> {
    result.map_err(|thrown| faults::database(&thrown))
}

fn failure(error: Option<DomException>) -> StorageError {
    faults::database(&error.map_or(JsValue::UNDEFINED, JsValue::from))
}
