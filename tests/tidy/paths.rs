//! The paths that a piece of code names, with `use` trees taken apart.

use crate::source::is_word;

/// A path such as `crate::error::MuxError`, and where it stands.
#[derive(Debug, PartialEq)]
pub(crate) struct Path {
    pub(crate) offset: usize,
    pub(crate) segments: Vec<String>,
}

impl Path {
    pub(crate) fn starts_with(&self, segments: &[&str]) -> bool {
        self.segments.len() >= segments.len()
            && segments.iter().eq(&self.segments[..segments.len()])
    }

    pub(crate) fn ends_with(&self, segments: &[&str]) -> bool {
        let skipped = self.segments.len().checked_sub(segments.len());
        skipped.is_some_and(|skipped| segments.iter().eq(&self.segments[skipped..]))
    }
}

/// Every path of two segments or more, in order. `use a::{b, c::d}` gives `a::b` and `a::c::d`.
pub(crate) fn paths(code: &str) -> Vec<Path> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = code[at..].find(is_word).map(|found| at + found) {
        at = Reader { code, found: &mut found }.path(start, &[]);
    }
    found.retain(|path| path.segments.len() > 1);
    found
}

struct Reader<'a> {
    code: &'a str,
    found: &'a mut Vec<Path>,
}

impl Reader<'_> {
    /// Reads one path (or one branch of a tree) and returns where it ended.
    fn path(&mut self, start: usize, prefix: &[String]) -> usize {
        let mut segments = prefix.to_vec();
        let mut at = start;
        loop {
            let len = self.code[at..].find(|c| !is_word(c)).unwrap_or(self.code.len() - at);
            if len == 0 {
                break;
            }
            segments.push(self.code[at..at + len].to_owned());
            at += len;
            let Some(next) = self.past_colons(at) else { break };
            if self.code[next..].starts_with('{') {
                return self.group(next + 1, &segments);
            }
            if self.code[next..].starts_with('*') {
                segments.push("*".into());
                at = next + 1;
                break;
            }
            if !self.code[next..].starts_with(is_word) {
                break;
            }
            at = next;
        }
        self.found.push(Path { offset: start, segments });
        at
    }

    /// Reads the branches of a group up to its closing brace.
    fn group(&mut self, open: usize, prefix: &[String]) -> usize {
        let mut at = open;
        while let Some(next) = self.code[at..].find(|c: char| !c.is_whitespace() && c != ',') {
            at += next;
            if self.code[at..].starts_with('}') {
                return at + 1;
            }
            if self.code[at..].starts_with('*') {
                let segments = [prefix, &["*".into()]].concat();
                self.found.push(Path { offset: at, segments });
                at += 1;
                continue;
            }
            at = self.path(at, prefix).max(at + 1);
            // A renaming, `as name`, is no path of its own.
            if self.code[at..].trim_start().starts_with("as ") {
                at += self.code[at..].find([',', '}']).unwrap_or(0);
            }
        }
        self.code.len()
    }

    /// The offset of what follows `::`, if it follows.
    fn past_colons(&self, at: usize) -> Option<usize> {
        let rest = self.code[at..].trim_start().strip_prefix("::")?.trim_start();
        Some(self.code.len() - rest.len())
    }
}
