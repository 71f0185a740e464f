//! The script that is cut: 200 operations drawn from a seed, and what a storage must then hold.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use embedded_storage_async::nor_flash::NorFlash;
use storage_mux::backend::FlashStorage;
use storage_mux::{LocalStorage, OpContext, PageRequest, Rng, SeededRng, StorageError};

pub(crate) const MAX_VALUE: usize = 60;

pub(crate) type Model = BTreeMap<String, Bytes>;

#[derive(Clone, Debug)]
pub(crate) enum Op {
    Set(String, Bytes),
    Partial(String, u64, Bytes),
    Delete(String),
}

impl Op {
    pub(crate) fn key(&self) -> &str {
        match self {
            Self::Set(key, _) | Self::Partial(key, ..) | Self::Delete(key) => key,
        }
    }

    pub(crate) async fn run<F: NorFlash + 'static>(
        &self,
        storage: &FlashStorage<F>,
    ) -> Result<(), StorageError> {
        let cx = OpContext::new();
        match self {
            Self::Set(key, value) => storage.set(key, value.clone(), &cx).await.map(drop),
            Self::Partial(key, at, bytes) => {
                storage.set_partial(key, *at, bytes.clone(), &cx).await
            }
            Self::Delete(key) => storage.delete(key, &cx).await,
        }
    }

    /// What the model holds when the operation has happened.
    pub(crate) fn apply(&self, model: &mut Model) {
        match self {
            Self::Set(key, value) => drop(model.insert(key.clone(), value.clone())),
            Self::Delete(key) => drop(model.remove(key)),
            Self::Partial(key, at, bytes) => {
                let mut value = model.get(key).map(|value| value.to_vec()).unwrap_or_default();
                let at = *at as usize;
                value.resize(value.len().max(at + bytes.len()), 0);
                value[at..at + bytes.len()].copy_from_slice(bytes);
                model.insert(key.clone(), value.into());
            }
        }
    }
}

/// Few keys and short values, so that the sectors go round many times and never fill.
pub(crate) fn script(seed: u64, count: usize, deletes: bool) -> Vec<Op> {
    let rng = SeededRng::new(seed);
    let below = |bound: u64| rng.next_u64() % bound;
    let bytes = |len: u64| (0..len).map(|_| below(256) as u8).collect::<Bytes>();
    (0..count)
        .map(|_| {
            let key = format!("key/{}", below(6));
            match below(10) {
                0 | 1 if deletes => Op::Delete(key),
                2 => Op::Partial(key, below(20), bytes(below(20) + 1)),
                _ => Op::Set(key, bytes(below(40))),
            }
        })
        .collect()
}

/// Polls to the end. Nothing here waits for anything but the next poll.
pub(crate) fn run<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return output;
        }
    }
}

/// All that a storage holds, by listing it and by reading each key; they must agree.
pub(crate) fn held<F: NorFlash + 'static>(storage: &FlashStorage<F>) -> Model {
    let (cx, mut model, mut request) = (OpContext::new(), Model::new(), PageRequest::first(4));
    loop {
        let page = run(storage.list("", &request, &cx)).expect("a listing");
        for entry in page.entries {
            let value = run(storage.get(&entry.key, &cx)).expect("a listed key");
            assert_eq!(value.len() as u64, entry.metadata.size);
            model.insert(entry.key, value);
        }
        let Some(next) = page.next else { return model };
        request = PageRequest::after(next, 4);
    }
}

/// The storage holds what it held before the operation or what it holds after it.
pub(crate) fn old_or_new<F: NorFlash + 'static>(
    storage: &FlashStorage<F>,
    old: &Model,
    new: &Model,
    when: &dyn Fn() -> String,
) -> Model {
    let found = held(storage);
    assert!(found == *old || found == *new, "{}: {found:?}, not {old:?} nor {new:?}", when());
    // What the listing lacks must not be there for a read either.
    let cx = OpContext::new();
    for key in old.keys().chain(new.keys()).filter(|key| !found.contains_key(*key)) {
        assert_eq!(run(storage.get(key, &cx)), Err(StorageError::key_not_found()), "{}", when());
    }
    found
}
