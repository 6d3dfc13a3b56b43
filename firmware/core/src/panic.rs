//! Lines that a crash prints: those of ESP-IDF, which tools decode and espbench's reader of
//! transcripts knows.

use core::fmt::{self, Write};

/// Most addresses of a backtrace.
pub const FRAMES_MAX: usize = 16;

/// A backtrace: the addresses of return and the stack at each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backtrace {
    frames: [(u32, u32); FRAMES_MAX],
    len: usize,
}

impl Backtrace {
    /// Walks the frame pointers from `fp` as the RISC-V calling convention leaves them: the address of
    /// return is a word below the frame, and the caller's frame pointer two. `read` returns a word
    /// of the stack, `None` outside it.
    pub fn walk(mut fp: u32, mut read: impl FnMut(u32) -> Option<u32>) -> Self {
        let mut trace = Self { frames: [(0, 0); FRAMES_MAX], len: 0 };
        while trace.len < FRAMES_MAX {
            let word = |below: u32| fp.checked_sub(below);
            let (Some(ra), Some(next)) = (word(4).and_then(&mut read), word(8).and_then(&mut read))
            else {
                break;
            };
            if ra == 0 {
                break;
            }
            trace.frames[trace.len] = (ra.wrapping_sub(4), fp);
            trace.len += 1;
            // A stack grows down, so a caller's frame is above.
            if next <= fp {
                break;
            }
            fp = next;
        }
        trace
    }

    /// Returns addresses and stack pointers, innermost first.
    #[must_use]
    pub fn frames(&self) -> &[(u32, u32)] {
        &self.frames[..self.len]
    }
}

/// A crash.
#[derive(Clone, Copy, Debug)]
pub struct Crash<'a> {
    /// Whether the processor raised an exception; otherwise the program gave up.
    pub exception: bool,
    /// Reason in words, which may have several lines.
    pub reason: fmt::Arguments<'a>,
    /// File and line at which the program gave up.
    pub location: Option<(&'a str, u32)>,
    /// Address at which the program gave up.
    pub pc: u32,
    /// Callers.
    pub backtrace: Backtrace,
}

impl Crash<'_> {
    /// Prints the crash, up to the line before the restart.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn print(&self, out: &mut dyn Write) -> fmt::Result {
        out.write_str("\r\n")?;
        if self.exception {
            out.write_str("Guru Meditation Error: Core  0 panic'ed (")?;
            write!(FirstLine { out, over: false }, "{}", self.reason)?;
            out.write_str("). Exception was unhandled.\r\n")?;
        } else {
            write!(out, "abort() was called at PC 0x{:08x} on core 0\r\n", self.pc)?;
        }
        if let Some((file, line)) = self.location {
            write!(out, "panicked at {file}:{line}\r\n")?;
        }
        writeln!(Lines(out), "{}", self.reason)?;
        out.write_str("Backtrace:")?;
        for (pc, sp) in self.backtrace.frames() {
            write!(out, " 0x{pc:08x}:0x{sp:08x}")?;
        }
        out.write_str("\r\n\r\nRebooting...\r\n")
    }
}

/// Passes on the first line.
struct FirstLine<'a> {
    out: &'a mut dyn Write,
    over: bool,
}

impl Write for FirstLine<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.over {
            return Ok(());
        }
        match text.split_once('\n') {
            Some((first, _)) => {
                self.over = true;
                self.out.write_str(first)
            }
            None => self.out.write_str(text),
        }
    }
}

/// Ends lines as a terminal wants them.
struct Lines<'a>(&'a mut dyn Write);

impl Write for Lines<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for (i, line) in text.split('\n').enumerate() {
            if i > 0 {
                self.0.write_str("\r\n")?;
            }
            self.0.write_str(line)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use esp_now::transcript::item::DeviceLine;
    use esp_now::transcript::{LineSplitter, TranscriptEntry, TranscriptItem};
    use std::borrow::ToOwned;
    use std::string::String;
    use std::vec;
    use std::vec::Vec;

    const EMPTY: Backtrace = Backtrace { frames: [(0, 0); FRAMES_MAX], len: 0 };

    fn printed(crash: &Crash<'_>) -> String {
        let mut text = String::new();
        crash.print(&mut text).unwrap();
        text
    }

    /// Returns the crashes that espbench reads in a transcript.
    fn crash_lines(text: &str) -> Vec<String> {
        let (mut lines, mut rest) = (LineSplitter::<512>::new(), text.as_bytes());
        let mut crashes = Vec::new();
        while let Some(piece) = lines.next(&mut rest) {
            if let TranscriptItem::Device(DeviceLine::Panic(text)) = TranscriptEntry::of(piece).item
            {
                crashes.push(text.to_owned());
            }
        }
        crashes
    }

    #[test]
    fn frames_are_walked_until_the_stack_ends() {
        let base = 0x3FC8_0000;
        let mut stack = vec![0u32; 64];
        let mut frame = |at: u32, ra: u32, fp: u32| {
            let i = ((at - base) / 4) as usize;
            (stack[i - 1], stack[i - 2]) = (ra, fp);
        };
        frame(base + 64, 0x4200_0104, base + 128);
        frame(base + 128, 0x4200_0204, base + 200);
        frame(base + 200, 0, 0);
        let read = |at: u32| stack.get((at.checked_sub(base)? / 4) as usize).copied();
        let trace = Backtrace::walk(base + 64, read);
        assert_eq!(trace.frames(), [(0x4200_0100, base + 64), (0x4200_0200, base + 128)]);
        // A pointer that was overwritten ends the walk, and a loop does too.
        assert_eq!(Backtrace::walk(3, read).frames(), []);
        assert_eq!(Backtrace::walk(base + 64, |_| Some(base + 64)).frames().len(), 1);
    }

    #[test]
    fn the_reader_of_transcripts_knows_both_kinds_of_crash() {
        let backtrace = Backtrace::walk(0x100, |at| (at < 0x100).then_some(0x4200_1000));
        let abort = Crash {
            exception: false,
            reason: format_args!("no room\nfor it"),
            location: Some(("src/main.rs", 7)),
            pc: 0x4200_1234,
            backtrace,
        };
        let text = printed(&abort);
        assert_eq!(
            text,
            "\r\nabort() was called at PC 0x42001234 on core 0\r\npanicked at src/main.rs:7\r\n\
             no room\r\nfor it\r\nBacktrace: 0x42000ffc:0x00000100\r\n\r\nRebooting...\r\n"
        );
        let reason = format_args!("Load access fault (5)\nTrapFrame");
        let fault = Crash { exception: true, reason, location: None, backtrace: EMPTY, ..abort };
        let text = text + &printed(&fault);
        let crashes = crash_lines(&text);
        assert_eq!(
            crashes,
            [
                "abort() was called at PC 0x42001234 on core 0",
                "Guru Meditation Error: Core  0 panic'ed (Load access fault (5)). \
                 Exception was unhandled."
            ]
        );
    }
}
