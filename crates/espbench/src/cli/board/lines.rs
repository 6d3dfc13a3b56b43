//! A console's bytes as lines with times.

use espbench_model::untrusted::is_unsafe;
use std::time::Duration;

/// Longest line that is kept together; firmware that prints without an end is shown in such pieces.
const LONGEST: usize = 4096;

/// Function that makes functions and lines of the source of the addresses in a line.
pub(super) type AddressDecoder = Box<dyn Fn(&str) -> Vec<String>>;

/// Line, or the part of one that is new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MonitorLine {
    /// Time of its first byte since the monitor began; `None` where its beginning was shown before.
    at: Option<Duration>,
    text: String,
    is_ended: bool,
    /// Functions at the addresses that it holds.
    functions: Vec<String>,
}

impl MonitorLine {
    /// Returns the text for a screen, with this end of lines.
    pub(super) fn text(&self, end: &str) -> String {
        let mut text = match self.at {
            Some(at) => format!("{:>10.3}  {}", at.as_secs_f64(), self.text),
            None => self.text.clone(),
        };
        if self.is_ended {
            text += end;
        }
        for function in &self.functions {
            text += &format!("{:>10}  {function}{end}", "");
        }
        text
    }
}

/// Maker of lines.
pub(super) struct ConsoleLines {
    decode: AddressDecoder,
    line: Vec<u8>,
    /// Bytes of the line that were shown as a prompt.
    shown: usize,
    at: Duration,
}

impl ConsoleLines {
    /// Begins with an empty line. Addresses in a line are decoded with the function.
    pub(super) fn new(decode: AddressDecoder) -> Self {
        Self { decode, line: Vec::new(), shown: 0, at: Duration::ZERO }
    }

    /// Takes bytes that came at this time; returns the lines that are complete with them.
    pub(super) fn push(&mut self, bytes: &[u8], now: Duration) -> Vec<MonitorLine> {
        let mut lines = Vec::new();
        for byte in bytes {
            if self.line.is_empty() {
                self.at = now;
            }
            if *byte != b'\n' {
                self.line.push(*byte);
            }
            if *byte == b'\n' || self.line.len() >= LONGEST {
                lines.push(self.take(true));
                self.line.clear();
                self.shown = 0;
            }
        }
        lines
    }

    /// Returns the beginning of a line whose end has not come, or what came to it since: a prompt.
    pub(super) fn prompt(&mut self) -> Option<MonitorLine> {
        if self.line.len() == self.shown {
            return None;
        }
        let line = self.take(false);
        self.shown = self.line.len();
        Some(line)
    }

    /// Returns what is left at the end.
    pub(super) fn rest(&mut self) -> Option<MonitorLine> {
        if self.line.is_empty() {
            return None;
        }
        let line = self.take(true);
        (self.line, self.shown) = (Vec::new(), 0);
        Some(line)
    }

    fn take(&self, is_ended: bool) -> MonitorLine {
        let new = &self.line[self.shown.min(self.line.len())..];
        let text = String::from_utf8_lossy(new);
        let whole = String::from_utf8_lossy(&self.line);
        MonitorLine {
            at: (self.shown == 0).then_some(self.at),
            text: text.trim_end_matches('\r').chars().map(shown).collect(),
            is_ended,
            functions: if is_ended { (self.decode)(&whole) } else { Vec::new() },
        }
    }
}

/// Returns the character to show: colours (ESC) and tabulators stay, other control characters do not.
fn shown(character: char) -> char {
    match character {
        '\x1b' | '\t' => character,
        it if is_unsafe(it) => char::REPLACEMENT_CHARACTER,
        it => it,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines() -> ConsoleLines {
        let decode =
            |line: &str| if line.contains("0x42") { vec!["send".into()] } else { Vec::new() };
        ConsoleLines::new(Box::new(decode))
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn lines_have_the_time_of_their_first_byte() {
        let mut it = lines();
        assert_eq!(it.push(b"I (3", ms(1500)), []);
        let text: Vec<String> =
            it.push(b"00) x\r\nPC: 0x42\nrest", ms(1700)).iter().map(|it| it.text("\n")).collect();
        assert_eq!(text, ["     1.500  I (300) x\n", "     1.700  PC: 0x42\n            send\n"]);
        assert_eq!(it.rest().unwrap().text("\n"), "     1.700  rest\n");
        assert_eq!(it.rest(), None);
    }

    #[test]
    fn a_prompt_is_shown_once_and_then_what_comes_to_it() {
        let mut it = lines();
        it.push(b"esp> ", ms(10));
        assert_eq!(it.prompt().unwrap().text("\r\n"), "     0.010  esp> ");
        assert_eq!(it.prompt(), None);
        it.push(b"he", ms(20));
        assert_eq!(it.prompt().unwrap().text("\r\n"), "he");
        let rest = it.push(b"lp 0x42\r\n", ms(30));
        assert_eq!(rest[0].text("\r\n"), "lp 0x42\r\n            send\r\n");
        assert_eq!(it.push(b"\n", ms(40))[0].text("\n"), "     0.040  \n");
    }

    #[test]
    fn what_would_move_the_cursor_is_not_shown() {
        let mut it = lines();
        let line = it.push(b"\x1b[0;32mgreen\x1b[0m\ta\x08\x07b\xff\n", ms(0)).remove(0);
        assert_eq!(line.text, "\x1b[0;32mgreen\x1b[0m\ta\u{fffd}\u{fffd}b\u{fffd}");
    }

    proptest! {
        #[test]
        fn any_bytes_are_shown_in_bounded_lines(pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..3000), 0..8)) {
            let mut it = lines();
            for piece in &pieces {
                let ends = piece.iter().filter(|it| **it == b'\n').count();
                let found = it.push(piece, ms(1));
                prop_assert!(found.len() >= ends && found.len() <= ends + piece.len() / LONGEST + 1);
                let _ = it.prompt();
                prop_assert!(it.line.len() < LONGEST && it.shown <= it.line.len());
            }
        }
    }
}
