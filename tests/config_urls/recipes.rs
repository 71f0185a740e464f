//! The documents that the README and the module show.

use storage_mux::config::MuxConfig;

/// What stands between ```toml and ``` in a text, comment marks taken off.
fn documents(text: &str) -> Vec<String> {
    let plain: Vec<&str> = text
        .lines()
        .map(|line| line.strip_prefix("//! ").or(line.strip_prefix("//!")).unwrap_or(line))
        .collect();
    let plain = plain.join("\n");
    plain
        .split("```toml\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .filter(|document| document.contains("[[backend]]"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_document_that_is_shown_is_a_good_one() {
    for (text, count) in
        [(include_str!("../../README.md"), 3), (include_str!("../../src/config/mod.rs"), 1)]
    {
        let shown = documents(text);
        assert_eq!(shown.len(), count);
        for document in shown {
            let config = MuxConfig::parse(&document);
            let config = config.unwrap_or_else(|error| panic!("{error} in\n{document}"));
            assert_eq!(config.backend_names().len(), 2, "{document}");
        }
    }
}
