//! A stand-in for a board whose console is ESP-IDF's REPL (`esp_console_new_repl_uart`, `…_usb_serial_jtag`, `…_usb_cdc`): what it
//! prints and how it takes bytes, as `linenoise.c`, `esp_console_repl_chip.c` and the drivers' VFS of ESP-IDF document it.
//!
//! - Both directions: received CR is LF, and LF is sent as CR LF.
//! - The editor is asked for once, by `ESC [ 5 n`: without four bytes of an answer in time it is "dumb", and the prompt has no
//!   colour. Later releases have more time, and a first byte other than ESC ends the question at once.
//! - Dumb, it echoes what it takes, drops what is not printable, and ends a line at LF.
//! - Else it asks `ESC [ 6 n` and a NUL for the width before each prompt, and takes what comes up to an `R`, or 31 bytes, for the answer.
//!   Later releases ask again on both sides of the prompt, for the width of that.
//! - What comes less than 30 ms after it was waited for is pasted: echoed as it is, in earlier releases with the end of the line.
//! - A line has 255 characters; what is beyond is not taken.

use espbench_model::time::Instant;
use std::collections::VecDeque;
use std::time::Duration;

/// Connection of the console.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Driver {
    /// A UART of 115,200 baud: what does not fit the buffers is lost.
    Uart,
    /// The chip's own USB: packets of 64 bytes each millisecond, held back where the buffer is full.
    UsbSerialJtag,
    /// USB of an S2, the same to a host.
    UsbCdc,
}

/// How the firmware was built.
#[derive(Clone, Copy, Debug)]
pub(super) struct Firmware {
    pub(super) driver: Driver,
    /// Whether prompts and log lines have colours (`CONFIG_LOG_COLORS`).
    pub(super) colours: bool,
    pub(super) release: &'static Release,
    /// Whether the terminal is asked whether it is one, or the firmware has set the mode (`linenoiseSetDumbMode`).
    pub(super) mode: Mode,
}

/// Habits in which releases of ESP-IDF differ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Release {
    /// Milliseconds in which a terminal has to say that it is one.
    probe_ms: u64,
    /// Whether a first byte other than ESC is its refusal.
    looks_at_first: bool,
    /// Whether the cursor is asked for on both sides of the prompt.
    measures_prompt: bool,
    /// Whether a quick end of line is pasted.
    pastes_return: bool,
}

/// The earliest, one between, and the latest. As a commit of `linenoise.c` each has been, the first as far as ESP-IDF 4.4.
pub(super) const RELEASES: [Release; 3] = [
    Release { probe_ms: 200, looks_at_first: false, measures_prompt: false, pastes_return: true },
    Release { probe_ms: 200, looks_at_first: false, measures_prompt: true, pastes_return: true },
    Release { probe_ms: 500, looks_at_first: true, measures_prompt: true, pastes_return: false },
];

/// A question for the cursor's place: for which place the device sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CursorQuery {
    /// Where the line begins.
    Start,
    /// Where the right margin is.
    Margin,
    /// Where the prompt begins, and where it ends.
    Before,
    After,
}

/// Mode of the line editor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// By `linenoiseProbe`.
    Asked,
    Dumb,
    Editor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The chip's ROM and the firmware print.
    Boot,
    Probe {
        until: Instant,
        read: usize,
    },
    Dumb,
    Query(CursorQuery),
    Edit {
        since: Instant,
    },
    /// An escape has come: two bytes belong to it, or three with a digit.
    Escape {
        seen: u8,
    },
    /// A command is carried out until then.
    Runs {
        until: Instant,
    },
}

/// Characters of a line at most (`max_cmdline_length`, less the terminator).
const LINE_MOST: usize = 255;
/// Bytes that a UART takes while nobody reads: the driver's ring and the hardware's FIFO.
const UART_ROOM: usize = 256 + 128;
/// Bytes that the chip's own USB takes.
const USB_ROOM: usize = 256;
const PASTE: Duration = Duration::from_millis(30);
const PROMPT: &str = "espbench>";

/// The board.
#[derive(Debug)]
pub(super) struct ReplDevice {
    firmware: Firmware,
    stage: Stage,
    is_dumb: bool,
    /// On the way to the board, and in its buffer.
    wire: VecDeque<u8>,
    input: VecDeque<u8>,
    line: Vec<u8>,
    answer: Vec<u8>,
    out: Vec<u8>,
    /// Lines that were carried out.
    pub(super) carried_out: Vec<String>,
    /// Bytes that were lost on the way.
    pub(super) lost: usize,
}

impl ReplDevice {
    pub(super) fn new(firmware: Firmware) -> Self {
        Self {
            firmware,
            stage: Stage::Boot,
            is_dumb: false,
            wire: VecDeque::new(),
            input: VecDeque::new(),
            line: Vec::new(),
            answer: Vec::new(),
            out: Vec::new(),
            carried_out: Vec::new(),
            lost: 0,
        }
    }

    /// Tells whether the line editor is dumb.
    pub(super) fn is_dumb(&self) -> bool {
        self.is_dumb
    }

    /// Takes bytes from the host.
    pub(super) fn receive(&mut self, bytes: &[u8]) {
        self.wire.extend(bytes);
    }

    /// Lets a millisecond pass; returns what is printed.
    pub(super) fn step(&mut self, now: Instant) -> Vec<u8> {
        self.arrive();
        loop {
            let before = (self.stage, self.input.len());
            self.go_on(now);
            if (self.stage, self.input.len()) == before {
                break;
            }
        }
        std::mem::take(&mut self.out)
    }

    fn arrive(&mut self) {
        let (most, room) = match self.firmware.driver {
            // 11.52 bytes each millisecond.
            Driver::Uart => (12, UART_ROOM),
            Driver::UsbSerialJtag | Driver::UsbCdc => (64, USB_ROOM),
        };
        for _ in 0..most {
            let is_full = self.input.len() >= room;
            if is_full && self.firmware.driver != Driver::Uart {
                return;
            }
            let Some(byte) = self.wire.pop_front() else { return };
            if is_full {
                self.lost += 1;
            } else {
                self.input.push_back(if byte == b'\r' { b'\n' } else { byte });
            }
        }
    }

    /// Prints by the driver.
    fn print(&mut self, text: &str) {
        for byte in text.bytes() {
            if byte == b'\n' {
                self.out.push(b'\r');
            }
            self.out.push(byte);
        }
    }

    fn go_on(&mut self, now: Instant) {
        match self.stage {
            Stage::Boot => {
                self.print("ESP-ROM:esp32c3-api1-20210207\nrst:0x1 (POWERON),boot:0xc (SPI_FAST_FLASH_BOOT)\n");
                self.log("main_task: Calling app_main()");
                self.print("\nType 'help' to get the list of commands.\n");
                match self.firmware.mode {
                    Mode::Asked => {
                        self.print("\x1b[5n");
                        let most = Duration::from_millis(self.firmware.release.probe_ms);
                        self.stage = Stage::Probe { until: now + most, read: 0 };
                    }
                    Mode::Dumb => self.begin(true),
                    Mode::Editor => self.begin(false),
                }
            }
            Stage::Probe { until, read } => {
                if let Some(byte) = self.input.pop_front() {
                    match read + 1 {
                        1 if byte != 0x1B && self.firmware.release.looks_at_first => {
                            self.without_editor();
                        }
                        4 => self.begin(false),
                        read => self.stage = Stage::Probe { until, read },
                    }
                } else if now >= until {
                    self.without_editor();
                }
            }
            Stage::Runs { until } if now >= until => {
                let number = self.carried_out.len();
                self.log(&format!("cmd: done {number}"));
                self.prompt();
            }
            Stage::Runs { .. } => {}
            Stage::Dumb | Stage::Query(_) | Stage::Edit { .. } | Stage::Escape { .. } => {
                let Some(byte) = self.input.pop_front() else { return };
                match self.stage {
                    Stage::Query(query) => self.answered(now, query, byte),
                    Stage::Edit { since } => self.edit(now, since, byte),
                    Stage::Escape { seen } => self.escape(now, seen, byte),
                    _ => self.take(now, byte),
                }
            }
        }
    }

    fn log(&mut self, text: &str) {
        if self.firmware.colours {
            self.print(&format!("\x1b[0;32mI (123) {text}\x1b[0m\n"));
        } else {
            self.print(&format!("I (123) {text}\n"));
        }
    }

    fn without_editor(&mut self) {
        self.print("\nYour terminal application does not support escape sequences.\n\n");
        self.print("Line editing and history features are disabled.\n\nOn Windows, try using Putty instead.\n");
        self.begin(true);
    }

    fn begin(&mut self, is_dumb: bool) {
        self.is_dumb = is_dumb;
        self.prompt();
    }

    fn prompt(&mut self) {
        self.line.clear();
        if self.is_dumb {
            self.print(&format!("{PROMPT} "));
            self.stage = Stage::Dumb;
        } else {
            self.ask(CursorQuery::Start);
        }
    }

    fn ask(&mut self, query: CursorQuery) {
        self.out.extend(b"\x1b[6n\0");
        self.answer.clear();
        self.stage = Stage::Query(query);
    }

    fn answered(&mut self, now: Instant, query: CursorQuery, byte: u8) {
        if byte != b'R' {
            if byte != b'\n' {
                self.answer.push(byte);
            }
            if self.answer.len() < 31 {
                return;
            }
        }
        let is_valid = self.answer.starts_with(b"\x1b[") && self.answer.contains(&b';');
        let measures = self.firmware.release.measures_prompt;
        match query {
            CursorQuery::Start if is_valid => {
                self.out.extend(b"\x1b[999C");
                return self.ask(CursorQuery::Margin);
            }
            CursorQuery::Margin if is_valid => self.out.extend(b"\x1b[79D"),
            _ => {}
        }
        match query {
            CursorQuery::Start | CursorQuery::Margin if measures => self.ask(CursorQuery::Before),
            CursorQuery::Before => {
                self.out.extend(self.shown_prompt().bytes());
                self.ask(CursorQuery::After);
            }
            CursorQuery::After => self.stage = Stage::Edit { since: now },
            CursorQuery::Start | CursorQuery::Margin => {
                self.out.extend(self.shown_prompt().bytes());
                self.stage = Stage::Edit { since: now };
            }
        }
    }

    fn shown_prompt(&self) -> String {
        if self.firmware.colours {
            format!("\x1b[0;32m{PROMPT} \x1b[0m")
        } else {
            format!("{PROMPT} ")
        }
    }

    fn edit(&mut self, now: Instant, since: Instant, byte: u8) {
        self.stage = Stage::Edit { since: now };
        if now.since(since) < PASTE && (byte != b'\n' || self.firmware.release.pastes_return) {
            if self.line.len() < LINE_MOST {
                self.line.push(byte);
                self.print(&char::from(byte).to_string());
            }
            return;
        }
        match byte {
            b'\n' => {
                self.draw();
                self.print("\n");
                self.line.retain(|it| (0x20..0x7F).contains(it));
                self.carry_out(now);
            }
            0x08 | 0x7F => {
                self.line.pop();
                self.draw();
            }
            0x1B => self.stage = Stage::Escape { seen: 0 },
            // Ctrl-U.
            0x15 => {
                self.line.clear();
                self.draw();
            }
            _ => {
                if self.line.len() < LINE_MOST {
                    self.line.push(byte);
                }
                self.draw();
            }
        }
    }

    fn escape(&mut self, now: Instant, seen: u8, byte: u8) {
        self.stage = match (seen, byte) {
            (0, _) => Stage::Escape { seen: 1 },
            (1, b'0'..=b'9') => Stage::Escape { seen: 2 },
            _ => Stage::Edit { since: now },
        };
    }

    /// Draws the line again, as an editor of several lines does.
    fn draw(&mut self) {
        let line = String::from_utf8_lossy(&self.line).into_owned();
        let column = (PROMPT.len() + 1 + line.len()) % 80;
        let text = format!("\r\x1b[0K{}{line}\r\x1b[{column}C", self.shown_prompt());
        self.out.extend(text.bytes());
    }

    fn take(&mut self, now: Instant, byte: u8) {
        match byte {
            b'\n' => {
                self.print("\n");
                self.carry_out(now);
            }
            0x08 | 0x7F => {
                self.line.pop();
                self.print("\x08 ");
            }
            0..=0x1C => {}
            _ if self.line.len() < LINE_MOST => {
                self.line.push(byte);
                self.print(&char::from(byte).to_string());
            }
            _ => {}
        }
    }

    fn carry_out(&mut self, now: Instant) {
        if self.line.is_empty() {
            return self.prompt();
        }
        self.carried_out.push(String::from_utf8_lossy(&self.line).into_owned());
        self.line.clear();
        self.stage = Stage::Runs { until: now + Duration::from_millis(50) };
    }
}
