//! The direction of the arrows: a module names only what lies below it.

use crate::paths::paths;
use crate::source::Source;

/// The layers from the bottom up, each with its root modules.
const LAYERS: [(&str, &[&str]); 9] = [
    ("words", &WORDS),
    ("ports", &["port"]),
    ("parts", &PARTS),
    ("roster", &["roster"]),
    ("drivers", &["drive"]),
    ("mux", &["mux"]),
    // Below the other bindings: a store that needs a runtime must not name it itself.
    ("runtimes", &["runtime"]),
    ("bindings", &["backend", "telemetry"]),
    ("assembly", &["config"]),
];

/// Plain values. The only layer whose modules may name one another.
pub(crate) const WORDS: [&str; 7] = ["time", "rng", "key", "name", "mux_mode", "error", "sync"];

/// Each works and is tested alone.
pub(crate) const PARTS: [&str; 4] = ["mode", "health", "stats", "retry"];

/// Beside the layers: these see words and ports, and only the topmost layer sees them.
const BESIDE: [&str; 4] = ["memory", "conformance", "sim", "guide"];

/// The layers whose modules are peers and must not name one another.
const APART: [&str; 2] = ["parts", "bindings"];

/// What a name at the root of the crate belongs to: `AbortSignal` to `sync`.
pub(crate) struct Root(Vec<(String, String)>);

impl Root {
    /// Reads the re-exports of `lib.rs`.
    pub(crate) fn new(lib: &str) -> Self {
        let exported = paths(&Source::new("src/lib.rs", lib).code)
            .into_iter()
            .filter_map(|path| Some((path.segments.last()?.clone(), path.segments[0].clone())));
        Self(exported.collect())
    }

    /// The root module behind a name; a name that is no re-export is a module itself.
    fn module<'a>(&'a self, name: &'a str) -> &'a str {
        self.0.iter().find(|(exported, _)| exported == name).map_or(name, |(_, module)| module)
    }
}

/// A layer names what lies above it, or a peer that it must not know.
pub(crate) fn upward_paths(source: &Source, root: &Root) -> Vec<String> {
    let Some(file) = module_path(&source.path) else { return Vec::new() };
    let Some(own) = file.first().copied() else { return Vec::new() };
    if place(own).is_none() {
        return vec![source.at(0, &format!("module `{own}` has no layer: add it to the table"))];
    }
    let mut findings = Vec::new();
    for path in paths(&source.code) {
        let Some(name) = at_root(&path.segments, &file, source.modules_around(path.offset)) else {
            continue;
        };
        let to = root.module(name);
        let for_tests = source.in_test(path.offset) && BESIDE.contains(&to);
        if !for_tests && !may_name(own, to) {
            findings.push(source.at(path.offset, &format!("`{own}` must not name `{to}`")));
        }
    }
    findings
}

/// Whether a module may name another.
fn may_name(from: &str, to: &str) -> bool {
    let (Some(below), Some(above)) = (place(to), place(from)) else { return false };
    match (above, below) {
        _ if from == to => true,
        (Place::Layer(above), Place::Beside) => LAYERS[above].0 == "assembly",
        (Place::Beside, Place::Beside) => false,
        (Place::Beside, Place::Layer(below)) => below <= 1,
        (Place::Layer(above), Place::Layer(below)) => {
            below < above || (below == above && !APART.contains(&LAYERS[above].0))
        }
    }
}

enum Place {
    Layer(usize),
    Beside,
}

fn place(module: &str) -> Option<Place> {
    let layer = LAYERS.iter().position(|(_, modules)| modules.contains(&module));
    let beside = BESIDE.contains(&module).then_some(Place::Beside);
    layer.map(Place::Layer).or(beside)
}

/// The module that a file is: `src/sync/abort.rs` is `sync`, `abort`. None outside `src`.
fn module_path(path: &str) -> Option<Vec<&str>> {
    let path = path.strip_prefix("src/")?.strip_suffix(".rs")?;
    let path = path.strip_suffix("/mod").unwrap_or(path);
    Some(if path == "lib" { Vec::new() } else { path.split('/').collect() })
}

/// The name that a path takes from the root of the crate, if it starts or climbs there.
fn at_root<'a>(
    segments: &'a [String],
    file: &[&str],
    inline: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let climbed = segments.iter().take_while(|segment| *segment == "super").count();
    let depth = file.len() + inline.count();
    match segments.first()?.as_str() {
        "crate" | "storage_mux" => segments.get(1),
        "super" if climbed == depth => segments.get(climbed),
        _ => None,
    }
    .map(String::as_str)
}
