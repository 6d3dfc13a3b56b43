//! The line editor of ESP-IDF's console as a host sees it (linenoise, in multi-line mode).
//!
//! Before every prompt the editor asks the terminal for the cursor: `ESC [ 6 n` and a NUL. It takes
//! the bytes that follow for the answer, up to an `R` or 31 bytes; line feeds (and carriage
//! returns, which the UART driver turns into line feeds) do not count. After a valid answer it
//! moves the cursor to the right margin, asks again, and so learns how wide the terminal is; else
//! it assumes 80 columns.
//!
//! A character that comes less than 30 ms after the one before it was processed counts as pasted:
//! it is appended and echoed unchanged, whatever it is; only the end of the line still executes. On
//! ESP-IDF 4.4 even that is only appended. A typed character redraws the line. Unprintable
//! characters are removed from a line before it is run.
//!
//! The editor is simpler than the original, but looks the same to a host: there is no history
//! (arrow keys do nothing), the cursor stays at the end of the line, no hint follows a complete
//! command's name, and tab completes only the beginning of exactly one command. The line holds 511
//! characters, the most that the component's console runs; further ones are counted and not echoed,
//! where linenoise goes on to 4095, of which the rest is never run.

use super::table::TABLE;
use crate::component::Idf;
use crate::node::print::{LogPrinter, UART_RING};
use core::fmt::Write;
use espbench_model::time::{Duration, Instant};
use heapless::{Deque, Vec};

/// Length of the longest line, with the terminator that it has on the device, in bytes.
pub const LINE: usize = 512;
/// Capacity for input while a command runs, in bytes (the UART driver's buffer in the component).
pub const INPUT: usize = 256;
/// Time within which a character counts as pasted (`LINENOISE_PASTE_KEY_DELAY`).
const PASTE: Duration = Duration::from_millis(30);
/// Greatest length of a cursor's answer, in bytes (`LINENOISE_COMMAND_MAX_LEN` less one).
const ANSWER: usize = 31;
const COLUMNS: usize = 80;
/// Length of the longest prompt, in bytes.
pub const PROMPT: usize = 24;

const ESC: u8 = 0x1B;
const QUERY: &[u8] = b"\x1b[6n\0";
const RIGHT_MARGIN: &[u8] = b"\x1b[999C\0";

/// Smallest terminal width that is believed, in columns; it bounds the output for one byte.
const COLUMNS_MIN: usize = 20;

/// Greatest output for one byte of input, in bytes: the erasing of each row that the line took,
/// then prompt and line, with CR before each line feed that was pasted.
const ROOM: usize = {
    let rows = (LINE + PROMPT).div_ceil(COLUMNS_MIN) + 1;
    rows * "\r\x1b[0K\x1b[1A".len() + PROMPT + 2 * LINE + 32
};
const _: () = assert!(ROOM <= UART_RING);

/// State of the editor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EditorState {
    /// A prompt is due.
    Start,
    /// The editor has asked for the cursor; at the right margin if its column before is known.
    Query { start: Option<usize> },
    /// The user is writing a line.
    Edit,
    /// An escape has come: bytes still to come, and whether a digit may ask for one more.
    Escape { seen: u8 },
    /// The owner has the line.
    Full,
}

/// Result of a run for the editor's owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edited {
    /// Nothing: the editor waits for bytes.
    Nothing,
    /// More: the editor continues once its output has been taken.
    Busy,
    /// A complete line, which waits in [`Editor::line`] until [`Editor::done`].
    Line,
}

/// The line editor.
#[derive(Clone, Debug)]
pub struct Editor {
    state: EditorState,
    input: Deque<u8, INPUT>,
    line: Vec<u8, { LINE - 1 }>,
    answer: Vec<u8, ANSWER>,
    columns: usize,
    /// Rows that the line has taken on the terminal, and the length with which it was last drawn.
    rows: usize,
    drawn: usize,
    /// Time since which the editor waits for a character.
    since: Instant,
    /// Number of bytes lost because the input buffer or the line was full.
    pub dropped: u32,
}

impl Default for Editor {
    fn default() -> Self {
        Self::new()
    }
}

impl Editor {
    /// Creates an editor that is about to prompt.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            state: EditorState::Start,
            input: Deque::new(),
            line: Vec::new(),
            answer: Vec::new(),
            columns: COLUMNS,
            rows: 0,
            drawn: 0,
            since: Instant::ZERO,
            dropped: 0,
        }
    }

    /// Takes bytes from the terminal.
    pub fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.input.push_back(byte).is_err() {
                self.lose();
            }
        }
    }

    /// Runs until a line is complete or the editor must wait for bytes.
    pub fn run(&mut self, now: Instant, prompt: &str, idf: Idf, out: &mut LogPrinter) -> Edited {
        loop {
            match self.state {
                EditorState::Full => return Edited::Line,
                _ if out.room() < ROOM => return Edited::Busy,
                EditorState::Start => {
                    self.query(None, out);
                    continue;
                }
                _ => {}
            }
            let Some(byte) = self.input.pop_front() else { return Edited::Nothing };
            // The UART driver turns CR into LF.
            let byte = if byte == b'\r' { b'\n' } else { byte };
            match self.state {
                EditorState::Query { start } => self.answer(now, start, byte, prompt, out),
                EditorState::Escape { seen } => self.escape(now, seen, byte),
                _ => self.edit(now, byte, prompt, idf, out),
            }
        }
    }

    /// Returns the complete line, which its owner may take apart. Empty lines never appear here.
    pub fn line(&mut self) -> &mut [u8] {
        if self.state == EditorState::Full { &mut self.line } else { &mut [] }
    }

    /// Releases the line: its owner has finished, and the next prompt is due.
    pub fn done(&mut self) {
        if self.state == EditorState::Full {
            self.state = EditorState::Start;
        }
    }

    fn query(&mut self, start: Option<usize>, out: &mut LogPrinter) {
        out.raw(QUERY);
        self.answer.clear();
        self.state = EditorState::Query { start };
    }

    /// Processes a byte of the terminal's answer.
    fn answer(
        &mut self,
        now: Instant,
        start: Option<usize>,
        byte: u8,
        prompt: &str,
        out: &mut LogPrinter,
    ) {
        let ended = byte == b'R';
        if !ended && byte != b'\n' {
            // There is room: a full answer ends below.
            let _ = self.answer.push(byte);
        }
        if !ended && !self.answer.is_full() {
            return;
        }
        match (start, cursor(&self.answer)) {
            (None, Some(column)) => {
                out.raw(RIGHT_MARGIN);
                return self.query(Some(column), out);
            }
            (Some(start), Some(column)) => {
                self.columns = column.max(COLUMNS_MIN);
                if column > start {
                    Sequence(out).put(format_args!("\x1b[{}D", column - start));
                }
            }
            _ => self.columns = COLUMNS,
        }
        out.raw(prompt.as_bytes());
        self.line.clear();
        (self.rows, self.drawn) = (0, 0);
        self.wait(now);
    }

    /// Waits for the next character from now on.
    fn wait(&mut self, now: Instant) {
        self.since = now;
        self.state = EditorState::Edit;
    }

    fn edit(&mut self, now: Instant, byte: u8, prompt: &str, idf: Idf, out: &mut LogPrinter) {
        let quick = now.since(self.since) < PASTE;
        self.wait(now);
        match byte {
            // Up to 4.4 a quick end of line is pasted, too.
            _ if quick && (byte != b'\n' || idf == Idf::V4_4) => {
                if self.append(byte) {
                    echo(byte, out);
                }
            }
            b'\n' => self.enter(prompt, out),
            0x03 | 0x04 if byte == 0x03 || self.line.is_empty() => {
                out.raw(b"\r\n");
                self.state = EditorState::Start;
            }
            0x08 | 0x7F => {
                if self.line.pop().is_some() {
                    self.draw(prompt, out);
                }
            }
            // Ctrl-U cuts the whole line, Ctrl-W the last word; Ctrl-L clears the screen.
            0x15 => self.cut(0, prompt, out),
            0x17 => self.cut(self.last_word(), prompt, out),
            0x0C => {
                out.raw(b"\x1b[H\x1b[2J");
                self.draw(prompt, out);
            }
            b'\t' => self.complete(prompt, out),
            ESC => self.state = EditorState::Escape { seen: 0 },
            // These keys would move the cursor, which stays at the end.
            0x01 | 0x02 | 0x04..=0x06 | 0x0B | 0x0E | 0x10 | 0x14 => {}
            _ => {
                if self.append(byte) {
                    self.draw(prompt, out);
                }
            }
        }
    }

    /// Discards the bytes of an escape sequence: two bytes, or three with a digit.
    fn escape(&mut self, now: Instant, seen: u8, byte: u8) {
        match (seen, byte) {
            (0, _) => self.state = EditorState::Escape { seen: 1 },
            (1, b'0'..=b'9') => self.state = EditorState::Escape { seen: 2 },
            _ => self.wait(now),
        }
    }

    fn enter(&mut self, prompt: &str, out: &mut LogPrinter) {
        self.draw(prompt, out);
        out.raw(b"\r\n");
        self.line.retain(|byte| matches!(byte, b' '..=b'~'));
        self.state = if self.line.is_empty() { EditorState::Start } else { EditorState::Full };
    }

    fn append(&mut self, byte: u8) -> bool {
        let room = self.line.push(byte).is_ok();
        if !room {
            self.lose();
        }
        room
    }

    fn lose(&mut self) {
        self.dropped = self.dropped.saturating_add(1);
    }

    fn cut(&mut self, len: usize, prompt: &str, out: &mut LogPrinter) {
        self.line.truncate(len);
        self.draw(prompt, out);
    }

    fn last_word(&self) -> usize {
        let end = self.line.iter().rposition(|&byte| byte != b' ').map_or(0, |at| at + 1);
        let word = self.line.get(..end).unwrap_or_default();
        word.iter().rposition(|&byte| byte == b' ').map_or(0, |at| at + 1)
    }

    fn complete(&mut self, prompt: &str, out: &mut LogPrinter) {
        let mut near = TABLE.iter().filter(|spec| spec.name.as_bytes().starts_with(&self.line));
        match (near.next(), near.next()) {
            (Some(only), None) => {
                self.line.clear();
                // Names of commands are short enough to fit.
                let _ = self.line.extend_from_slice(only.name.as_bytes());
                self.draw(prompt, out);
            }
            _ => out.raw(b"\x07"),
        }
    }

    /// Redraws prompt and line as linenoise does in multi-line mode: down to the last row, every
    /// row erased on the way up, then the text.
    fn draw(&mut self, prompt: &str, out: &mut LogPrinter) {
        let columns = self.columns.max(1);
        let len = prompt.len() + self.line.len();
        let row_of = |at: usize| (at + columns) / columns;
        let below = self.rows.saturating_sub(row_of(prompt.len() + self.drawn));
        if below > 0 {
            Sequence(out).put(format_args!("\x1b[{below}B"));
        }
        for _ in 1..self.rows {
            out.raw(b"\r\x1b[0K\x1b[1A");
        }
        out.raw(b"\r\x1b[0K");
        out.raw(prompt.as_bytes());
        self.line.iter().for_each(|&byte| echo(byte, out));
        let mut rows = len.div_ceil(columns);
        let column = len % columns;
        if column == 0 && !self.line.is_empty() {
            out.raw(b"\r\n\r");
            rows += 1;
        }
        out.raw(b"\r");
        if column > 0 {
            Sequence(out).put(format_args!("\x1b[{column}C"));
        }
        self.rows = self.rows.max(rows);
        self.drawn = self.line.len();
    }
}

/// Echoes a byte; the UART driver writes CR before a line feed.
fn echo(byte: u8, out: &mut LogPrinter) {
    if byte == b'\n' {
        out.raw(b"\r");
    }
    out.raw(&[byte]);
}

/// Parses the column of `ESC [ row ; column` (the `R` behind it is not kept).
fn cursor(answer: &[u8]) -> Option<usize> {
    let (row, column) =
        core::str::from_utf8(answer.strip_prefix(b"\x1b[")?).ok()?.split_once(';')?;
    row.parse::<u16>().ok()?;
    column.parse::<u16>().ok().map(usize::from).filter(|&n| n > 0)
}

/// Writer of escape sequences.
struct Sequence<'a>(&'a mut LogPrinter);

impl Sequence<'_> {
    fn put(&mut self, text: core::fmt::Arguments<'_>) {
        // Writing to a ring does not fail.
        let _ = self.write_fmt(text);
    }
}

impl Write for Sequence<'_> {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        self.0.raw(text.as_bytes());
        Ok(())
    }
}
