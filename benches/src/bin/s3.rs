//! Measures over an S3 server on loopback, on port PORT, and prints rows of a table in Markdown.
//!
//! `s3 callers PORT SECONDS` takes so long for each case. `s3 copy PORT FOLDER` keeps the mirror's
//! values below FOLDER, and fails where the copy takes more memory than it may.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use storage_mux_benches::s3;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [part, port, last] = &arguments[..] else { return usage() };
    let Ok(port) = port.parse() else { return usage() };
    let rows = match (part.as_str(), last.parse()) {
        ("callers", Ok(seconds)) => s3::callers(port, Duration::from_secs(seconds)),
        ("copy", _) => s3::copy(port, Path::new(last)),
        _ => return usage(),
    };
    rows.iter().for_each(|row| println!("{}", row.markdown()));
    let bounded = part != "copy" || rows.iter().all(|row| row.met != Some(false));
    if bounded { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn usage() -> ExitCode {
    eprintln!("usage: s3 callers PORT SECONDS | s3 copy PORT FOLDER");
    ExitCode::FAILURE
}
