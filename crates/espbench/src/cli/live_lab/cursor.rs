//! Who answers the cursor queries of a console's line editor: the program that has the console open, or espbench for it.
//!
//! ESP-IDF's line editor takes what is typed for the answer until it has one, so a program that is no terminal would lose
//! the head of its commands. And a return that comes with its command is pasted text to ESP-IDF 4.4.

use espbench_model::time::Instant;
use std::ops::Range;
use std::time::Duration;

/// Question of the line editor for the cursor.
const QUERY: &[u8] = b"\x1b[6n";

/// Time that a program has for its first answer: five times what `linenoiseProbe` of ESP-IDF gives a terminal, since programs
/// on a busy machine come late.
const PATIENCE: Duration = Duration::from_secs(1);

/// Time from the last character of a command to its return: beyond the line editor's 30 ms.
const RETURN: Duration = Duration::from_millis(100);

/// Bytes that an answer has at most: `ESC [ 65535 ; 65535 R`.
const ANSWER_MAX: usize = 14;

/// Who answers cursor queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum CursorAnswers {
    /// The program where it does, else espbench; returns of other programs are set apart from commands
    #[default]
    Auto,
    /// Espbench at once, for programs that are no terminal
    Always,
    /// The program alone, and all that it types is taken as a board takes it
    Never,
}

/// State of the queries of a console.
#[derive(Clone, Copy, Debug)]
pub(super) struct CursorQueries {
    answers: CursorAnswers,
    /// Bytes of a query that have been printed.
    matched: usize,
    /// Time of a query that the program has not answered.
    asked: Option<Instant>,
    /// Whether the program answers, once that is known.
    answered: Option<bool>,
    /// Virtual time of the last character that no return has followed.
    text_at: Option<Instant>,
}

/// A piece of what a program has typed: its bytes, and when they are typed.
pub(super) type TypedKeys = (Range<usize>, Instant);

impl CursorQueries {
    pub(super) const fn new(answers: CursorAnswers) -> Self {
        Self { answers, matched: 0, asked: None, answered: None, text_at: None }
    }

    /// Notes that another program has the console open.
    pub(super) const fn reopen(&mut self) {
        *self = Self::new(self.answers);
    }

    /// Returns whether espbench never answers.
    pub(super) fn is_never(&self) -> bool {
        self.answers == CursorAnswers::Never
    }

    /// Returns whether espbench answers.
    pub(super) fn inside(&self) -> bool {
        match self.answers {
            CursorAnswers::Auto => self.answered == Some(false),
            CursorAnswers::Always => true,
            CursorAnswers::Never => false,
        }
    }

    /// Notes a byte that the device has printed for the program.
    pub(super) fn printed(&mut self, now: Instant, byte: u8) {
        self.matched = match QUERY.get(self.matched) {
            Some(&wanted) if wanted == byte => self.matched + 1,
            _ => usize::from(byte == QUERY[0]),
        };
        if self.matched == QUERY.len() {
            self.matched = 0;
            if self.answers == CursorAnswers::Auto && self.answered.is_none() {
                self.asked = Some(now);
            }
        }
    }

    /// Returns, once, whether the program has left a query without an answer: espbench answers from then on.
    pub(super) fn is_overdue(&mut self, now: Instant) -> bool {
        let overdue = self.asked.take_if(|at| now.since(*at) >= PATIENCE).is_some();
        if overdue {
            self.answered = Some(false);
        }
        overdue
    }

    /// Notes what a program has typed, and returns where in it a late answer is that espbench has given already: the
    /// program is a terminal after all.
    pub(super) fn typed(&mut self, bytes: &[u8]) -> Range<usize> {
        if self.asked.take().is_some() {
            self.answered = Some(bytes.first() == Some(&QUERY[0]));
        } else if self.answers == CursorAnswers::Auto && self.answered == Some(false) {
            let late = |at: usize| Some(at..at + answer_len(&bytes[at..])?);
            if let Some(late) = (0..bytes.len()).find_map(late) {
                self.answered = Some(true);
                return late;
            }
        }
        0..0
    }

    /// Splits what a program has typed from then on: returns are set apart from the text before them, unless they
    /// are to be as on a board, or come from a terminal, where somebody presses keys.
    pub(super) fn keys(&mut self, bytes: &[u8], from: Instant) -> Vec<TypedKeys> {
        if self.answers == CursorAnswers::Never || self.answered == Some(true) {
            return vec![(0..bytes.len(), from)];
        }
        let (mut keys, mut at, mut start) = (Vec::new(), from, 0);
        for (place, byte) in bytes.iter().enumerate() {
            if !matches!(byte, b'\r' | b'\n') {
                self.text_at = Some(at);
                continue;
            }
            if let Some(text_at) = self.text_at.take() {
                if place > start {
                    keys.push((start..place, at));
                }
                (start, at) = (place, at.max(text_at + RETURN));
            }
        }
        if start < bytes.len() {
            keys.push((start..bytes.len(), at));
        }
        keys
    }
}

/// Returns the length of an answer to a cursor query at the head of the bytes.
fn answer_len(bytes: &[u8]) -> Option<usize> {
    let inner = bytes.strip_prefix(b"\x1b[")?;
    let end = inner.iter().take(ANSWER_MAX - 2).position(|it| *it == b'R')?;
    let is_place = inner[..end].iter().all(|it| it.is_ascii_digit() || *it == b';');
    (is_place && inner[..end].contains(&b';')).then_some(end + 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn asked(answers: CursorAnswers) -> CursorQueries {
        let mut it = CursorQueries::new(answers);
        b"esp32> \x1b\x1b[6n\0".iter().for_each(|byte| it.printed(at(1000), *byte));
        it
    }

    #[test]
    fn a_program_that_does_not_answer_is_answered_for() {
        let mut it = asked(CursorAnswers::Auto);
        assert!(!it.inside() && !it.is_overdue(at(1999)));
        assert!(it.is_overdue(at(2000)) && it.inside());
        assert!(!it.is_overdue(at(2100)), "once");
        // One that types a command in place of an answer does not answer either.
        let mut it = asked(CursorAnswers::Auto);
        assert_eq!((it.typed(b"help\r"), it.inside()), (0..0, true));
        it.reopen();
        assert!(!it.inside(), "the next program may be a terminal");
    }

    #[test]
    fn a_terminal_answers_itself_even_late() {
        let mut it = asked(CursorAnswers::Auto);
        assert_eq!(it.typed(b"\x1b[5;8R"), 0..0);
        assert!(!it.inside() && !it.is_overdue(at(5000)));
        assert_eq!(it.keys(b"help\r", at(1)), [(0..5, at(1))], "as somebody pastes it");
        let mut it = asked(CursorAnswers::Auto);
        assert!(it.is_overdue(at(2000)));
        assert_eq!((it.typed(b"x\x1b[5;8Rhelp"), it.inside()), (1..7, false));
        b"\x1b[6n".iter().for_each(|byte| it.printed(at(3000), *byte));
        assert!(!it.is_overdue(at(9000)), "a terminal remains one");
    }

    #[test]
    fn other_keys_are_no_late_answer() {
        for keys in [&b"\x1b[A"[..], b"\x1b[R", b"\x1b[12R", b"\x1b[1;x2R", b"R", b""] {
            let mut it = asked(CursorAnswers::Auto);
            assert!(it.is_overdue(at(2000)));
            assert_eq!((it.typed(keys), it.inside()), (0..0, true), "{keys:?}");
        }
    }

    #[test]
    fn returns_are_set_apart_from_the_text_before_them() {
        let mut it = CursorQueries::new(CursorAnswers::Auto);
        let keys = it.keys(b"help\r", at(10));
        assert_eq!(keys, [(0..4, at(10)), (4..5, at(110))]);
        // Two commands in one write, and a return that comes in a write of its own.
        let keys = it.keys(b"\rheap\r\nver", at(20));
        assert_eq!(keys, [(0..5, at(20)), (5..10, at(120))]);
        assert_eq!(it.keys(b"sion\r", at(130)), [(0..4, at(130)), (4..5, at(230))]);
        assert_eq!(it.keys(b"x", at(300)), [(0..1, at(300))]);
        assert_eq!(it.keys(b"\r", at(310)), [(0..1, at(400))]);
        let mut it = CursorQueries::new(CursorAnswers::Never);
        assert_eq!(it.keys(b"help\r", at(10)), [(0..5, at(10))], "as a board takes it");
    }

    #[test]
    fn the_two_other_ways_hold_whatever_the_program_does() {
        for (answers, inside) in [(CursorAnswers::Always, true), (CursorAnswers::Never, false)] {
            let mut it = asked(answers);
            assert!(!it.is_overdue(at(9000)));
            assert_eq!((it.typed(b"\x1b[5;8R"), it.inside()), (0..0, inside));
        }
    }
}
