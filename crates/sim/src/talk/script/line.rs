//! Reading one line of a script, word by word, with the column for errors.

use super::ScriptParseError;
use crate::lab::nodes::device::NodeId;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

/// Most characters of what is wrong that an error shows.
const SHOWN: usize = 24;

pub(super) struct ScriptLine<'a> {
    pub(super) number: u32,
    /// Nodes of the fleet.
    pub(super) count: usize,
    text: &'a str,
    at: usize,
}

impl<'a> ScriptLine<'a> {
    pub(super) const fn new(text: &'a str, number: u32, count: usize) -> Self {
        Self { number, count, text, at: 0 }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Makes the error that the text here is not what is `wanted`.
    pub(super) fn wrong(&self, wanted: &str) -> ScriptParseError {
        let rest = self.rest();
        let end = rest.find([' ', '\t']).unwrap_or(rest.len());
        let found = rest[..end].chars().take(SHOWN).collect();
        let column = self.text[..self.at].chars().count() as u32 + 1;
        ScriptParseError { line: self.number, column, found, wanted: wanted.into() }
    }

    pub(super) fn blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Reads the next character.
    pub(super) fn next(&mut self) -> Option<char> {
        let next = self.rest().chars().next()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Takes exactly this, if it stands here.
    pub(super) fn eat(&mut self, what: &str) -> bool {
        let here = self.rest().starts_with(what);
        if here {
            self.at += what.len();
        }
        here
    }

    /// Takes this word and the blanks after it, if it stands here.
    pub(super) fn word(&mut self, what: &str) -> bool {
        let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        let here = self.rest().strip_prefix(what).is_some_and(ends);
        if here {
            self.at += what.len();
            self.blanks();
        }
        here
    }

    /// Checks that nothing follows but a comment.
    pub(super) fn end(&mut self) -> Result<(), ScriptParseError> {
        self.blanks();
        if self.rest().is_empty() || self.rest().starts_with('#') {
            Ok(())
        } else {
            Err(self.wrong("the end of the line"))
        }
    }

    /// Reads digits, with `_` between them for the reader.
    fn digits(&mut self) -> String {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(rest.len());
        self.at += end;
        rest[..end].chars().filter(|c| *c != '_').collect()
    }

    /// Reads a whole number and the blanks after it.
    pub(super) fn number(&mut self, wanted: &str) -> Result<u32, ScriptParseError> {
        let wrong = self.wrong(wanted);
        let number = self.digits().parse().map_err(|_| wrong)?;
        self.blanks();
        Ok(number)
    }

    /// Reads a number, perhaps with a fraction.
    pub(super) fn fraction(&mut self, wanted: &str) -> Result<f64, ScriptParseError> {
        let wrong = self.wrong(wanted);
        let mut text = self.digits();
        if self.eat(".") {
            text = format!("{text}.{}", self.digits());
        }
        text.parse().map_err(|_| wrong)
    }

    /// Reads a signal strength in dBm, perhaps with the unit.
    pub(super) fn dbm(&mut self) -> Result<i8, ScriptParseError> {
        let wanted = "`off` or a signal strength such as -70 (dBm)";
        let wrong = self.wrong(wanted);
        if !self.eat("-") {
            return Err(wrong);
        }
        let number: i8 = self.digits().parse().map_err(|_| wrong)?;
        self.blanks();
        self.word("dBm");
        Ok(-number)
    }

    /// Reads a time with its unit, and the blanks after it.
    pub(super) fn time(&mut self) -> Result<Duration, ScriptParseError> {
        let wanted = "a time with its unit, such as 500ms, 1.5s or 2min,";
        let wrong = self.wrong(wanted);
        let number = self.fraction(wanted)?;
        self.blanks();
        let units = [("us", 1e-6), ("ms", 1e-3), ("min", 60.0), ("s", 1.0)];
        let Some((_, unit)) = units.into_iter().find(|(unit, _)| self.word(unit)) else {
            return Err(wrong);
        };
        // No time of a day or more is meant seriously, and it would not fit for ever.
        let seconds = number * unit;
        if seconds > 86_400.0 {
            return Err(ScriptParseError { wanted: "a time of a day at most".into(), ..wrong });
        }
        Ok(Duration::from_nanos((seconds * 1e9 + 0.5) as u64))
    }

    /// Reads a text in quotes, and the blanks after it.
    pub(super) fn quoted(&mut self) -> Result<String, ScriptParseError> {
        let wrong = self.wrong("a text in double quotes");
        if !self.eat("\"") {
            return Err(wrong);
        }
        let mut text = String::new();
        let mut chars = self.rest().char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += at + 1;
                    self.blanks();
                    return Ok(text);
                }
                '\\' => text.extend(chars.next().map(|(_, c)| c)),
                _ => text.push(c),
            }
        }
        Err(ScriptParseError {
            wanted: "a text that ends with a double quote on its line".into(),
            ..wrong
        })
    }

    /// Reads one node.
    pub(super) fn node(&mut self) -> Result<NodeId, ScriptParseError> {
        let last = self.count.saturating_sub(1);
        let wrong = self.wrong(&format!("a node, node0 to node{last},"));
        if !self.eat("node") {
            return Err(wrong);
        }
        match self.digits().parse::<u16>() {
            Ok(number) if usize::from(number) < self.count => Ok(NodeId(number)),
            _ => Err(wrong),
        }
    }

    /// Reads a list of nodes and ranges, or `all`.
    pub(super) fn nodes(&mut self) -> Result<Vec<NodeId>, ScriptParseError> {
        if self.eat("all") {
            return Ok((0..self.count as u16).map(NodeId).collect());
        }
        let mut nodes = Vec::new();
        loop {
            let first = self.node()?;
            if self.eat("..") {
                let wrong = self.wrong(&format!("a node that is not before {first}"));
                let last = self.node()?;
                if last < first {
                    return Err(wrong);
                }
                nodes.extend((first.0..=last.0).map(NodeId));
            } else {
                nodes.push(first);
            }
            let at = self.at;
            self.blanks();
            if !self.eat(",") {
                self.at = at;
                return Ok(nodes);
            }
            self.blanks();
        }
    }
}
