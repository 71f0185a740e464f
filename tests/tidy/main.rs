//! Holds the line: sizes, the direction of the arrows, and calls that have no place in the crate.
//!
//! The rules look at the text of the repository and need nothing but std. `selftest` shows for
//! each rule that it can fail.

mod layers;
mod paths;
mod rules;
mod selftest;
mod source;

use std::path::Path;
use std::sync::LazyLock;
use std::{fs, io};

use layers::Root;
use source::Source;

/// Every text file below a folder, as path and text.
///
/// Leaves out what is not the project's: version control, editors' settings and build output.
fn texts(folder: &Path, prefix: &str, found: &mut Vec<(String, String)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        if name.starts_with('.') && name != ".ci" && name != ".gitignore" {
            continue;
        }
        if entry.file_type()?.is_dir() {
            if name != "target" && !entry.path().join("CACHEDIR.TAG").exists() {
                texts(&entry.path(), &format!("{path}/"), found)?;
            }
        } else if let Ok(text) = String::from_utf8(fs::read(entry.path())?) {
            found.push((path, text));
        }
    }
    Ok(())
}

/// The repository, read once for all rules.
static TREE: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let mut found = Vec::new();
    let read = texts(Path::new(env!("CARGO_MANIFEST_DIR")), "", &mut found);
    assert!(read.is_ok(), "the repository cannot be read: {read:?}");
    found.sort();
    found
});

/// The Rust files of the crate, its tests, examples and benches.
static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(|| {
    let rust = TREE.iter().filter(|(path, _)| path.ends_with(".rs"));
    let mut sources: Vec<Source> = rust.map(|(path, text)| Source::new(path, text)).collect();
    sources.retain(|source| source.is_in(&["src/", "tests/", "examples/", "benches/"]));
    let test_files: Vec<String> = sources.iter().flat_map(Source::test_files).collect();
    let test_files: Vec<&str> = test_files.iter().map(|path| &**path).collect();
    sources.iter_mut().filter(|source| source.is_in(&test_files)).for_each(Source::mark_as_test);
    // A rule over no files would pass whatever the files hold.
    assert!(sources.iter().filter(|source| source.is_in(&["src/"])).count() > 30);
    sources
});

fn file(path: &str) -> &'static str {
    TREE.iter().find(|(known, _)| known == path).map_or("", |(_, text)| text)
}

fn lib() -> Source {
    Source::new("src/lib.rs", file("src/lib.rs"))
}

/// Applies a rule to every file and fails with all findings at once.
fn check(rule: impl Fn(&Source) -> Vec<String>) {
    none(SOURCES.iter().flat_map(rule).collect());
}

fn none(findings: Vec<String>) {
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}

#[test]
fn no_file_passes_four_hundred_lines() {
    check(rules::long_files);
}

#[test]
fn every_file_says_what_it_is_for() {
    check(rules::missing_headers);
}

#[test]
fn no_module_names_one_above_it() {
    let root = Root::new(file("src/lib.rs"));
    check(|source| layers::upward_paths(source, &root));
}

/// Spec: PU-3
#[test]
fn only_the_runtime_bindings_name_a_runtime() {
    check(rules::runtime_names);
}

/// Spec: PU-3
#[test]
fn the_rule_on_runtimes_knows_every_crate_that_one_brings() {
    none(rules::unknown_runtimes(file("Cargo.toml")));
}

/// Spec: PU-1, PU-2
#[test]
fn std_stays_in_the_bindings_and_behind_its_feature() {
    check(rules::std_paths);
}

/// Spec: PU-1
#[test]
fn shared_pointers_and_atomics_come_from_one_module() {
    check(rules::unshared_atomics);
}

/// Spec: P-1
#[test]
fn words_and_parts_are_told_the_time() {
    check(rules::clock_reads);
}

#[test]
fn decisions_are_synchronous() {
    check(rules::async_decisions);
}

/// Spec: RC-2
#[test]
fn only_retry_and_the_drivers_sleep() {
    check(rules::sleeps);
}

/// Spec: RC-2
#[test]
fn delays_grow_in_retry_and_health_alone() {
    check(rules::second_backoffs);
}

/// Spec: E-6
#[test]
fn no_call_outside_tests_ends_in_a_panic() {
    check(rules::panics);
}

/// Spec: PU-1
#[test]
fn nothing_is_unsafe() {
    check(rules::unsafe_code);
}

/// Spec: PU-1
#[test]
fn the_crate_is_no_std_and_forbids_unsafe_code() {
    none(rules::crate_attributes(&lib()));
}

/// Spec: PU-2
#[test]
fn features_gate_items_and_never_logic() {
    check(rules::gated_logic);
}

#[test]
fn no_test_is_ignored_hollow_or_asleep() {
    check(rules::hollow_tests);
}

/// Spec: PU-2
#[test]
fn every_feature_is_explained_on_the_front_page() {
    none(rules::feature_table(file("Cargo.toml"), &lib()));
}

#[test]
fn no_text_tells_where_somebody_worked() {
    none(TREE.iter().flat_map(|(path, text)| rules::private_words(path, text)).collect());
}
