//! The console of a device that speaks IP, as ESP-IDF's `iperf` example has it, at a terminal that does not
//! answer cursor queries: the line editor is "dumb" then, and echoes what is typed.
//!
//! | module | contents |
//! |---|---|
//! | `command` | command lines |
//! | `text` | what the device prints of itself |

mod command;
mod text;

pub(super) use command::{CommandProblem, ConsoleCommand, IperfCommandLine, PingLine};
pub(super) use text::{
    boot_lines, connect_failed, help, iperf_begins, joined_lines, left_line, rate_row, version,
};

use super::uart::UartQueue;
use super::{PRINTED_MAX, TYPED_MAX};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::time::Instant;

/// Characters of a line at most; more are neither kept nor echoed (`max_cmdline_length`).
const LINE_MAX: usize = 256;

/// The prompt.
const PROMPT: &str = "iperf> ";

/// A ping that goes on.
#[derive(Clone, Debug)]
pub(super) struct PingSession {
    pub(super) to: [u8; 4],
    pub(super) ident: u16,
    pub(super) line: PingLine,
    /// Number of the last request, and when it was sent; `None` while none is on its way.
    pub(super) seq: u16,
    pub(super) sent: Option<Instant>,
    pub(super) began: Instant,
    /// When the next request is due.
    pub(super) next: Instant,
    pub(super) received: u32,
    /// Sum of the round trips in milliseconds.
    pub(super) sum_ms: u64,
}

impl PingSession {
    /// Returns when something is to be done.
    pub(super) fn due(&self) -> Instant {
        self.sent.map_or(self.next, |it| it + self.line.timeout)
    }
}

/// Tests of iperf whose rows a console shows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ShownIperf {
    /// Whether a server's rows are shown, and until when.
    pub(super) server_until: Option<Instant>,
    /// Whether a client's rows are shown.
    pub(super) client: bool,
    /// Programs of the device that had failed when the client began.
    pub(super) failed: u64,
    /// Whether the head of the table has been printed.
    pub(super) headed: bool,
}

impl ShownIperf {
    /// Returns whether a test goes on.
    pub(super) const fn is_busy(&self) -> bool {
        self.client || self.server_until.is_some()
    }
}

/// A console: the two directions of its line, and the line editor.
#[derive(Debug)]
pub(super) struct DeviceConsole {
    pub(super) typed: UartQueue,
    pub(super) printed: UartQueue,
    line: Vec<u8>,
    /// Characters of this line that did not fit, and those of all lines.
    cut: u64,
    pub(super) lost: u64,
    /// Whether the last character was a carriage return: the line feed behind it is no line.
    returned: bool,
    /// Whether the device listens: it has started.
    pub(super) listens: bool,
    /// Bytes that arrived while the device was off.
    pub(super) off: u64,
    pub(super) ping: Option<PingSession>,
    pub(super) iperf: ShownIperf,
}

impl DeviceConsole {
    pub(super) fn new(baud: u32) -> Self {
        Self {
            typed: UartQueue::new(baud, TYPED_MAX),
            printed: UartQueue::new(baud, PRINTED_MAX),
            line: Vec::new(),
            cut: 0,
            lost: 0,
            returned: false,
            listens: true,
            off: 0,
            ping: None,
            iperf: ShownIperf::default(),
        }
    }

    /// Prints text; line feeds get a carriage return, as the driver of the console does.
    pub(super) fn print(&mut self, now: Instant, text: &str) {
        let mut last = 0;
        for byte in text.bytes() {
            if byte == b'\n' && last != b'\r' {
                self.printed.push(now, b'\r');
            }
            self.printed.push(now, byte);
            last = byte;
        }
    }

    /// Prints bytes as they are.
    pub(super) fn print_bytes(&mut self, now: Instant, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.printed.push(now, *byte));
    }

    /// Prints the prompt.
    pub(super) fn prompt(&mut self, now: Instant) {
        self.print(now, PROMPT);
    }

    /// Takes a byte that has been typed; returns the line that it ends.
    pub(super) fn take(&mut self, now: Instant, byte: u8) -> Option<String> {
        if !self.listens {
            self.off += 1;
            return None;
        }
        let was_returned = core::mem::replace(&mut self.returned, byte == b'\r');
        match byte {
            b'\n' if was_returned => None,
            b'\r' | b'\n' => {
                self.print(now, "\n");
                let line = core::mem::take(&mut self.line);
                let cut = core::mem::take(&mut self.cut);
                if cut > 0 {
                    self.lost += cut;
                    // ESP-IDF's console says nothing.
                    self.print(now, &format!("{cut} characters of the line were lost\n"));
                }
                Some(String::from_utf8_lossy(&line).into_owned())
            }
            0x08 | 0x7F => {
                if self.line.pop().is_some() {
                    self.print(now, "\x08 \x08");
                }
                None
            }
            // Ctrl-U and Ctrl-C: the line is begun anew.
            0x03 | 0x15 => {
                self.line.clear();
                self.cut = 0;
                self.print(now, "\n");
                self.prompt(now);
                None
            }
            ..0x20 => None,
            _ if self.line.len() >= LINE_MAX => {
                self.cut += 1;
                None
            }
            _ => {
                self.line.push(byte);
                self.printed.push(now, byte);
                None
            }
        }
    }

    /// Forgets all that goes on, as a reset does.
    pub(super) fn reset(&mut self) {
        self.line.clear();
        self.cut = 0;
        self.ping = None;
        self.iperf = ShownIperf::default();
        self.listens = false;
    }

    /// Parses a line.
    pub(super) fn parse(line: &str) -> Result<ConsoleCommand, CommandProblem> {
        command::parse(line)
    }
}

/// Shortest pause between two requests of a ping.
pub(super) const PING_LEAST: Duration = Duration::from_millis(10);

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(console: &mut DeviceConsole, text: &str) -> Vec<String> {
        let now = Instant::from_nanos(1_000_000);
        text.bytes().filter_map(|byte| console.take(now, byte)).collect()
    }

    fn shown(console: &mut DeviceConsole) -> String {
        let late = Instant::from_nanos(u64::MAX / 2);
        let bytes: Vec<u8> =
            core::iter::from_fn(|| console.printed.pop(late)).map(|it| it.1).collect();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_line_is_echoed_and_edited() {
        let mut console = DeviceConsole::new(115_200);
        assert_eq!(typed(&mut console, "hexx\x08\x7Flp\r\n"), ["help"]);
        assert_eq!(shown(&mut console), "hexx\x08 \x08\x08 \x08lp\r\n");
        assert_eq!(typed(&mut console, "rubbish\x15version\n\n"), ["version", ""]);
    }

    #[test]
    fn a_line_is_bounded_and_a_device_that_is_off_hears_nothing() {
        let mut console = DeviceConsole::new(115_200);
        let long = "x".repeat(LINE_MAX + 50);
        assert_eq!(typed(&mut console, &(long + "\r"))[0].len(), LINE_MAX);
        assert_eq!(console.lost, 50);
        assert!(shown(&mut console).ends_with("\r\n50 characters of the line were lost\r\n"));
        console.reset();
        assert!(typed(&mut console, "help\r").is_empty());
        assert_eq!(console.off, 5);
    }
}
