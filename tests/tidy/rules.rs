//! What a file may contain, one function per rule. A rule returns its findings; none is good.

use crate::layers::{PARTS, WORDS};
use crate::paths::paths;
use crate::source::{Source, closing, is_word, words};

/// Past this a file holds more than one idea.
pub(crate) const MAX_LINES: usize = 400;

/// Crates and modules that belong to one runtime.
pub(crate) const RUNTIMES: [&str; 21] = [
    "tokio",
    "tokio_stream",
    "tokio_util",
    "async_std",
    "async_global_executor",
    "smol",
    "async_io",
    "async_executor",
    "async_task",
    "embassy_time",
    "embassy_time_driver",
    "embassy_executor",
    "wasm_bindgen",
    "wasm_bindgen_futures",
    "js_sys",
    "web_sys",
    "web_time",
    "gloo_net",
    "gloo_timers",
    "futures_timer",
    "getrandom",
];

/// Of these the ones that also belong to the platform whose storages a module binds.
const WEB_PLATFORM: [&str; 3] = ["wasm_bindgen", "js_sys", "web_sys"];

/// Features named after a runtime.
const RUNTIME_FEATURES: [&str; 5] = ["tokio", "async-std", "smol", "embassy", "wasm"];

/// Calls that end in a panic, or are left over from work in progress.
const PANICS: [&str; 9] = [
    "todo!",
    "unimplemented!",
    "dbg!",
    "unreachable!",
    "panic!",
    ".unwrap()",
    ".unwrap_err()",
    ".expect(",
    ".expect_err(",
];

/// Functions of which a growing delay is made.
const GROWTH: [&str; 10] = [
    "pow",
    "powi",
    "powf",
    "exp2",
    "checked_pow",
    "saturating_pow",
    "wrapping_pow",
    "overflowing_pow",
    "mul_f32",
    "mul_f64",
];

/// The drivers of `retry`: the only async code among the parts.
const RETRY_DRIVERS: [&str; 4] = [
    "src/retry/run.rs",
    "src/retry/timeout.rs",
    "src/retry/breaker/mod.rs",
    "src/retry/breaker/call.rs",
];

pub(crate) fn long_files(source: &Source) -> Vec<String> {
    let lines = source.text.lines().count();
    let over = lines > MAX_LINES;
    over.then(|| source.at(0, &format!("{lines} lines, {MAX_LINES} at most"))).into_iter().collect()
}

pub(crate) fn missing_headers(source: &Source) -> Vec<String> {
    let opens = source.text.starts_with("//!");
    (!opens).then(|| source.at(0, "does not open with `//!`")).into_iter().collect()
}

pub(crate) fn runtime_names(source: &Source) -> Vec<String> {
    if !in_src(source) || source.is_in(&["src/runtime/"]) {
        return Vec::new();
    }
    let bound: &[&str] = if source.is_in(&["src/backend/web/"]) { &WEB_PLATFORM } else { &[] };
    let named =
        words(&source.code).filter(|(_, word)| RUNTIMES.contains(word) && !bound.contains(word));
    let mut findings: Vec<String> =
        named.map(|(at, word)| source.at(at, &format!("names the runtime `{word}`"))).collect();
    for feature in RUNTIME_FEATURES {
        for (at, _) in source.uncommented.match_indices(&format!("feature = \"{feature}\"")) {
            if !gates_a_module(source, at) {
                findings.push(source.at(at, &format!("asks for the runtime feature `{feature}`")));
            }
        }
    }
    findings
}

/// The crates that a runtime's feature brings in and that are not among [`RUNTIMES`]: the rest of the
/// library could name them unseen.
pub(crate) fn unknown_runtimes(manifest: &str) -> Vec<String> {
    let features = section(manifest, "features");
    let brought = features
        .lines()
        .filter_map(|line| line.split_once(" = "))
        .filter(|(feature, _)| RUNTIME_FEATURES.contains(feature) || *feature == "web")
        .flat_map(|(_, brings)| brings.split('"').filter_map(|item| item.strip_prefix("dep:")));
    brought
        .filter(|name| !RUNTIMES.contains(&&*name.replace('-', "_")))
        .map(|name| format!("Cargo.toml: the rule on runtimes does not know `{name}`"))
        .collect()
}

/// Whether a place lies in an attribute of a `mod` or `use` line in `lib.rs` or a `mod.rs`.
fn gates_a_module(source: &Source, offset: usize) -> bool {
    if source.path != "src/lib.rs" && !source.path.ends_with("/mod.rs") {
        return false;
    }
    let code = &source.code;
    let Some(start) = code[..offset].rfind("#[") else { return false };
    let end = closing(code, start + 1);
    let mut rest = &code[end..];
    if end < offset {
        return false;
    }
    while rest.trim_start().starts_with("#[") {
        rest = &rest[closing(rest, rest.find('[').unwrap_or(0))..];
    }
    words(rest)
        .map(|(_, word)| word)
        .find(|word| !["pub", "crate", "super", "self"].contains(word))
        .is_some_and(|word| word == "mod" || word == "use")
}

pub(crate) fn std_paths(source: &Source) -> Vec<String> {
    let allowed = [
        "src/sync/",
        "src/runtime/",
        "src/backend/",
        "src/telemetry/",
        "src/config/",
        "src/error/io.rs",
    ];
    first_segments(source, &allowed, &["std"], "names `std` outside the modules that may")
}

pub(crate) fn unshared_atomics(source: &Source) -> Vec<String> {
    let allowed = ["src/sync/", "src/sim/executor.rs", "src/sim/task.rs"];
    let what = "takes `Arc` or atomics past `crate::sync`";
    let mut findings = first_segments(source, &allowed, &["alloc", "sync"], what);
    findings.extend(first_segments(source, &allowed, &["core", "sync", "atomic"], what));
    // A binding has std and may use the rest of its `sync`.
    for item in ["Arc", "Weak", "atomic", "*"] {
        findings.extend(first_segments(source, &allowed, &["std", "sync", item], what));
    }
    findings
}

fn first_segments(source: &Source, allowed: &[&str], first: &[&str], what: &str) -> Vec<String> {
    if !in_src(source) || source.is_in(allowed) {
        return Vec::new();
    }
    let named = paths(&source.code).into_iter().filter(|path| path.starts_with(first));
    named
        .map(|path| path.offset)
        .filter(|at| !source.in_test(*at))
        .map(|at| source.at(at, what))
        .collect()
}

pub(crate) fn clock_reads(source: &Source) -> Vec<String> {
    if !(in_any(source, &WORDS) || in_any(source, &PARTS)) || source.is_in(&RETRY_DRIVERS) {
        return Vec::new();
    }
    let what = "reads a clock; take `now` as an argument";
    let mut findings = calls(source, &[".now()"], what);
    let path = paths(&source.code).into_iter().filter(|path| path.ends_with(&["Clock", "now"]));
    findings.extend(path.map(|path| source.at(path.offset, what)));
    findings
}

pub(crate) fn async_decisions(source: &Source) -> Vec<String> {
    let synchronous = WORDS.iter().chain(&PARTS).filter(|module| **module != "sync");
    if !in_any(source, &synchronous.copied().collect::<Vec<_>>()) || source.is_in(&RETRY_DRIVERS) {
        return Vec::new();
    }
    let found = words(&source.code)
        .filter(|(at, word)| (*word == "async" || *word == "await") && !source.in_test(*at));
    found.map(|(at, _)| source.at(at, "is async; decisions are not")).collect()
}

pub(crate) fn sleeps(source: &Source) -> Vec<String> {
    let allowed = [
        "src/retry/",
        "src/sim/",
        "src/drive/",
        "src/port/",
        "src/runtime/",
        "src/mux/health_check.rs",
    ];
    if !in_src(source) || source.is_in(&allowed) {
        return Vec::new();
    }
    let what = "sleeps outside `retry` and the drivers";
    let mut findings = calls(source, &[".sleep("], what);
    let path = paths(&source.code).into_iter().filter(|path| path.ends_with(&["Clock", "sleep"]));
    findings.extend(path.map(|path| source.at(path.offset, what)));
    findings
}

pub(crate) fn second_backoffs(source: &Source) -> Vec<String> {
    let allowed = ["src/retry/", "src/health/", "src/sim/"];
    if !in_src(source) || source.is_in(&allowed) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let mut before = "";
    for (at, word) in words(&source.code) {
        let called = source.code[at + word.len()..].trim_start().starts_with('(');
        let defined =
            before == "fn" && ["backoff", "delay", "jitter"].iter().any(|w| word.contains(w));
        if defined || (called && GROWTH.contains(&word)) {
            findings.push(source.at(at, &format!("`{word}` looks like a second backoff")));
        }
        before = word;
    }
    findings
}

pub(crate) fn panics(source: &Source) -> Vec<String> {
    if !in_src(source) {
        return Vec::new();
    }
    calls(source, &PANICS, "can panic, or is left over")
}

pub(crate) fn unsafe_code(source: &Source) -> Vec<String> {
    if !in_src(source) {
        return Vec::new();
    }
    let found = words(&source.code).filter(|(_, word)| *word == "unsafe");
    found.map(|(at, _)| source.at(at, "is unsafe")).collect()
}

pub(crate) fn crate_attributes(lib: &Source) -> Vec<String> {
    let wanted = ["#![no_std]", "#![forbid(unsafe_code)]"];
    let missing = wanted.iter().filter(|wanted| !lib.code.lines().any(|line| line == **wanted));
    missing.map(|wanted| lib.at(0, &format!("lacks `{wanted}`"))).collect()
}

pub(crate) fn gated_logic(source: &Source) -> Vec<String> {
    if !in_src(source) {
        return Vec::new();
    }
    let gates = ["cfg", "cfg_attr", "cfg_select"];
    let found = words(&source.code).filter(|(at, word)| {
        let Some(open) = source.code[*at..].find(['(', '{']).filter(|_| gates.contains(word))
        else {
            return false;
        };
        let asked = &source.code[*at..closing(&source.code, at + open)];
        source.in_body(*at)
            && !source.in_test(*at)
            && words(asked).any(|(_, word)| word == "feature")
    });
    found.map(|(at, _)| source.at(at, "asks for a feature inside a function")).collect()
}

pub(crate) fn hollow_tests(source: &Source) -> Vec<String> {
    let mut findings = Vec::new();
    for banned in ["#[ignore", "assert!(true"] {
        let found = source.code.match_indices(banned);
        let found = found.filter(|(at, _)| !source.code[at + banned.len()..].starts_with(is_word));
        findings.extend(found.map(|(at, _)| source.at(at, &format!("has `{banned}`"))));
    }
    let path = paths(&source.code).into_iter().filter(|path| path.ends_with(&["thread", "sleep"]));
    findings.extend(path.map(|path| source.at(path.offset, "sleeps by the wall clock")));
    findings
}

/// Every feature has its row in the table of `lib.rs`, and every row its feature.
pub(crate) fn feature_table(manifest: &str, lib: &Source) -> Vec<String> {
    let keys = section(manifest, "features").lines().filter_map(|line| line.split_once(" = "));
    let features: Vec<&str> =
        keys.map(|(key, _)| key).filter(|key| !key.starts_with('#') && *key != "default").collect();
    let rows: Vec<&str> = lib
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("//! | `")?.split_once('`'))
        .map(|(name, _)| name)
        .collect();
    let missing = features.iter().filter(|feature| !rows.contains(feature));
    let mut findings: Vec<String> =
        missing.map(|name| lib.at(0, &format!("no row for the feature `{name}`"))).collect();
    let unknown = rows.iter().filter(|row| !features.contains(row));
    findings.extend(unknown.map(|row| lib.at(0, &format!("a row for no feature: `{row}`"))));
    findings
}

/// A table of a manifest, without its heading.
fn section<'a>(manifest: &'a str, name: &str) -> &'a str {
    let heading = format!("{name}]\n");
    manifest.split("\n[").find_map(|part| part.strip_prefix(&*heading)).unwrap_or_default()
}

/// Words that tell where somebody worked and mean nothing to a reader. Spelt in halves, so that
/// this file passes its own rule.
pub(crate) fn private_words(path: &str, text: &str) -> Vec<String> {
    let private = [
        concat!("/wo", "rk/"),
        concat!("/ro", "ot/"),
        concat!("/ho", "me/"),
        concat!("/Use", "rs/"),
        concat!("sub", "agent"),
    ];
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if private.iter().any(|word| line.contains(word)) {
            findings.push(format!("{path}:{}: a private path or word", index + 1));
        }
    }
    findings
}

/// The places outside tests where one of these calls stands, as a whole word.
fn calls(source: &Source, banned: &[&str], what: &str) -> Vec<String> {
    let mut findings = Vec::new();
    for call in banned {
        for (at, _) in source.code.match_indices(call) {
            let whole = call.starts_with('.') || !source.code[..at].ends_with(is_word);
            if whole && !source.in_test(at) {
                findings.push(source.at(at, &format!("`{call}` {what}")));
            }
        }
    }
    findings
}

fn in_src(source: &Source) -> bool {
    source.is_in(&["src/"])
}

/// Whether the file belongs to one of these root modules.
fn in_any(source: &Source, modules: &[&str]) -> bool {
    let inside = source.path.strip_prefix("src/").unwrap_or_default();
    modules.iter().any(|module| {
        inside.strip_prefix(module).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
    })
}
