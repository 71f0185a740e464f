//! Pages of listings that come in any order, and what they cost where they are sorted.

use object_store::memory::InMemory;
use storage_mux::backend::ObjectStoreBackend;
use storage_mux::{ErrorClass, OpContext, PageRequest, Storage, classify};

use crate::fake::{Fake, failure};
use crate::support::{Scratch, drive, page, set};

/// Sorted keys, some of which sort elsewhere as names.
const KEYS: [&str; 16] = [
    "\u{1}", " ", " /x", "%", "%%", "-", "/", "/a", "a", "a\u{1}", "a b", "a/./x", "a/b", "a~x",
    "a\u{7f}", "é",
];

fn walk<S: Storage>(storage: &S, prefix: &str, limit: usize) -> Vec<String> {
    let (mut found, mut request) = (Vec::new(), PageRequest::first(limit));
    for _ in 0..100 {
        let (keys, next) = page(storage, prefix, &request).expect("a page");
        assert!(keys.len() <= limit);
        found.extend(keys);
        let Some(next) = next else { return found };
        request = PageRequest::after(next, limit);
    }
    panic!("no end of pages: {found:?}");
}

fn pages_are_right<S: Storage>(storage: &S) {
    for key in KEYS {
        set(storage, key, "v").unwrap();
    }
    for limit in [1, 2, 3, 7, 15, 16, 17, usize::MAX] {
        assert_eq!(walk(storage, "", limit), KEYS, "in pages of {limit}");
        for prefix in ["a", "a/", "a/.", "%", "/", " /", "\u{1}", "zzz", "nowhere/"] {
            let expected: Vec<&str> =
                KEYS.into_iter().filter(|key| key.starts_with(prefix)).collect();
            assert_eq!(walk(storage, prefix, limit), expected, "{prefix:?} by {limit}");
        }
    }
    for after in KEYS.into_iter().chain(["", "\0", "a/", "a/.", "a/.0", "a~", "zz"]) {
        let (found, _) = page(storage, "", &PageRequest::after(after, 100)).unwrap();
        let expected: Vec<&str> = KEYS.into_iter().filter(|key| *key > after).collect();
        assert_eq!(found, expected, "after {after:?}");
    }
}

/// Spec: P-7
#[test]
fn pages_are_sorted_by_key_whatever_the_order_of_the_store() {
    assert!(KEYS.is_sorted());
    pages_are_right(&ObjectStoreBackend::new(InMemory::new()));
    pages_are_right(&ObjectStoreBackend::new(InMemory::new()).with_sorted_listing(true));
    let fake = Fake::default();
    fake.script().order = Some(|objects| objects.reverse());
    pages_are_right(&ObjectStoreBackend::new(fake.clone()));
    fake.script().twice = true;
    pages_are_right(&ObjectStoreBackend::new(fake));
    let scratch = Scratch::new();
    pages_are_right(&scratch.backend());
}

/// Spec: P-7
#[test]
fn a_sorted_store_is_read_only_as_far_as_the_page_goes() {
    let fake = Fake::default();
    let backend = ObjectStoreBackend::new(fake.clone());
    for index in 0..1_000 {
        set(&backend, &format!("my files/{index:03}.txt"), "v").unwrap();
    }
    let cost = |backend: &ObjectStoreBackend<Fake>, prefix: &str, request: &PageRequest| {
        fake.listed();
        let found = page(backend, prefix, request).unwrap();
        (found.0.len(), fake.listed())
    };
    let middle = PageRequest::after("my files/499.txt", 10);
    assert_eq!(cost(&backend, "", &PageRequest::first(10)), (10, 1_000));
    assert_eq!(cost(&backend, "my files/", &middle), (10, 500), "from its place to the end");
    let sorted = backend.with_sorted_listing(true);
    assert_eq!(cost(&sorted, "my files/", &PageRequest::first(10)), (10, 11));
    assert_eq!(cost(&sorted, "my files/", &middle), (10, 11));
    // The listing of a prefix ends where the prefix does.
    assert_eq!(cost(&sorted, "my files/12", &PageRequest::first(100)), (10, 31));
    // Without the shared start the space in the names stands in the way of an early end.
    assert_eq!(cost(&sorted, "", &PageRequest::first(10)), (10, 1_000));
    let plain = sorted.with_plain_names();
    assert_eq!(cost(&plain, "", &PageRequest::first(10)), (10, 11));
}

/// Spec: P-7
#[test]
fn a_store_that_turns_out_unsorted_still_gives_every_key() {
    let fake = Fake::default();
    let backend = ObjectStoreBackend::new(fake.clone()).with_sorted_listing(true);
    for key in ["a", "b", "c", "d"] {
        set(&backend, key, "v").unwrap();
    }
    // That it is not shows between c and a, before the page could end at d.
    fake.script().order = Some(|objects| {
        objects.sort_by_key(|object| {
            object.as_ref().map_or(0, |object| {
                ["c", "a", "d", "b"]
                    .iter()
                    .position(|key| *key == object.location.as_ref())
                    .unwrap_or(0)
            })
        });
    });
    assert_eq!(walk(&backend, "", 2), ["a", "b", "c", "d"]);
}

/// Spec: P-7
#[test]
fn a_listing_that_fails_half_way_is_an_error_and_no_shorter_page() {
    let fake = Fake::default();
    let backend = ObjectStoreBackend::new(fake.clone());
    for key in ["a", "b", "c"] {
        set(&backend, key, "v").unwrap();
    }
    fake.script().errors.push_back(failure("page two"));
    let error = page(&backend, "", &PageRequest::default()).expect_err("half a listing");
    assert_eq!(classify(&error), ErrorClass::Transient);
    assert_eq!(page(&backend, "", &PageRequest::default()).unwrap().0.len(), 3);
}

/// Spec: P-7
#[test]
fn an_empty_store_lists_nothing() {
    let scratch = Scratch::new();
    assert!(walk(&scratch.backend(), "", 10).is_empty());
    assert!(walk(&ObjectStoreBackend::new(InMemory::new()), "nope/", 10).is_empty());
    let cx = OpContext::new();
    set(&scratch.backend(), "nope/x", "v").unwrap();
    drive(scratch.backend().delete("nope/x", &cx)).unwrap();
    assert!(walk(&scratch.backend(), "nope/", 10).is_empty());
}
