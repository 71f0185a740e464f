//! Pages: sorted whatever the service does, and read no further than they must.

use opendal::{Capability, Error, ErrorKind};
use storage_mux::{ErrorClass, PageRequest, classify};

use crate::fake::{Fake, plain};
use crate::support::page;

fn filled(capability: Capability, keys: &[&str]) -> Fake {
    let fake = Fake::new(capability);
    for key in keys {
        fake.script().put(key, "v".into());
    }
    fake
}

fn from_a_place() -> Capability {
    Capability { list_with_start_after: true, ..plain() }
}

const KEYS: [&str; 6] = ["a", "b/1", "b/2", "b/3", "c", "d"];

/// Spec: P-7
#[test]
fn a_page_begins_where_it_must_and_ends_when_it_is_full() {
    let fake = filled(from_a_place(), &KEYS);
    let (keys, next) = page(&fake.backend(), "", &PageRequest::after("b/1", 2)).unwrap();
    assert_eq!((keys, next.as_deref()), (vec!["b/2".into(), "b/3".into()], Some("b/3")));
    assert_eq!(fake.calls(), ["list / after \"b/1\""]);
    // The directory, the two of the page, and one to know that there are more.
    assert_eq!(fake.script().listed, 4);
}

/// Spec: P-7
#[test]
fn a_prefix_is_looked_for_in_its_directory() {
    let fake = filled(plain(), &KEYS);
    let (keys, next) = page(&fake.backend(), "b/", &PageRequest::first(10)).unwrap();
    assert_eq!((keys, next), (vec!["b/1".into(), "b/2".into(), "b/3".into()], None));
    assert_eq!(fake.calls(), ["list b/ after \"\""]);
}

/// Spec: P-7
#[test]
fn a_service_that_lists_in_the_wrong_order_is_read_to_its_end() {
    for capability in [plain(), from_a_place()] {
        let fake = filled(capability, &KEYS);
        fake.script().reversed = true;
        let backend = fake.backend().with_sorted_listing(false);
        let (mut request, mut all) = (PageRequest::first(4), Vec::new());
        loop {
            let (keys, next) = page(&backend, "", &request).unwrap();
            assert!(keys.len() <= 4);
            all.extend(keys);
            let Some(next) = next else { break };
            request = PageRequest::after(next, 4);
        }
        assert_eq!(all, KEYS);
    }
}

/// Spec: P-7
#[test]
fn names_that_no_key_has_are_not_listed() {
    let fake = filled(plain(), &["a", "a%", "x%2f", " lead", "b"]);
    assert_eq!(
        page(&fake.backend(), "", &PageRequest::first(10)).unwrap().0,
        ["a", "b"],
        "the others are of somebody who does not know how names are made"
    );
}

/// Spec: P-7, E-2
#[test]
fn a_missing_directory_is_an_empty_page_and_a_missing_root_is_trouble() {
    let fake = Fake::new(plain());
    let missing = || Error::new(ErrorKind::NotFound, "no such directory");
    fake.script().errors.push_back(missing());
    let empty = page(&fake.backend(), "b/", &PageRequest::first(10));
    assert_eq!(empty, Ok((Vec::new(), None)));
    fake.script().errors.push_back(missing());
    let error = page(&fake.backend(), "", &PageRequest::first(10)).unwrap_err();
    assert_eq!(classify(&error), ErrorClass::Transient);
}
