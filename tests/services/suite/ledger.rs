//! A stream of writes, and what was promised of each.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use storage_mux::{OpContext, Storage, StorageError};
use tokio::task::JoinHandle;

use crate::backends::Mux;

/// Writes one value after the other, each under a key of its own,
/// until it is told to stop.
pub(crate) struct Writer {
    stop: Arc<AtomicBool>,
    ledger: Arc<Mutex<Ledger>>,
    task: JoinHandle<()>,
}

/// What the writes were answered.
#[derive(Default)]
pub(crate) struct Ledger {
    /// The values whose write was acknowledged, by key.
    pub(crate) acknowledged: BTreeMap<String, String>,
    /// How long each of these took.
    pub(crate) times: Vec<Duration>,
    /// The errors of the others.
    pub(crate) refused: Vec<String>,
}

impl Writer {
    pub(crate) fn start(mux: Mux, prefix: &'static str) -> Self {
        let (stop, ledger) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::default()));
        let task = tokio::spawn(write(mux, prefix, stop.clone(), ledger.clone()));
        Self { stop, ledger, task }
    }

    /// Waits until this many more writes were acknowledged.
    pub(crate) async fn acknowledges(&self, more: usize) {
        let count = || self.ledger.lock().unwrap().acknowledged.len();
        self.waits_for(more, "acknowledged", count).await;
    }

    /// Waits until this many more writes were refused.
    pub(crate) async fn refuses(&self, more: usize) {
        self.waits_for(more, "refused", || self.ledger.lock().unwrap().refused.len()).await;
    }

    async fn waits_for(&self, more: usize, what: &str, count: impl Fn() -> usize) {
        let (start, end) = (count(), Instant::now() + Duration::from_secs(20));
        while count() < start + more {
            assert!(
                Instant::now() < end,
                "{} of {more} writes {what}; refused were {:?}",
                count() - start,
                self.ledger.lock().unwrap().refused
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Lets the write that is under way end, and gives what was promised.
    pub(crate) async fn stop(self) -> Ledger {
        self.stop.store(true, Ordering::Release);
        self.task.await.expect("the writer does not panic");
        std::mem::take(&mut self.ledger.lock().unwrap())
    }
}

async fn write(mux: Mux, prefix: &'static str, stop: Arc<AtomicBool>, ledger: Arc<Mutex<Ledger>>) {
    for index in 0_u64.. {
        if stop.load(Ordering::Acquire) {
            return;
        }
        let (key, value) = (format!("{prefix}/{index:06}"), format!("value {index}"));
        let begun = Instant::now();
        let result = mux.set(&key, value.clone()).await;
        ledger.lock().unwrap().add(key, value, begun.elapsed(), result.err());
        // Room for the servers on a machine with few cores.
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

impl Ledger {
    fn add(&mut self, key: String, value: String, time: Duration, error: Option<StorageError>) {
        match error {
            None => {
                self.acknowledged.insert(key, value);
                self.times.push(time);
            }
            Some(error) => self.refused.push(format!("{key}: {error}")),
        }
    }

    /// The acknowledged keys whose value this storage holds, asked for directly. Any other value
    /// than the acknowledged one is an error.
    pub(crate) async fn held_by<S: Storage>(&self, storage: &S) -> Vec<&str> {
        let mut held = Vec::new();
        for (key, value) in &self.acknowledged {
            match get(storage, key).await {
                Ok(found) => {
                    assert_eq!(found, *value, "{key}");
                    held.push(key.as_str());
                }
                Err(error) => assert!(error.is_key_not_found(), "{key}: {error}"),
            }
        }
        held
    }
}

/// Reads a value from a storage, past any mux.
pub(crate) async fn get<S: Storage>(storage: &S, key: &str) -> Result<String, StorageError> {
    let value = storage.get(key, &OpContext::new()).await?;
    Ok(String::from_utf8_lossy(&value).into_owned())
}
