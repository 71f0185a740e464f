//! Every reported failure has its test.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The reported failures, by kind: breaker, backoff, retry, time, streams, selection, health,
/// fan-out, listing, partial writes, drain, statistics, events, tracing.
const CASES: &[(&str, &[u32])] = &[
    ("CB", &[1, 3, 4, 5, 8, 9, 11, 12, 13, 14, 16, 19]),
    ("BO", &[1, 3, 4, 5, 7, 9]),
    ("RT", &[1, 2, 3, 4, 6, 8, 10, 12]),
    ("TC", &[1, 3, 4, 6, 8]),
    ("ST", &[1, 3, 4, 6, 7]),
    ("SEL", &[1, 2, 3, 5, 7, 8, 9, 10, 13]),
    ("HC", &[1, 2, 4, 6, 7, 9, 10, 12, 13]),
    ("FO", &[1, 2, 3, 4, 5, 6, 8, 11]),
    ("LS", &[1, 2, 3, 5, 6, 8, 9, 11, 13]),
    ("PW", &[1, 2, 5]),
    ("DR", &[1, 3, 4, 5]),
    ("SM", &[1, 3, 4, 6, 7]),
    ("EV", &[1, 3, 4, 6]),
    ("OT", &[1]),
];

/// The names that follow `Case` in the comments of the tests of a folder and below.
fn named(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder of the crate").flatten() {
        let path = entry.path();
        if path.is_dir() && entry.file_name() != "target" {
            named(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("a file of the crate");
            let cases = text.lines().filter_map(|line| line.trim().strip_prefix("/// Case "));
            for line in cases {
                let words = line.split(|letter: char| !(letter.is_alphanumeric() || letter == '-'));
                found.extend(words.map(str::to_owned));
            }
        }
    }
}

#[test]
fn every_reported_failure_is_named_by_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = BTreeSet::new();
    named(&root.join("src"), &mut found);
    named(&root.join("tests"), &mut found);
    let all = CASES.iter().flat_map(|(kind, numbers)| {
        numbers.iter().map(move |number| format!("{kind}-{number:02}"))
    });
    let missing: Vec<String> = all.filter(|case| !found.contains(case)).collect();
    assert!(missing.is_empty(), "no test says `Case` and the name of {missing:?}");
}
