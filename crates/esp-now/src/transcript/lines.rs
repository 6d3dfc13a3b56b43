//! Splits the bytes of a serial port into lines.
//!
//! The device's line editor (linenoise in ESP-IDF) draws its command line anew with every key: CR,
//! prompt, text, `ESC [ 0 K`. A line that starts with a prompt is therefore kept as a terminal
//! would show it: CR goes back, and the text after it overwrites. Any other line is kept as it
//! came. A command that the editor breaks at exactly the terminal's width comes out as two pieces.

use super::split;

/// Sensible size of the buffer of one line, in bytes: `log` lines of the component are at most as
/// long as an ESP-NOW v1.0 frame, except for the lists of devices, which may be of any length.
pub const LINE: usize = 512;

/// Greatest length of a control sequence, in bytes; a longer one counts as rubbish.
const SEQUENCE: u8 = 32;

/// A piece of the transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TranscriptPiece<'a> {
    /// A line that is not empty.
    Line {
        /// Text of the line, without line end and control characters.
        text: &'a str,
        /// Whether its end is missing, because it did not fit or the transcript ends there.
        cut: bool,
    },
    /// The device waits for a command.
    Prompt,
    /// Text that was typed, or pasted, at the prompt.
    Echo(&'a str),
    /// The device asks its terminal and waits for the answer.
    Query(Query),
}

/// A question to the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Query {
    /// `ESC [ 6 n`: where is the cursor? The line editor waits for the answer before a prompt.
    Position,
    /// `ESC [ 5 n`: are you there? ESP-IDF asks once, if its editor probes the terminal.
    Status,
}

impl Query {
    /// Returns an answer that lets the device go on: a terminal of 80 columns that works.
    #[must_use]
    pub const fn answer(self) -> &'static [u8] {
        match self {
            Self::Position => b"\x1b[1;80R",
            Self::Status => b"\x1b[0n",
        }
    }
}

/// Counts of what was left out or changed between bytes and lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineCounts {
    /// Bytes taken.
    pub bytes: u64,
    /// Lines returned, without echoes.
    pub lines: u32,
    /// Empty lines.
    pub blank: u32,
    /// Lines that did not fit into the buffer.
    pub cut_lines: u32,
    /// Bytes of such lines that were left out.
    pub cut_bytes: u32,
    /// Bytes that were not UTF-8, replaced by question marks.
    pub not_utf8: u32,
    /// Control characters left out, other than CR, LF and NUL.
    pub controls: u32,
    /// Control sequences left out.
    pub sequences: u32,
}

/// Position within a control sequence (ECMA-48).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum EscapeState {
    #[default]
    None,
    /// After ESC.
    Start,
    /// After `ESC [`: the first number, and the bytes so far.
    Csi { number: u16, first: bool, len: u8 },
}

/// Effect of a byte.
enum ByteEffect {
    Nothing,
    Query(Query),
    Prompt,
    Seal,
    /// Seal first, then take the byte again.
    SealBefore,
}

/// Splitter of bytes into lines, in `N` bytes of memory. See the [module](self).
#[derive(Clone, Debug)]
pub struct LineSplitter<const N: usize = LINE> {
    buf: [u8; N],
    len: usize,
    cursor: usize,
    escape: EscapeState,
    /// Whether a CR has come, and nothing visible since.
    returned: bool,
    /// Length of the prompt at the start of the line; 0 for none.
    prompt: usize,
    cut: bool,
    /// Index up to which the complete line has been returned; `None` while it is not complete.
    sealed: Option<usize>,
    counts: LineCounts,
}

impl<const N: usize> Default for LineSplitter<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> LineSplitter<N> {
    /// Creates a splitter at the start of a line.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            buf: [0; N],
            len: 0,
            cursor: 0,
            escape: EscapeState::None,
            returned: false,
            prompt: 0,
            cut: false,
            sealed: None,
            counts: LineCounts {
                bytes: 0,
                lines: 0,
                blank: 0,
                cut_lines: 0,
                cut_bytes: 0,
                not_utf8: 0,
                controls: 0,
                sequences: 0,
            },
        }
    }

    /// Returns the counts so far.
    #[must_use]
    pub const fn counts(&self) -> &LineCounts {
        &self.counts
    }

    /// Takes bytes from the front of `bytes` and returns the next piece; `None` when all are taken
    /// and no piece is complete. The pieces do not depend on how the bytes are cut into chunks.
    pub fn next(&mut self, bytes: &mut &[u8]) -> Option<TranscriptPiece<'_>> {
        loop {
            if self.sealed.is_some() {
                let Some(part) = self.part() else {
                    self.clear();
                    continue;
                };
                return Some(self.piece(part));
            }
            let (&byte, rest) = bytes.split_first()?;
            let step = self.push(byte);
            if !matches!(step, ByteEffect::SealBefore) {
                *bytes = rest;
                self.counts.bytes = self.counts.bytes.wrapping_add(1);
            }
            match step {
                ByteEffect::Nothing => {}
                ByteEffect::Query(query) => return Some(TranscriptPiece::Query(query)),
                ByteEffect::Prompt => return Some(TranscriptPiece::Prompt),
                ByteEffect::Seal | ByteEffect::SealBefore => self.seal(),
            }
        }
    }

    /// Ends the transcript: an unfinished line counts as complete. Call [`next`](Self::next) with
    /// no bytes until it returns `None`.
    pub fn finish(&mut self) {
        self.escape = EscapeState::None;
        if self.sealed.is_none() && self.len > self.prompt {
            self.cut = true;
            self.seal();
        }
    }

    fn push(&mut self, byte: u8) -> ByteEffect {
        match self.escape {
            // Nearly all bytes are of this kind.
            EscapeState::None if matches!(byte, 0x20..=0x7E) && !self.returned => self.write(byte),
            EscapeState::None => self.character(byte),
            // A line end, or another ESC, ends a torn sequence.
            _ if matches!(byte, b'\n' | b'\r' | 0x1B) => {
                self.escape = EscapeState::None;
                self.character(byte)
            }
            EscapeState::Start => {
                self.escape = match byte {
                    b'[' => EscapeState::Csi { number: 0, first: true, len: 0 },
                    // Designations take one more byte (`ESC ( B`).
                    0x20..=0x2F => EscapeState::Start,
                    _ => EscapeState::None,
                };
                ByteEffect::Nothing
            }
            EscapeState::Csi { number, first, len } => self.sequence(byte, number, first, len),
        }
    }

    fn sequence(&mut self, byte: u8, number: u16, first: bool, len: u8) -> ByteEffect {
        let len = len.saturating_add(1);
        self.escape = match byte {
            _ if len > SEQUENCE => EscapeState::None,
            b'0'..=b'9' if first => {
                let number = number.saturating_mul(10).saturating_add(u16::from(byte - b'0'));
                EscapeState::Csi { number, first, len }
            }
            0x20..=0x3F => EscapeState::Csi { number, first: false, len },
            _ => EscapeState::None,
        };
        if self.escape != EscapeState::None || !(0x40..=0x7E).contains(&byte) {
            return ByteEffect::Nothing;
        }
        let by = usize::from(number.max(1));
        match (byte, number) {
            (b'n', 6) => return ByteEffect::Query(Query::Position),
            (b'n', 5) => return ByteEffect::Query(Query::Status),
            (b'K', 0) if self.prompt > 0 => self.len = self.len.min(self.cursor),
            (b'K', 2) if self.prompt > 0 => (self.len, self.cursor) = (0, 0),
            (b'C', _) if self.prompt > 0 => self.cursor = (self.cursor + by).min(self.len),
            (b'D', _) if self.prompt > 0 => self.cursor = self.cursor.saturating_sub(by),
            _ => {}
        }
        self.counts.sequences = self.counts.sequences.saturating_add(1);
        ByteEffect::Nothing
    }

    fn character(&mut self, byte: u8) -> ByteEffect {
        match byte {
            b'\n' => return ByteEffect::Seal,
            b'\r' => self.returned = true,
            0x1B => self.escape = EscapeState::Start,
            0 => {}
            0x08 if self.prompt > 0 => self.cursor = self.cursor.saturating_sub(1),
            1..=8 | 0x0B..=0x1F | 0x7F => {
                self.counts.controls = self.counts.controls.saturating_add(1);
            }
            _ if self.returned && self.prompt == 0 && self.len > 0 => {
                return ByteEffect::SealBefore;
            }
            _ => return self.write(byte),
        }
        if self.returned && self.prompt > 0 {
            self.cursor = 0;
            self.returned = false;
        }
        ByteEffect::Nothing
    }

    /// Writes at the cursor, as a terminal does.
    fn write(&mut self, byte: u8) -> ByteEffect {
        self.returned = false;
        let Some(place) = self.buf.get_mut(self.cursor) else {
            let first = u32::from(!core::mem::replace(&mut self.cut, true));
            self.counts.cut_lines = self.counts.cut_lines.saturating_add(first);
            self.counts.cut_bytes = self.counts.cut_bytes.saturating_add(1);
            return ByteEffect::Nothing;
        };
        *place = byte;
        self.cursor += 1;
        self.len = self.len.max(self.cursor);
        let text = self.buf.get(..self.len).unwrap_or_default();
        if byte == b' ' && self.prompt == 0 && split::is_prompt(text) {
            self.prompt = self.len;
            return ByteEffect::Prompt;
        }
        ByteEffect::Nothing
    }

    fn seal(&mut self) {
        let text = self.buf.get_mut(..self.len).unwrap_or_default();
        self.counts.not_utf8 = self.counts.not_utf8.saturating_add(split::repair(text));
        if text.trim_ascii().is_empty() {
            self.counts.blank = self.counts.blank.saturating_add(1);
        }
        self.sealed = Some(0);
    }

    fn clear(&mut self) {
        (self.len, self.cursor, self.prompt) = (0, 0, 0);
        (self.cut, self.returned, self.sealed) = (false, false, None);
    }

    /// Returns the next part of the sealed line that is not blank.
    fn part(&mut self) -> Option<LinePart> {
        loop {
            let start = self.sealed?;
            let text = self.buf.get(..self.len)?;
            if start >= text.len() {
                return None;
            }
            let echo = self.prompt > 0;
            let (start, end) = if echo {
                let typed = text.get(self.prompt..)?;
                // Other tasks go on printing while the editor waits for keys.
                let end = split::find_output(typed).map_or(text.len(), |at| self.prompt + at);
                (core::mem::take(&mut self.prompt), end)
            } else {
                (start, self.line_end(start))
            };
            self.sealed = Some(end.max(start));
            if !self.buf.get(start..end)?.trim_ascii().is_empty() {
                return Some(LinePart { start, end, echo, last: end == self.len });
            }
        }
    }

    /// Returns where the line that starts at `start` ends: before the next prefix of a monitor,
    /// since remote lines that were cut to a frame have no line end. A prefix of the same device
    /// before the rest of such a line (the answer to `scan` may take two frames) is removed
    /// instead.
    fn line_end(&mut self, start: usize) -> usize {
        let mut from = start + 1;
        loop {
            let text = self.buf.get(..self.len).unwrap_or_default();
            let here = text.get(start..).unwrap_or_default();
            let end = split::find_second_stamp(here).map_or(self.len, |at| start + at);
            let Some(next) = split::find_prefix(text, from).filter(|next| next.start < end) else {
                return end;
            };
            let there = text.get(next.start..).unwrap_or_default();
            let body = text.get(next.end..).unwrap_or_default().trim_ascii_start();
            let same = split::prefix(here).is_some() && here.get(..19) == there.get(..19);
            if !same || split::stamp(body).is_some() {
                return next.start;
            }
            let body = next.end + usize::from(text.get(next.end) == Some(&b' '));
            if let Some(text) = self.buf.get_mut(..self.len) {
                text.copy_within(body.., next.start);
            }
            self.len = self.len.saturating_sub(body - next.start);
            from = next.start;
        }
    }

    fn piece(&mut self, part: LinePart) -> TranscriptPiece<'_> {
        let bytes = self.buf.get(part.start..part.end).unwrap_or_default();
        let text = core::str::from_utf8(bytes).unwrap_or_default();
        if part.echo {
            return TranscriptPiece::Echo(text.trim_ascii_end());
        }
        self.counts.lines = self.counts.lines.saturating_add(1);
        TranscriptPiece::Line { text: text.trim_ascii_end(), cut: self.cut && part.last }
    }
}

/// Part of the buffer that is a piece.
struct LinePart {
    start: usize,
    end: usize,
    echo: bool,
    last: bool,
}

#[cfg(test)]
mod tests;
