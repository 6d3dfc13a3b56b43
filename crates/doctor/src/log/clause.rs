//! Clauses of a record, and the signs of failure in them.

use super::signs;
use super::wordlist::{self as list, Hit};

/// Clauses of a record that are read.
const CLAUSES: usize = 12;

/// A part of a sentence.
pub(super) struct Clause<'a> {
    pub(super) text: &'a str,
    /// Whether it is a question: advice, and no report.
    pub(super) asks: bool,
}

/// Returns the parts of a record's sentences.
pub(super) fn clauses(lower: &str) -> impl Iterator<Item = Clause<'_>> {
    let bytes = lower.as_bytes();
    let ends = |at: usize| match bytes[at] {
        b',' | b';' | b'!' | b'?' | b'|' => true,
        // Dots in a row stand for time that passes, and not for an end.
        b'.' => {
            let next = bytes.get(at + 1).copied().unwrap_or(b' ');
            next == b' ' && !(at > 0 && bytes[at - 1] == b'.')
        }
        _ => false,
    };
    let mut from = 0;
    core::iter::from_fn(move || {
        if from >= bytes.len() {
            return None;
        }
        let end = (from..bytes.len()).find(|at| ends(*at)).unwrap_or(bytes.len());
        let clause = Clause { text: &lower[from..end], asks: bytes.get(end) == Some(&b'?') };
        from = end + 1;
        Some(clause)
    })
    .take(CLAUSES)
}

/// Signs of failure in a clause.
pub(super) struct Signs {
    /// Place of the first one.
    pub(super) first: usize,
    pub(super) wrong: bool,
    pub(super) absent: bool,
    pub(super) timeout: bool,
    pub(super) ended: bool,
    pub(super) fails: bool,
}

impl Signs {
    pub(super) fn of(text: &str) -> Option<Self> {
        let wrong = signs::WRONG.hit(text);
        let absent = signs::ABSENT.find(text).or_else(|| missing(text)).map(Hit::plain);
        let timeout = signs::TIMEOUT.hit(text).filter(|it| !is_setting(&text[it.end..]));
        let down = signs::DOWN.find(text).map(Hit::plain);
        let ended = signs::ENDED.hit(text).filter(|_| down.is_none());
        let fails = signs::FAILS.hit(text);
        let all = [&wrong, &absent, &timeout, &down, &ended, &fails];
        let first = all.into_iter().flatten().map(|it| it.start).min()?;
        Some(Self {
            first,
            wrong: wrong.is_some(),
            absent: absent.is_some(),
            timeout: timeout.is_some(),
            ended: ended.is_some(),
            fails: fails.is_some(),
        })
    }

    /// Returns whether something happened, and not only a state is told.
    pub(super) const fn happened(&self) -> bool {
        self.fails || self.wrong || self.timeout || self.ended || self.absent
    }
}

/// Returns the place of "no … found".
fn missing(text: &str) -> Option<usize> {
    let at = list::find(text, &["no "])?;
    list::has(&text[at..], &["found", "detected", "visible", "in range"]).then_some(at)
}

/// Returns whether what stands behind "timeout" is its length: a setting.
fn is_setting(behind: &str) -> bool {
    let rest = behind.trim_start_matches([' ', ':', '=', '(', 's']);
    rest.starts_with(|it: char| it.is_ascii_digit())
        || ["set", "not set", "is set", "value", "ms", "of "].iter().any(|it| rest.starts_with(it))
}
