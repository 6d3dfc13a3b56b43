//! Files that espbench itself has written, by marks that it puts there.

use alloc::vec::Vec;
use espbench_measure::columns::{ResultColumn, RunColumn};
use espbench_measure::report::{PAGE_MARK, SCHEMA, TEXT_MARK};

/// Form of a file that espbench has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnForm {
    /// Page in HTML.
    Page,
    /// Report in Markdown.
    Markdown,
    /// Table of results or samples in CSV.
    Table,
    /// Report in JSON.
    Report,
    /// Another answer in JSON, or what CI reads: of a check, the doctor, a capture, gates.
    Answer,
}

impl OwnForm {
    /// Returns the form of a file with this begin; none of another's.
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
        let has = |mark: &str| head.windows(mark.len()).any(|it| it == mark.as_bytes());
        let is_page = head.len() > 9 && head[..9].eq_ignore_ascii_case(b"<!doctype");
        Some(match head {
            _ if is_page && has(PAGE_MARK) => Self::Page,
            _ if head.starts_with(TEXT_MARK.as_bytes()) => Self::Markdown,
            [b'{', ..] if has(&SCHEMA[..=SCHEMA.find('/')?]) => Self::Report,
            [b'{', ..] if has("\"schema\"") && has("\"espbench-") => Self::Answer,
            [b'{', ..] if has("\"driver\"") && has("\"name\": \"espbench\"") => Self::Answer,
            [b'<', ..] if has("<testsuites name=\"espbench\"") => Self::Answer,
            _ if is_table(head) => Self::Table,
            _ => return None,
        })
    }

    /// Returns what it is, as the end of a sentence.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Page => "is a page that espbench has written",
            Self::Markdown => "is a report in Markdown that espbench has written",
            Self::Table => "is a table that espbench has written",
            Self::Report => "is a report that espbench has written",
            Self::Answer => "is an answer that espbench has written",
        }
    }
}

/// Returns whether the first line is the head of our results or samples.
fn is_table(head: &[u8]) -> bool {
    let line = head.split(|it| matches!(it, b'\n' | b'\r')).next().unwrap_or_default();
    let names: Vec<&[u8]> = line.split(|it| *it == b',').collect();
    let results = ResultColumn::usual().filter(|it| !it.is_occasional()).map(ResultColumn::name);
    let begins = |columns: &mut dyn Iterator<Item = &'static str>| {
        let wanted: Vec<&str> = columns.take(5).collect();
        names.len() >= wanted.len() && wanted.iter().zip(&names).all(|(a, b)| a.as_bytes() == *b)
    };
    begins(&mut results.into_iter()) || begins(&mut RunColumn::ALL.into_iter().map(RunColumn::name))
}
