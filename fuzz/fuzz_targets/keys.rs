//! Any texts as keys of a store with names of its own: each refused by all operations alike, or
//! kept apart from every other and listed as it was given.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use object_store::memory::InMemory;
use storage_mux::backend::ObjectStoreBackend;
use storage_mux::sim::{FakeClock, run};
use storage_mux::{OpContext, PageRequest, Storage, StorageErrorKind, validate_key};

fuzz_target!(|keys: Vec<String>| {
    let clock = FakeClock::new();
    let cx = OpContext::new();
    let stores = [
        ObjectStoreBackend::new(InMemory::new()),
        ObjectStoreBackend::on_folder(InMemory::new(), std::env::temp_dir()),
        ObjectStoreBackend::new(InMemory::new()).with_plain_names(),
    ];
    for (at, store) in stores.iter().enumerate() {
        let limit = Storage::capabilities(store).max_key_bytes();
        let mut model = BTreeMap::new();
        for key in keys.iter().take(32) {
            let value = key.clone().into_bytes();
            let set = run(&clock, Storage::set(store, key, value.clone().into(), &cx));
            match set.expect("memory does not hang") {
                Ok(_) => {
                    assert!(validate_key(key, limit).is_ok(), "{key:?} is no key");
                    model.insert(key.clone(), value);
                }
                Err(error) => {
                    assert_eq!(error.kind(), &StorageErrorKind::InvalidKey, "{key:?}: {error}");
                    // A bucket takes all that is a key and short enough once it is escaped.
                    let plain = at == 2;
                    assert!(plain || validate_key(key, limit / 4).is_err(), "{key:?}: {error}");
                }
            }
        }
        for (key, value) in &model {
            let got = run(&clock, Storage::get(store, key, &cx)).expect("memory does not hang");
            assert_eq!(got.as_deref(), Ok(value.as_slice()), "{key:?}");
        }
        let page = PageRequest::first(1_000);
        let listed = run(&clock, Storage::list(store, "", &page, &cx)).expect("it ends");
        let listed: Vec<String> =
            listed.expect("a listing").entries.into_iter().map(|entry| entry.key).collect();
        assert!(listed.iter().eq(model.keys()), "{listed:?} is not {:?}", model.keys());
        for key in model.keys() {
            run(&clock, Storage::delete(store, key, &cx)).expect("it ends").expect("deleted");
        }
        let left = run(&clock, Storage::list(store, "", &page, &cx)).expect("it ends");
        assert!(left.expect("a listing").entries.is_empty());
    }
});
