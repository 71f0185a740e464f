//! Any text as a configuration: an error of one line that shows no secret, or a mux.
#![no_main]

use libfuzzer_sys::fuzz_target;
use storage_mux::SeededRng;
use storage_mux::config::MuxConfig;
use storage_mux::sim::FakeClock;

/// A word that no parser says by itself.
const SECRET: &str = "zq7-hunter2-x9k";

fuzz_target!(|text: &str| {
    check(text);
    // The same with a secret for every text in quotes.
    let mut quoted = String::new();
    for (at, part) in text.split('"').enumerate() {
        if at > 0 {
            quoted.push('"');
        }
        let is_value = at % 2 == 1 && !part.contains("://") && part.len() > 12;
        quoted.push_str(if is_value { SECRET } else { part });
    }
    check(&quoted);
});

fn check(text: &str) {
    match MuxConfig::parse(text) {
        Err(error) => {
            let shown = error.to_string();
            assert_eq!(shown.lines().count(), 1, "{shown:?}");
            assert!(error.line.is_none_or(|line| line <= text.lines().count() + 1), "{shown}");
            let is_name = error.backend.as_deref() == Some(SECRET) || error.key.contains(SECRET);
            assert!(is_name || error.key == "mode" || !shown.contains(SECRET), "{shown}");
        }
        Ok(config) => {
            // Names and variables alone: no file and no socket is opened by memory.
            if text.contains("file:") || text.contains("s3:") || text.contains("redis") {
                return;
            }
            let builder = config.builder_with(|_| None, FakeClock::new(), SeededRng::new(1));
            if let Ok(builder) = builder {
                let _ = builder.build().map(|mux| mux.stats());
            }
        }
    }
}
