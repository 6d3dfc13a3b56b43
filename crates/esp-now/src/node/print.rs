//! Output of a node: log lines in the form of ESP-IDF and plain text, to the UART and to the remote
//! log.

use core::fmt::{self, Write};
use espbench_model::time::Instant;
use heapless::{Deque, Vec};

/// Capacity of the ring of console output that waits for the driver, in bytes.
pub const UART_RING: usize = 1536;
/// Capacity of the ring of remote log lines that wait to be sent, in bytes.
pub const REMOTE_RING: usize = 1024;
/// Greatest number of remote log lines that wait to be sent (`LOG_QUEUE` of the component).
pub const REMOTE_LINES: usize = 16;

/// Severity of a log line, `esp_log_level_t`. A threshold lets through its own severity and all
/// smaller ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogLevel {
    /// No line, as a threshold.
    None,
    /// Error, letter `E`.
    Error,
    /// Warning, letter `W`.
    Warn,
    /// Information, letter `I`.
    #[default]
    Info,
    /// Debug, letter `D`.
    Debug,
    /// Verbose, letter `V`.
    Verbose,
}

impl LogLevel {
    /// Returns the letter of a line, and its colour in ANSI's SGR where it has one.
    const fn letter(self) -> (char, Option<&'static str>) {
        match self {
            Self::Error => ('E', Some("\x1b[0;31m")),
            Self::Warn => ('W', Some("\x1b[0;33m")),
            Self::Debug => ('D', None),
            Self::Verbose => ('V', None),
            Self::Info | Self::None => ('I', Some("\x1b[0;32m")),
        }
    }
}

/// Greatest number of tags with a threshold of their own.
pub const TAGS: usize = 8;
/// Greatest length of such a tag, in bytes.
pub const TAG: usize = 24;

/// Log and console output: the sinks, and the severity that each lets through.
// The order keeps the fields that are read most often together.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct LogPrinter {
    lengths: Deque<u16, REMOTE_LINES>,
    /// Threshold for the UART.
    pub uart: LogLevel,
    /// Threshold for the remote log.
    pub remote: LogLevel,
    /// Threshold for the stored log, which does not exist here.
    pub flash: LogLevel,
    /// Threshold for the application's own sink, which does not exist here.
    pub custom: LogLevel,
    /// Whether lines are coloured (`CONFIG_LOG_COLORS`).
    pub colours: bool,
    /// Bytes and lines lost because a ring was full.
    pub dropped: PrintDropped,
    out: Deque<u8, UART_RING>,
    lines: Deque<u8, REMOTE_RING>,
    tags: Tags,
}

/// Losses because a ring was full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrintDropped {
    /// Bytes of console output that were lost.
    pub uart_bytes: u32,
    /// Lines of remote log that were lost.
    pub remote_lines: u32,
}

impl Default for LogPrinter {
    fn default() -> Self {
        Self {
            uart: LogLevel::Info,
            remote: LogLevel::None,
            flash: LogLevel::None,
            custom: LogLevel::None,
            tags: Tags::default(),
            colours: false,
            dropped: PrintDropped::default(),
            out: Deque::new(),
            lines: Deque::new(),
            lengths: Deque::new(),
        }
    }
}

impl LogPrinter {
    /// Sets the threshold of a tag, before any sink (`esp_log_level_set`); `*` sets that of all
    /// tags and forgets the others. Returns false if there is no room for one more tag.
    pub fn set_tag(&mut self, tag: &[u8], level: LogLevel) -> bool {
        self.tags.set(tag, level)
    }

    /// Prints plain text (`printf`) on the UART. Line feeds become CR LF.
    pub fn text(&mut self, text: fmt::Arguments<'_>) {
        // Writing to a ring does not fail; bytes that do not fit are counted.
        let _ = UartWriter(self).write_fmt(text);
    }

    /// Prints raw bytes on the UART: echo and escape sequences of the line editor.
    pub fn raw(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.push(byte);
        }
    }

    /// Logs a line: `I (ms) tag: text`, to each sink whose threshold lets it through.
    pub fn log(&mut self, now: Instant, level: LogLevel, tag: &str, text: fmt::Arguments<'_>) {
        self.open(now, level, tag, text);
        self.close(level, tag);
    }

    /// Logs the beginning of a line that is too long for one call. [`part`](Self::part) continues
    /// the line and [`close`](Self::close) ends it. The remote log, whose lines are short, gets
    /// only the beginning.
    pub fn open(&mut self, now: Instant, level: LogLevel, tag: &str, text: fmt::Arguments<'_>) {
        if level > self.tags.of(tag) {
            return;
        }
        let ms = now.as_nanos() / 1_000_000;
        let (letter, colour) = level.letter();
        let colour = colour.filter(|_| self.colours);
        let (on, off) = (colour.unwrap_or(""), if colour.is_some() { "\x1b[0m" } else { "" });
        if level <= self.uart {
            self.text(format_args!("{on}{letter} ({ms}) {tag}: {text}"));
        }
        // Lines of the remote log itself are not logged remotely.
        if level <= self.remote && tag != "espnow" {
            let mut line = RemoteLine(Vec::<u8, 250>::new());
            let _ = line.write_fmt(format_args!("{on}{letter} ({ms}) {tag}: {text}{off}\n"));
            self.queue(&line.0);
        }
    }

    /// Continues a line that was opened with that level and tag.
    pub fn part(&mut self, level: LogLevel, tag: &str, text: fmt::Arguments<'_>) {
        if level <= self.uart && level <= self.tags.of(tag) {
            self.text(text);
        }
    }

    /// Ends a line that was opened with that level and tag.
    pub fn close(&mut self, level: LogLevel, tag: &str) {
        let coloured = self.colours && level.letter().1.is_some();
        let off = if coloured { "\x1b[0m" } else { "" };
        self.part(level, tag, format_args!("{off}\n"));
    }

    fn queue(&mut self, line: &[u8]) {
        let room = self.lines.capacity() - self.lines.len();
        if line.len() > room || self.lengths.push_back(line.len() as u16).is_err() {
            self.dropped.remote_lines = self.dropped.remote_lines.saturating_add(1);
            return;
        }
        self.lines.extend(line.iter().copied());
    }

    /// Returns whether a remote log line waits.
    #[inline]
    #[must_use]
    pub fn has_line(&self) -> bool {
        !self.lengths.is_empty()
    }

    /// Takes the oldest remote log line, cut to `buf`, and returns its length.
    pub fn take_line(&mut self, buf: &mut [u8]) -> Option<usize> {
        let len = usize::from(self.lengths.pop_front()?);
        for at in 0..len {
            let byte = self.lines.pop_front()?;
            if let Some(place) = buf.get_mut(at) {
                *place = byte;
            }
        }
        Some(len.min(buf.len()))
    }

    /// Takes console output and returns its length; 0 if there is none.
    pub fn take_output(&mut self, buf: &mut [u8]) -> usize {
        let mut len = 0;
        while let Some(place) = buf.get_mut(len) {
            let Some(byte) = self.out.pop_front() else { break };
            *place = byte;
            len += 1;
        }
        len
    }

    /// Returns whether console output waits.
    #[inline]
    #[must_use]
    pub fn has_output(&self) -> bool {
        !self.out.is_empty()
    }

    /// Returns the bytes of console output that wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.out.len()
    }

    /// Returns the bytes of console output that still fit.
    #[must_use]
    pub fn room(&self) -> usize {
        UART_RING - self.out.len()
    }

    fn push(&mut self, byte: u8) {
        if self.out.push_back(byte).is_err() {
            self.dropped.uart_bytes = self.dropped.uart_bytes.saturating_add(1);
        }
    }
}

/// Thresholds by tag.
#[derive(Clone, Debug)]
struct Tags {
    others: LogLevel,
    own: Vec<(Vec<u8, TAG>, LogLevel), TAGS>,
}

impl Default for Tags {
    fn default() -> Self {
        Self { others: LogLevel::Verbose, own: Vec::new() }
    }
}

impl Tags {
    fn set(&mut self, tag: &[u8], level: LogLevel) -> bool {
        if tag == b"*" {
            *self = Self { others: level, own: Vec::new() };
            return true;
        }
        if let Some((_, old)) = self.own.iter_mut().find(|(name, _)| name == tag) {
            *old = level;
            return true;
        }
        Vec::from_slice(tag).is_ok_and(|tag| self.own.push((tag, level)).is_ok())
    }

    fn of(&self, tag: &str) -> LogLevel {
        let own = self.own.iter().find(|(name, _)| name == tag.as_bytes());
        own.map_or(self.others, |&(_, level)| level)
    }
}

struct UartWriter<'a>(&'a mut LogPrinter);

impl Write for UartWriter<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            if byte == b'\n' {
                self.0.push(b'\r');
            }
            self.0.push(byte);
        }
        Ok(())
    }
}

/// A remote log line, cut to the size of a frame of ESP-NOW v1.0. The component cuts to its own
/// longest payload, which with v2.0 is 1437 bytes of text.
struct RemoteLine<const N: usize>(Vec<u8, N>);

impl<const N: usize> Write for RemoteLine<N> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.0.capacity() - self.0.len();
        let part = text.as_bytes();
        let _ = self.0.extend_from_slice(&part[..part.len().min(room)]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use espbench_model::time::Duration;

    #[test]
    fn a_line_reaches_the_sinks_that_want_it() {
        let mut printer = LogPrinter { remote: LogLevel::Warn, ..LogPrinter::default() };
        let now = Instant::ZERO + Duration::from_millis(12345);
        printer.log(now, LogLevel::Info, "app", format_args!("n: {}", 7));
        printer.log(now, LogLevel::Warn, "app", format_args!("low"));
        let mut buf = [0; 64];
        let len = printer.take_output(&mut buf);
        assert_eq!(&buf[..len], b"I (12345) app: n: 7\r\nW (12345) app: low\r\n");
        assert_eq!(printer.take_line(&mut buf), Some(19));
        assert_eq!(&buf[..19], b"W (12345) app: low\n");
        assert_eq!(printer.take_line(&mut buf), None);
    }

    #[test]
    fn a_tag_has_its_own_threshold() {
        let mut printer = LogPrinter::default();
        assert!(printer.set_tag(b"*", LogLevel::Warn) && printer.set_tag(b"app", LogLevel::Info));
        let log = |printer: &mut LogPrinter, tag: &str| {
            printer.log(Instant::ZERO, LogLevel::Info, tag, format_args!("x"));
            printer.take_output(&mut [0; 64])
        };
        assert_eq!((log(&mut printer, "app"), log(&mut printer, "other")), (14, 0));
        assert!(printer.set_tag(b"app", LogLevel::Error) && log(&mut printer, "app") == 0);
        assert!(printer.set_tag(b"*", LogLevel::Info) && log(&mut printer, "app") == 14);
        assert!((0..TAGS as u8).all(|n| printer.set_tag(&[n], LogLevel::Info)));
        assert!(!printer.set_tag(b"one more", LogLevel::Info));
    }

    #[test]
    fn full_rings_count_what_they_drop() {
        let mut printer = LogPrinter { remote: LogLevel::Info, ..LogPrinter::default() };
        for _ in 0..100 {
            printer.log(Instant::ZERO, LogLevel::Info, "t", format_args!("{:080}", 1));
        }
        assert_eq!(printer.dropped.remote_lines, 89, "eleven fit");
        assert!(printer.dropped.uart_bytes > 0);
        assert_eq!(printer.waiting(), UART_RING);
    }
}
