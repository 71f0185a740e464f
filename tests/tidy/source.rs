//! One Rust file as the rules see it: comments and literals blanked, regions marked.
//!
//! Not a parser. It knows just enough of the language (comments, literals, braces) that a banned
//! word in a comment or in a message is not taken for code.

use std::ops::Range;

/// A file, its path relative to the repository and with `/` between the parts.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
    /// The text with comments and the insides of literals as spaces; offsets stay the same.
    pub(crate) code: String,
    /// The text with comments alone as spaces.
    pub(crate) uncommented: String,
    tests: Vec<Range<usize>>,
    bodies: Vec<Range<usize>>,
    modules: Vec<(String, Range<usize>)>,
}

impl Source {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        let (comments, literals) = scan(text.as_bytes());
        let uncommented = blank(text, &comments);
        let code = blank(&uncommented, &literals);
        let tests = test_regions(&code);
        let bodies = blocks_after(&code, "fn").into_iter().map(|(_, range)| range).collect();
        let modules = blocks_after(&code, "mod");
        Self { path: path.into(), text: text.into(), code, uncommented, tests, bodies, modules }
    }

    /// A finding that points at a place.
    pub(crate) fn at(&self, offset: usize, what: &str) -> String {
        let line = self.text.as_bytes()[..offset].iter().filter(|b| **b == b'\n').count() + 1;
        format!("{}:{line}: {what}", self.path)
    }

    /// Whether a place lies in an item that only a test build compiles.
    pub(crate) fn in_test(&self, offset: usize) -> bool {
        self.tests.iter().any(|range| range.contains(&offset))
    }

    /// The files (and folders) of the modules that are declared here for test builds alone.
    pub(crate) fn test_files(&self) -> Vec<String> {
        let folder = match self.path.strip_suffix("mod.rs").or(self.path.strip_suffix("lib.rs")) {
            Some(folder) => folder.to_owned(),
            None => self.path.replace(".rs", "/"),
        };
        let declared = self.tests.iter().filter_map(|range| {
            let item = self.code[range.clone()].strip_suffix(';')?;
            let (before, name) = item.rsplit_once(' ')?;
            before.ends_with("mod").then(|| format!("{folder}{name}"))
        });
        declared.flat_map(|path| [format!("{path}.rs"), format!("{path}/")]).collect()
    }

    /// Takes the whole file for test code.
    pub(crate) fn mark_as_test(&mut self) {
        self.tests = std::iter::once(0..self.text.len()).collect();
    }

    /// Whether a place lies in the body of a function.
    pub(crate) fn in_body(&self, offset: usize) -> bool {
        self.bodies.iter().any(|range| range.contains(&offset))
    }

    /// The names of the modules written inline around a place, from the outside in.
    pub(crate) fn modules_around(&self, offset: usize) -> impl Iterator<Item = &str> {
        self.modules.iter().filter(move |(_, range)| range.contains(&offset)).map(|(n, _)| &**n)
    }

    /// Whether the file lies in one of these folders or is one of these files.
    pub(crate) fn is_in(&self, places: &[&str]) -> bool {
        places.iter().any(|place| match place.ends_with('/') {
            true => self.path.starts_with(place),
            false => self.path == *place,
        })
    }
}

/// Every identifier and keyword with its offset.
pub(crate) fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + code[from..].find(is_word)?;
        let len = code[start..].find(|c| !is_word(c)).unwrap_or(code.len() - start);
        from = start + len;
        Some((start, &code[start..from]))
    })
}

/// The offset just past the bracket that closes the one at `open`.
pub(crate) fn closing(code: &str, open: usize) -> usize {
    let mut depth = 0_u32;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    code.len()
}

pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where the item that starts at `from` ends, and where its block opens if it has one.
fn item_end(code: &str, from: usize) -> (usize, Option<usize>) {
    let mut at = from;
    while let Some(found) = code[at..].find(['(', '[', '{', ';']) {
        at += found;
        match code.as_bytes()[at] {
            b';' => return (at + 1, None),
            b'{' => return (closing(code, at), Some(at)),
            _ => at = closing(code, at),
        }
    }
    (code.len(), None)
}

/// Name and block of each `keyword name .. { }`.
fn blocks_after(code: &str, keyword: &str) -> Vec<(String, Range<usize>)> {
    let mut found = Vec::new();
    let mut words = words(code).peekable();
    while let Some((at, word)) = words.next() {
        let Some((next, name)) = words.peek().copied() else { break };
        // `fn(u8)` is a type and has no name.
        if word == keyword
            && code[at + word.len()..next].trim().is_empty()
            && let (end, Some(open)) = item_end(code, next)
        {
            found.push((name.to_owned(), open..end));
        }
    }
    found
}

/// The items behind `#[cfg(test)]` or `#[cfg(all(test, ..))]`; the whole file behind `#![cfg(test)]`.
fn test_regions(code: &str) -> Vec<Range<usize>> {
    if code.contains("#![cfg(test)]") {
        return std::iter::once(0..code.len()).collect();
    }
    let mut regions = Vec::new();
    for attribute in ["#[cfg(test)]", "#[cfg(all(test,"] {
        for (start, _) in code.match_indices(attribute) {
            let mut from = closing(code, start + 1);
            while code[from..].trim_start().starts_with("#[") {
                from = closing(code, from + code[from..].find('[').unwrap_or(0));
            }
            regions.push(start..item_end(code, from).0);
        }
    }
    regions
}

fn blank(text: &str, ranges: &[Range<usize>]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for byte in ranges.iter().flat_map(|range| range.clone()) {
        if bytes[byte] != b'\n' {
            bytes[byte] = b' ';
        }
    }
    // The ranges start and end at ASCII, so no character was cut in two.
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Ranges of comments, and of the insides of string and character literals.
fn scan(text: &[u8]) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let (mut comments, mut literals) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let inside_word = at > 0 && is_word(char::from(text[at - 1]));
        if rest.starts_with(b"//") {
            let end = find(text, at, |tail| tail[0] == b'\n');
            comments.push(at..end);
            at = end;
        } else if rest.starts_with(b"/*") {
            let end = block_comment_end(text, at);
            comments.push(at..end);
            at = end;
        } else if rest[0] == b'"' {
            let end = string_end(text, at + 1);
            literals.push(at + 1..end);
            at = end + 1;
        } else if let Some(hashes) = raw_string(rest).filter(|_| !inside_word) {
            let open = at + find(rest, 0, |tail| tail[0] == b'"') + 1;
            let close = [&b"\""[..], &vec![b'#'; hashes]].concat();
            let end = find(text, open, |tail| tail.starts_with(&close));
            literals.push(open..end);
            at = end + close.len();
        } else if let Some(len) = character(rest) {
            literals.push(at + 1..at + len - 1);
            at += len;
        } else {
            at += 1;
        }
    }
    (comments, literals)
}

/// The first offset from `from` on where the rest of the text passes, or the end.
fn find(text: &[u8], from: usize, passes: impl Fn(&[u8]) -> bool) -> usize {
    (from..text.len()).find(|at| passes(&text[*at..])).unwrap_or(text.len())
}

fn block_comment_end(text: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0_u32);
    while at < text.len() {
        match &text[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn string_end(text: &[u8], mut at: usize) -> usize {
    while at < text.len() && text[at] != b'"' {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    at.min(text.len())
}

/// The number of hashes of a raw string that starts here.
fn raw_string(rest: &[u8]) -> Option<usize> {
    let prefix = ["br", "cr", "r"].iter().find(|prefix| rest.starts_with(prefix.as_bytes()))?;
    let hashes = rest[prefix.len()..].iter().take_while(|byte| **byte == b'#').count();
    (rest.get(prefix.len() + hashes) == Some(&b'"')).then_some(hashes)
}

/// The length of a character literal that starts here; a lifetime is none.
fn character(rest: &[u8]) -> Option<usize> {
    match rest {
        [b'\'', b'\\', _, tail @ ..] => {
            tail.iter().position(|byte| *byte == b'\'').map(|end| end + 4)
        }
        [b'\'', first, tail @ ..] => {
            let more = first.leading_ones().saturating_sub(1) as usize;
            (tail.get(more) == Some(&b'\'')).then_some(more + 3)
        }
        _ => None,
    }
}
