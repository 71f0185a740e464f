//! Each rule fails on what it bans and passes what it allows.

use crate::layers::{Root, upward_paths};
use crate::paths::paths;
use crate::rules::{self, MAX_LINES};
use crate::source::Source;

type Rule = fn(&Source) -> Vec<String>;

/// How often a rule finds something in a file.
fn count(rule: Rule, path: &str, text: &str) -> usize {
    rule(&Source::new(path, text)).len()
}

fn fails(rule: Rule, path: &str, text: &str) {
    assert_eq!(count(rule, path, text), 1, "one finding expected in {path}:\n{text}");
}

fn passes(rule: Rule, path: &str, text: &str) {
    assert_eq!(count(rule, path, text), 0, "no finding expected in {path}:\n{text}");
}

fn layers(path: &str, text: &str) -> Vec<String> {
    let lib = "pub use error::{MuxCode, StorageError};\npub use retry::Backoff;\nmod retry;";
    upward_paths(&Source::new(path, text), &Root::new(lib))
}

#[test]
fn comments_and_literals_are_not_code() {
    let text = r##"
        // panic!("a")  /* panic!("b") /* nested */ panic!("c") */
        let a = "panic!( \" panic!("; let b = r#"panic!(" panic!("#; let c = b"panic!(";
        let quote = '"'; let tick = '\''; let long = '\u{22}'; let wide = 'é';
        fn f<'a>(x: &'a str) -> &'a str { x }
        /* panic!( /* panic!( */ panic!( */
    "##;
    passes(rules::panics, "src/mux/a.rs", text);
    fails(rules::panics, "src/mux/a.rs", &format!("{text} fn g() {{ panic!() }}"));
}

#[test]
fn a_use_tree_is_taken_apart() {
    let found = paths("use a::{self, b::{C, d::*}, e as f}; g::<h>(); let i = ::j::k();");
    let flat: Vec<String> = found.iter().map(|path| path.segments.join("::")).collect();
    assert_eq!(flat, ["a::self", "a::b::C", "a::b::d::*", "a::e", "j::k"]);
}

#[test]
fn a_finding_points_at_its_line() {
    let source = Source::new("src/mux/a.rs", "//! A.\n\nfn f() {\n    todo!()\n}\n");
    assert!(rules::panics(&source)[0].starts_with("src/mux/a.rs:4: "));
}

#[test]
fn a_module_for_test_builds_is_known_by_its_file() {
    let files = |path, text| Source::new(path, text).test_files();
    let tests = "#[cfg(all(test, feature = \"sim\"))]\nmod tests;\nmod other;";
    assert_eq!(files("src/memory/mod.rs", tests), ["src/memory/tests.rs", "src/memory/tests/"]);
    assert_eq!(files("src/memory.rs", tests), ["src/memory/tests.rs", "src/memory/tests/"]);
    assert!(files("src/memory.rs", "mod tests;\n#[cfg(test)]\nmod a {}").is_empty());
    let mut source = Source::new("src/memory/tests.rs", "fn f() { panic!() }");
    assert_eq!(rules::panics(&source).len(), 1);
    source.mark_as_test();
    assert!(rules::panics(&source).is_empty());
}

#[test]
fn a_file_one_line_too_long_is_found() {
    passes(rules::long_files, "tests/a.rs", &"\n".repeat(MAX_LINES));
    fails(rules::long_files, "tests/a.rs", &"\n".repeat(MAX_LINES + 1));
}

#[test]
fn a_file_without_a_header_is_found() {
    passes(rules::missing_headers, "src/a.rs", "//! What it is for.\n");
    fails(rules::missing_headers, "src/a.rs", "// A remark.\n");
    fails(rules::missing_headers, "src/a.rs", "\n//! Too late.\n");
}

#[test]
fn an_upward_path_is_found_however_it_is_written() {
    for text in [
        "use crate::mux::Builder;",
        "use crate::{error::MuxError, mux::Builder};",
        "fn f() { crate::mux::f() }",
        "use super::super::mux;",
        "mod inner { use super::super::super::mux::Builder; }",
        "macro_rules! m { () => { $crate::mux::f() } }",
    ] {
        assert_eq!(layers("src/drive/race.rs", text).len(), 1, "{text}");
    }
    assert_eq!(layers("src/drive/mod.rs", "use super::{error::E, mux};").len(), 1);
    assert_eq!(
        layers("src/port/a.rs", "use crate::Backoff;"),
        ["src/port/a.rs:1: `port` must not name `retry`"]
    );
}

#[test]
fn a_downward_path_passes() {
    for text in [
        "use crate::health::Health; use crate::{port::Clock, retry::Backoff, StorageError};",
        "use super::in_turn; use super::super::port; mod inner { use super::super::race; }",
        "// crate::mux\n const A: &str = \"crate::mux::\";",
    ] {
        assert!(layers("src/drive/race.rs", text).is_empty(), "{text}");
    }
    assert!(layers("src/time.rs", "use crate::error::MuxError; use crate::sync;").is_empty());
    assert!(layers("tests/a.rs", "use storage_mux::mux;").is_empty());
    assert!(layers("src/lib.rs", "pub use mux::Builder;").is_empty());
}

#[test]
fn peers_that_must_stand_alone_are_found() {
    assert_eq!(layers("src/health/mod.rs", "use crate::stats::Stats;").len(), 1);
    assert_eq!(layers("src/mode/shield.rs", "use crate::Backoff;").len(), 1);
    assert_eq!(layers("src/backend/opendal.rs", "use crate::telemetry::Span;").len(), 1);
    assert_eq!(layers("src/runtime/tokio.rs", "use crate::backend::Store;").len(), 1);
    assert!(layers("src/backend/opendal.rs", "use crate::runtime::off_thread;").is_empty());
    assert_eq!(layers("src/backend/opendal.rs", "use crate::config::MuxConfig;").len(), 1);
    assert_eq!(layers("src/backend/opendal.rs", "use crate::memory::MemoryStorage;").len(), 1);
    assert!(layers("src/config/stores.rs", "use crate::{backend::A, memory::B};").is_empty());
    assert!(layers("src/mode/shield.rs", "use crate::mode::Plan;").is_empty());
}

#[test]
fn what_stands_beside_the_layers_sees_words_and_ports_and_is_seen_by_tests_alone() {
    assert!(layers("src/memory.rs", "use crate::port::Page; use crate::sync::Lock;").is_empty());
    assert_eq!(layers("src/memory.rs", "use crate::roster::Entry;").len(), 1);
    assert_eq!(layers("src/conformance/mod.rs", "use crate::sim::FakeClock;").len(), 1);
    assert_eq!(layers("src/mux/mod.rs", "use crate::memory::MemoryStorage;").len(), 1);
    assert!(layers("src/mux/mod.rs", "#[cfg(test)] mod tests { use crate::sim::run; }").is_empty());
    assert_eq!(layers("src/mux/mod.rs", "#[cfg(test)] mod tests {} use crate::sim::run;").len(), 1);
}

#[test]
fn a_module_without_a_layer_is_found() {
    assert_eq!(layers("src/util.rs", "").len(), 1);
    assert_eq!(layers("src/mux/mod.rs", "use crate::util::f;").len(), 1);
}

#[test]
fn a_runtime_outside_its_bindings_is_found() {
    let rule = rules::runtime_names;
    fails(rule, "src/drive/mod.rs", "use tokio::time;");
    fails(rule, "src/drive/mod.rs", "use ::smol;");
    fails(rule, "src/drive/race.rs", "#[cfg(feature = \"tokio\")]\nmod a;");
    fails(rule, "src/drive/mod.rs", "#[cfg(feature = \"tokio\")]\nfn f() {}");
    fails(
        rule,
        "src/drive/mod.rs",
        "#[cfg(feature = \"tokio\")]\nmod a;\nfn f() { cfg!(feature = \"wasm\"); }",
    );
    passes(
        rule,
        "src/lib.rs",
        "#[cfg(feature = \"tokio\")]\n#[doc = \"\"]\npub(crate) mod runtime;",
    );
    passes(
        rule,
        "src/lib.rs",
        "#[cfg(any(feature = \"tokio\", feature = \"smol\"))]\npub use a::B;",
    );
    fails(rule, "src/backend/web/work.rs", "use wasm_bindgen_futures::JsFuture;");
    fails(rule, "src/backend/other.rs", "use js_sys::Array;");
    passes(rule, "src/backend/web/work.rs", "use js_sys::Array;");
    passes(rule, "src/runtime/tokio.rs", "use ::tokio::time;");
    passes(rule, "tests/a.rs", "use tokio::time;");
    passes(rule, "src/drive/mod.rs", "/// As under tokio.\nfn tokio_like() {}");
}

#[test]
fn each_crate_of_each_runtime_is_found() {
    let rule = rules::runtime_names;
    let of_each: [&[&str]; 6] = [
        &["tokio", "tokio_stream", "tokio_util"],
        &["smol", "async_io", "async_executor", "async_task"],
        &["async_std", "async_global_executor"],
        &["embassy_time", "embassy_time_driver", "embassy_executor"],
        &["wasm_bindgen", "wasm_bindgen_futures", "js_sys", "web_sys", "gloo_net", "gloo_timers"],
        &["web_time", "futures_timer", "getrandom"],
    ];
    for name in of_each.concat() {
        let import = format!("use ::{name}::A;");
        for path in ["src/drive/race.rs", "src/lib.rs", "src/backend/other.rs", "src/sync/a.rs"] {
            fails(rule, path, &import);
            fails(rule, path, &format!("fn f() {{ {name}::f(); }}"));
        }
        passes(rule, "src/runtime/a.rs", &import);
        passes(rule, "src/drive/race.rs", &format!("use a::not_{name};"));
        // The storages of a host may name their platform, and nothing that runs or waits.
        let platform = ["wasm_bindgen", "js_sys", "web_sys"].contains(&name);
        assert_eq!(count(rule, "src/backend/web/a.rs", &import), usize::from(!platform), "{name}");
    }
    assert_eq!(of_each.concat().len(), rules::RUNTIMES.len(), "a name is not tried");
    for feature in ["tokio", "smol", "async-std", "embassy", "wasm"] {
        fails(rule, "src/drive/race.rs", &format!("#[cfg(feature = \"{feature}\")]\nmod a;"));
    }
}

#[test]
fn a_crate_of_a_runtime_that_the_rule_does_not_know_is_found() {
    let manifest = |brings: &str| format!("a\n[features]\nsmol = [{brings}]\nb = [\"dep:c\"]\n");
    let found = |brings: &str| rules::unknown_runtimes(&manifest(brings)).len();
    assert_eq!(found("\"std\", \"dep:async-io\""), 0);
    assert_eq!(found("\"std\", \"dep:async-io\", \"dep:new-runtime\""), 1);
}

#[test]
fn std_where_it_has_no_place_is_found() {
    fails(rules::std_paths, "src/mux/mod.rs", "use std::io;");
    fails(rules::std_paths, "src/error/mux.rs", "fn f() -> ::std::string::String {}");
    passes(rules::std_paths, "src/error/io.rs", "use std::io;");
    passes(rules::std_paths, "src/sync/lock.rs", "use std::sync::Mutex;");
    passes(rules::std_paths, "src/mux/mod.rs", "#[cfg(test)]\nmod tests { use std::io; }");
    passes(rules::std_paths, "src/mux/mod.rs", "use core::fmt;\n//! use std::io;");
}

#[test]
fn an_arc_or_atomic_past_the_sync_module_is_found() {
    let rule = rules::unshared_atomics;
    fails(rule, "src/mux/mod.rs", "use alloc::sync::Arc;");
    fails(rule, "src/mux/mod.rs", "use alloc::{sync::Arc, vec::Vec};");
    fails(rule, "src/mux/mod.rs", "use core::sync::atomic::AtomicU32;");
    fails(rule, "src/runtime/tokio.rs", "use std::sync::Arc;");
    fails(rule, "src/runtime/tokio.rs", "use std::sync::{OnceLock, atomic::AtomicBool};");
    passes(rule, "src/runtime/tokio.rs", "use std::sync::OnceLock;");
    passes(rule, "src/sync/mod.rs", "use alloc::sync::Arc;");
    passes(rule, "src/mux/mod.rs", "use crate::sync::Arc;");
}

#[test]
fn a_decision_that_reads_a_clock_or_awaits_is_found() {
    let (reads, waits) = (rules::clock_reads, rules::async_decisions);
    fails(reads, "src/health/probe.rs", "fn f(c: C) { c.now(); }");
    fails(reads, "src/retry/backoff.rs", "fn f(c: C) { Clock::now(&c); }");
    fails(reads, "src/time.rs", "fn f(c: C) { c.now(); }");
    passes(reads, "src/retry/breaker/call.rs", "fn f(c: C) { c.now(); }");
    passes(reads, "src/drive/attempt.rs", "fn f(c: C) { c.now(); }");
    passes(reads, "src/health/probe.rs", "#[cfg(test)]\nmod tests { fn f(c: C) { c.now(); } }");
    fails(waits, "src/mode/mirror.rs", "async fn f() {}");
    fails(waits, "src/error/mux.rs", "fn f() { g().await }");
    passes(waits, "src/sync/abort.rs", "async fn f() {}");
    passes(waits, "src/retry/run.rs", "async fn f() {}");
    passes(waits, "src/mode/mirror.rs", "/// async\nfn f() {}");
}

#[test]
fn a_sleep_or_backoff_of_its_own_is_found() {
    let (sleeps, backoffs) = (rules::sleeps, rules::second_backoffs);
    fails(sleeps, "src/mux/operations.rs", "fn f(c: C) { c.sleep(D); }");
    fails(sleeps, "src/health/probe.rs", "fn f(c: C) { Clock::sleep(&c, D); }");
    passes(sleeps, "src/mux/health_check.rs", "fn f(c: C) { c.sleep(D); }");
    passes(sleeps, "src/retry/run.rs", "fn f(c: C) { c.sleep(D); }");
    fails(
        backoffs,
        "src/drive/attempt.rs",
        "fn f(n: u32) { D.saturating_mul(2_u32.saturating_pow(n)); }",
    );
    fails(backoffs, "src/drive/attempt.rs", "fn next_delay() {}");
    passes(backoffs, "src/health/cooldown.rs", "fn delay(n: u32) { 2_u32.pow(n); }");
    passes(
        backoffs,
        "src/mux/options.rs",
        "use crate::retry::Backoff; fn f(pow: u32) { pow + 1; }",
    );
}

#[test]
fn a_call_that_panics_is_found() {
    for call in ["todo!()", "dbg!(a)", "a.unwrap()", "a\n    .expect(\"\")", "core::panic!()"] {
        let code = format!("fn f() {{ {call} }}");
        fails(rules::panics, "src/mux/mod.rs", &code);
        passes(rules::panics, "tests/a.rs", &code);
        passes(rules::panics, "src/mux/mod.rs", &format!("#[cfg(test)]\nmod tests {{ {code} }}"));
        passes(rules::panics, "src/mux/tests.rs", &format!("#![cfg(test)]\n{code}"));
        passes(rules::panics, "src/mux/mod.rs", &format!("/// `{}`", call.replace('\n', " ")));
        let after = format!("#[cfg(test)]\n#[path = \"t.rs\"]\nmod tests;\n{code}");
        fails(rules::panics, "src/mux/mod.rs", &after);
    }
    passes(rules::panics, "src/mux/mod.rs", "fn f() { a.unwrap_or(1); my_panic!(); }");
}

#[test]
fn unsafe_code_and_missing_crate_attributes_are_found() {
    fails(rules::unsafe_code, "src/sync/lock.rs", "unsafe impl Send for A {}");
    passes(rules::unsafe_code, "src/lib.rs", "#![forbid(unsafe_code)]\n// unsafe\n");
    let rule = rules::crate_attributes;
    passes(rule, "src/lib.rs", "//! A.\n#![no_std]\n#![forbid(unsafe_code)]\n");
    fails(rule, "src/lib.rs", "#![forbid(unsafe_code)]\n");
    fails(rule, "src/lib.rs", "#![no_std]\n//! #![forbid(unsafe_code)]\n");
}

#[test]
fn a_feature_asked_for_inside_a_function_is_found() {
    let rule = rules::gated_logic;
    fails(rule, "src/mux/mod.rs", "fn f() { #[cfg(feature = \"std\")] g(); }");
    fails(rule, "src/mux/mod.rs", "fn f() { if cfg!(any(unix, feature = \"std\")) { g() } }");
    passes(rule, "src/mux/mod.rs", "#[cfg(feature = \"std\")]\nfn f() { g(); }");
    passes(rule, "src/mux/mod.rs", "#[cfg_attr(feature = \"defmt\", derive(F))]\nstruct A;");
    passes(rule, "src/mux/mod.rs", "trait T { fn f(&self); }\n#[cfg(feature = \"std\")]\nmod a {}");
}

#[test]
fn a_test_that_shows_nothing_is_found() {
    let rule = rules::hollow_tests;
    fails(rule, "tests/a.rs", "#[test]\n#[ignore = \"slow\"]\nfn f() {}");
    fails(rule, "tests/a.rs", "#[test]\nfn f() { assert!(true); }");
    fails(rule, "tests/a.rs", "fn f() { std::thread::sleep(D); }");
    fails(rule, "tests/a.rs", "use std::thread::{sleep, spawn};");
    passes(rule, "tests/a.rs", "#[test]\nfn f() { assert!(true_enough); clock.sleep(D); }");
}

#[test]
fn a_feature_without_a_row_and_a_row_without_a_feature_are_found() {
    let manifest = "[package]\nname = \"a\"\n\n[features]\ndefault = []\n# Why.\nstd = []\nsim = [\n    \"std\",\n]\n\n[dependencies]\nb = \"1\"\n";
    let table = |text: &str| rules::feature_table(manifest, &Source::new("src/lib.rs", text)).len();
    assert_eq!(table("//! | `std` | a |\n//! | `sim` | b |\n"), 0);
    assert_eq!(table("//! | `std` | a |\n"), 1);
    assert_eq!(table("//! | `std` | a |\n//! | `sim` | b |\n//! | `b` | c |\n"), 1);
}

#[test]
fn a_private_path_is_found() {
    let path = concat!("see /wo", "rk/main");
    assert_eq!(rules::private_words("README.md", path).len(), 1);
    assert_eq!(rules::private_words("README.md", "a framework/module").len(), 0);
}
