//! The host's end of a console: what stands on the line, answers to the device's cursor queries,
//! and commands that wait to be typed.
//!
//! ESP-IDF's line editor asks for the cursor's position (`ESC [ 6 n`) before each prompt and reads
//! until it gets an answer; a host that does not answer loses the head of its command. It echoes,
//! draws the line again, and marks what came fast as pasted (section 7.3 of the protocol
//! reference).

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::time::Instant;

/// Between a command and its carriage return. Less than 30 ms counts as pasted, and the line
/// editor of ESP-IDF 4.4 then takes the return as text.
pub const PAUSE: Duration = Duration::from_millis(40);

/// Longest wait for the echo of a command before its carriage return is sent all the same.
pub const NO_ECHO: Duration = Duration::from_secs(1);

/// Columns that the terminal claims to have; `ESC [ 999 C` goes to the last.
pub const COLUMNS: usize = 80;

/// Longest line that is kept; what is beyond is dropped.
pub const LINE_MAX: usize = 4096;

/// A complete line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerminalLine {
    /// Without prompt and line end.
    pub text: String,
    /// Whether the line is the echo of a command that was typed.
    pub echo: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Escape {
    #[default]
    None,
    /// After ESC.
    Begun,
    /// After ESC and `[`, with the last number.
    Sequence(u16),
}

/// The host's end of a console: its last line, and the commands typed at it.
#[derive(Clone, Debug, Default)]
pub struct Terminal {
    shown: Vec<u8>,
    cursor: usize,
    escape: Escape,
    prompt: Option<Vec<u8>>,
    ready: bool,
    /// Cursor queries on this line.
    queries: u8,
    /// Whether the last of them was for where the prompt begins: one more follows the prompt, and takes what is typed before it
    /// for its answer.
    measures_prompt: bool,
    typing: bool,
    /// A command was entered, and its line has not ended yet: what looks like a prompt is the line
    /// drawn once more.
    entered: bool,
    answers: Vec<u8>,
    commands: VecDeque<String>,
    typed: String,
    /// Bytes of the command that have been handed over.
    handed: usize,
    /// Time at which the carriage return is due.
    enter_at: Option<Instant>,
    echo_seen: bool,
}

impl Terminal {
    /// Takes one byte of a console's output; gives the line that it completes.
    pub fn feed(&mut self, byte: u8) -> Option<TerminalLine> {
        match (self.escape, byte) {
            (Escape::None, 0x1B) => self.escape = Escape::Begun,
            (Escape::None, b'\n') => return Some(self.line()),
            (Escape::None, _) => self.plain(byte),
            (Escape::Begun, b'[') => self.escape = Escape::Sequence(0),
            (Escape::Sequence(n), b'0'..=b'9') => {
                let n = n.saturating_mul(10).saturating_add(u16::from(byte - b'0'));
                self.escape = Escape::Sequence(n);
            }
            (Escape::Sequence(_), b';') => self.escape = Escape::Sequence(0),
            (Escape::Sequence(n), 0x40..=0x7E) => {
                self.escape = Escape::None;
                self.sequence(n, byte);
            }
            // Intermediate bytes (ECMA-48, 5.4) mean nothing here.
            (Escape::Sequence(_), 0x20..=0x3F) => {}
            (Escape::Begun | Escape::Sequence(_), _) => self.escape = Escape::None,
        }
        None
    }

    fn plain(&mut self, byte: u8) {
        match byte {
            b'\r' => self.cursor = 0,
            0x08 => self.cursor = self.cursor.saturating_sub(1),
            0x20.. if self.cursor < LINE_MAX => {
                if self.cursor >= self.shown.len() {
                    self.shown.resize(self.cursor + 1, b' ');
                }
                self.shown[self.cursor] = byte;
                self.cursor += 1;
                self.look_for_prompt(byte);
            }
            _ => {}
        }
    }

    fn sequence(&mut self, n: u16, last: u8) {
        let by = usize::from(n.max(1));
        match last {
            b'C' => self.cursor = (self.cursor + by).min(self.cursor.max(COLUMNS - 1)),
            b'D' => self.cursor = self.cursor.saturating_sub(by),
            b'K' if n == 2 => self.shown.clear(),
            b'K' => self.shown.truncate(self.cursor),
            b'n' if n == 6 => {
                // A new prompt is only coming, unless this is for where the prompt ends.
                self.ready = self.measures_prompt && self.ends_prompt();
                self.queries = self.queries.saturating_add(1);
                // The first two are for the width: at the line's begin, and at the right margin.
                self.measures_prompt = self.cursor == 0 && self.queries > 1;
                let answer = format!("\x1b[1;{}R", self.cursor + 1);
                self.answers.extend_from_slice(answer.as_bytes());
            }
            _ => {}
        }
    }

    /// Looks for a prompt.
    fn look_for_prompt(&mut self, byte: u8) {
        if self.ready || self.typing || self.entered || byte != b' ' || !self.ends_prompt() {
            return;
        }
        self.ready = !self.measures_prompt;
        self.prompt = Some(self.shown.clone());
    }

    /// Tells whether a prompt stands on the line, a word and `> `, and the cursor behind it.
    fn ends_prompt(&self) -> bool {
        let word = self.shown.strip_suffix(b"> ").unwrap_or_default();
        let is_word = |c: &u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_');
        self.cursor == self.shown.len() && !word.is_empty() && word.iter().all(is_word)
    }

    fn line(&mut self) -> TerminalLine {
        self.entered = false;
        let shown = self.shown.trim_ascii_end();
        let prompt = self.prompt.as_deref().unwrap_or_default();
        let rest = match shown.strip_prefix(prompt) {
            Some(rest) => rest,
            // The bare prompt, which lost its space.
            None if shown == prompt.trim_ascii_end() => &[],
            None => shown,
        };
        let text = String::from_utf8_lossy(rest).into_owned();
        let echo = !self.typed.is_empty() && text == self.typed;
        if echo {
            // The editor redraws prompt and command when it has the whole line: no new prompt.
            self.ready = false;
            self.typed.clear();
        }
        self.shown.clear();
        (self.cursor, self.queries, self.measures_prompt) = (0, 0, false);
        TerminalLine { text, echo }
    }

    /// Tells whether the device waits for an answer.
    #[must_use]
    pub const fn has_answers(&self) -> bool {
        !self.answers.is_empty()
    }

    /// Takes the answers that the device waits for, because it asked where the cursor is.
    pub fn take_answers(&mut self) -> Option<Vec<u8>> {
        (!self.answers.is_empty()).then(|| core::mem::take(&mut self.answers))
    }

    /// Queues a command.
    pub fn command(&mut self, text: &str) {
        self.commands.push_back(text.into());
    }

    /// Commands that are queued or being typed.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.commands.len() + usize::from(self.typing)
    }

    /// Tells whether the device shows its prompt and nobody types.
    #[must_use]
    pub const fn is_ready(&self) -> bool {
        self.ready && !self.typing
    }

    /// Takes the next command, to be sent now if the device is ready for it, and the time at which
    /// its carriage return is due if no echo comes ([`echoed`](Self::echoed)).
    pub fn begin(&mut self, now: Instant) -> Option<(&str, Instant)> {
        if !self.is_ready() {
            return None;
        }
        self.typed = self.commands.pop_front()?;
        (self.ready, self.typing, self.handed) = (false, true, 0);
        let due = now + NO_ECHO;
        self.enter_at = Some(due);
        Some((&self.typed, due))
    }

    /// Takes the next bytes of the command that is being typed, at most so many: what a device's buffer
    /// holds. `None` once all are taken.
    pub fn piece(&mut self, most: usize) -> Option<&[u8]> {
        if !self.typing {
            return None;
        }
        let rest = self.typed.as_bytes().get(self.handed..).filter(|it| !it.is_empty())?;
        let piece = &rest[..rest.len().min(most)];
        self.handed += piece.len();
        Some(piece)
    }

    /// Returns when the carriage return is due, once, after what is typed has come back whole:
    /// [`PAUSE`] later. A device that is at work reads what was typed only when it is done, and
    /// takes a carriage return that comes with it for pasted text.
    pub fn echoed(&mut self, now: Instant) -> Option<Instant> {
        let due = now + PAUSE;
        let whole = self.shown.ends_with(self.typed.as_bytes());
        let earlier = self.enter_at.is_some_and(|at| due < at) && !self.echo_seen;
        (self.typing && whole && earlier).then(|| {
            (self.enter_at, self.echo_seen) = (Some(due), true);
            due
        })
    }

    /// Tells whether the carriage return is to be sent now.
    pub fn enters(&mut self, now: Instant) -> bool {
        let due = self.typing && self.enter_at == Some(now);
        if due {
            (self.typing, self.entered, self.echo_seen) = (false, true, false);
            self.enter_at = None;
        }
        due
    }

    /// Notes that the device was reset: nothing stands on the line, and what was half typed is
    /// gone. Queued commands wait for the new prompt.
    pub fn reset(&mut self) {
        let commands = core::mem::take(&mut self.commands);
        *self = Self { commands, ..Self::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    fn lines(terminal: &mut Terminal, text: &str) -> Vec<String> {
        text.bytes().filter_map(|b| terminal.feed(b)).map(|line| line.text).collect()
    }

    #[test]
    fn a_command_is_handed_over_in_pieces() {
        let mut terminal = Terminal::default();
        terminal.command("0123456789");
        assert_eq!(terminal.piece(4), None, "nobody types yet");
        "esp32> ".bytes().for_each(|byte| assert!(terminal.feed(byte).is_none()));
        terminal.begin(Instant::ZERO).unwrap();
        let pieces: Vec<Vec<u8>> =
            core::iter::from_fn(|| terminal.piece(4).map(<[u8]>::to_vec)).collect();
        assert_eq!(pieces, [b"0123".to_vec(), b"4567".to_vec(), b"89".to_vec()]);
    }

    #[test]
    fn lines_come_without_colours_and_redrawing() {
        let mut terminal = Terminal::default();
        let text =
            "\x1b[0;32mI (12) tag: text\x1b[0m\r\nab\x1b[1Dc\x1b[0K\r\n12345\r9\x1b[K\r\n\r\n";
        assert_eq!(lines(&mut terminal, text), ["I (12) tag: text", "ac", "9", ""]);
        assert_eq!(lines(&mut terminal, "\x1b[1;2Hx\x1b7y\0\n"), ["xy"], "others are skipped");
    }

    #[test]
    fn the_dance_before_a_prompt() {
        let mut terminal = Terminal::default();
        terminal.command("help");
        assert_eq!(lines(&mut terminal, "\x1b[6n\0"), vec![""; 0]);
        assert_eq!(terminal.take_answers().as_deref(), Some(&b"\x1b[1;1R"[..]));
        lines(&mut terminal, "\x1b[999C\x1b[6n\0");
        assert_eq!(terminal.take_answers().as_deref(), Some(&b"\x1b[1;80R"[..]));
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        assert_eq!(terminal.begin(at(0)), None, "no prompt yet");
        lines(&mut terminal, "\x1b[79Desp32c3> ");
        assert_eq!(terminal.begin(at(0)), Some(("help", at(1000))));
        assert_eq!((terminal.pending(), terminal.echoed(at(3))), (1, None));
        lines(&mut terminal, "help");
        assert_eq!(terminal.echoed(at(5)), Some(at(45)), "a device at work answers late");
        assert_eq!(terminal.echoed(at(6)), None);
        assert!(!terminal.enters(at(40)) && terminal.enters(at(45)));
        assert!(!terminal.enters(at(1000)), "once");
        lines(&mut terminal, "\r\x1b[0Kesp32c3> ");
        assert!(!terminal.is_ready(), "the line is drawn once more");
        let echo: Vec<TerminalLine> = "help\r\n".bytes().filter_map(|b| terminal.feed(b)).collect();
        assert_eq!(echo, [TerminalLine { text: "help".into(), echo: true }]);
        assert_eq!((terminal.is_ready(), terminal.pending()), (false, 0));
        lines(&mut terminal, "esp32c3> ");
        assert!(terminal.is_ready());
        terminal.command("a");
        terminal.reset();
        assert_eq!((terminal.is_ready(), terminal.pending()), (false, 1));
    }

    #[test]
    fn a_prompt_that_is_measured_is_there_when_its_end_was_asked_for() {
        let mut terminal = Terminal::default();
        lines(
            &mut terminal,
            "\x1b[6n\0\x1b[999C\x1b[6n\0\x1b[79D\x1b[6n\0\x1b[0;32mesp32c3> \x1b[0m",
        );
        assert!(!terminal.is_ready(), "what is typed now would be taken for an answer");
        lines(&mut terminal, "\x1b[6n\0");
        assert!(terminal.is_ready());
        let answers = "\x1b[1;1R\x1b[1;80R\x1b[1;1R\x1b[1;10R";
        assert_eq!(terminal.take_answers().as_deref(), Some(answers.as_bytes()));
    }

    #[test]
    fn a_log_line_after_the_prompt_is_a_line() {
        let mut terminal = Terminal::default();
        assert_eq!(lines(&mut terminal, "esp32> I (1) a: b\r\nesp32> \r\n"), ["I (1) a: b", ""]);
        assert!(terminal.is_ready(), "the editor still waits, though its prompt has scrolled away");
        assert_eq!(lines(&mut terminal, "a> b> c\r\n"), ["a> b> c"], "no prompt of this device");
    }

    #[test]
    fn any_bytes_are_taken() {
        let mut terminal = Terminal::default();
        let mut random =
            espbench_dot11::random::RngStream::stream(1, 0, espbench_dot11::random::Purpose::Board);
        for _ in 0..100_000 {
            let byte = b"\x1b[0129;nCDK\r\x08> xy\0\xFF\n"[(random.bits() % 20) as usize];
            let line = terminal.feed(byte);
            assert!(line.is_none_or(|line| line.text.chars().count() <= LINE_MAX));
            terminal.take_answers();
        }
        lines(&mut terminal, "\x1b[65535C\x1b[99999999D\x1b[99999999C");
    }
}
