//! JSON: the report as it is. `docs/report.schema.json` describes it.

use espbench_measure::report::Report;
use espbench_model::untrusted::is_unsafe;
use serde::Serialize;
use serde_json::ser::Formatter;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Lists and objects up to this depth have a line for each member: one cell, one table row, one
/// series a line. Deeper ones stand on one line, which keeps the file small.
const LINES: usize = 2;

/// Renders the report as JSON, ended by a line feed.
#[must_use]
pub fn render(report: &Report) -> String {
    let mut bytes = Vec::new();
    let mut serializer =
        serde_json::Serializer::with_formatter(&mut bytes, Lines { depth: 0, empty: true });
    // Maps have text keys and every number is finite (the builder sees to that), which are the two
    // ways in which writing JSON to memory can fail.
    report.serialize(&mut serializer).expect("a report is plain data");
    bytes.push(b'\n');
    escaped(String::from_utf8(bytes).expect("JSON is UTF-8"))
}

/// Renders any value as JSON with a line for each member, ended by a line feed.
///
/// # Errors
/// It has a map whose keys are no text.
pub fn pretty<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<String> {
    serde_json::to_string_pretty(value).map(|text| escaped(text + "\n"))
}

/// Writes the characters of JSON that a terminal would obey, all of them within strings, as escapes.
#[must_use]
pub fn escaped(json: String) -> String {
    let is_wrong = |it: char| it != '\n' && is_unsafe(it);
    if !json.contains(is_wrong) {
        return json;
    }
    let mut text = String::with_capacity(json.len() + 64);
    for it in json.chars() {
        if is_wrong(it) {
            // None is beyond the basic plane.
            let _ = write!(text, "\\u{:04x}", u32::from(it));
        } else {
            text.push(it);
        }
    }
    text
}

/// Breaks lines near the root only.
struct Lines {
    depth: usize,
    empty: bool,
}

impl Lines {
    fn open<W: ?Sized + Write>(&mut self, out: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.empty = true;
        out.write_all(bracket)
    }

    fn close<W: ?Sized + Write>(&mut self, out: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        if self.depth < LINES && !self.empty {
            self.line(out)?;
        }
        self.empty = false;
        out.write_all(bracket)
    }

    fn member<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.empty = false;
        if !first {
            out.write_all(b",")?;
        }
        if self.depth <= LINES {
            return self.line(out);
        }
        if first { Ok(()) } else { out.write_all(b" ") }
    }

    fn line<W: ?Sized + Write>(&self, out: &mut W) -> io::Result<()> {
        out.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| out.write_all(b" "))
    }
}

impl Formatter for Lines {
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.open(out, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.close(out, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.member(out, first)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.open(out, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.close(out, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.member(out, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }
}
