//! A device with nothing but a console, at a terminal.

mod parsing;
mod sessions;

use super::args::ParsedArgs;
use super::command::*;
use super::words::Words;
use super::*;
use crate::component::Idf;
use crate::node::board::{BareBoard, Board, HeapInfo, NvsKey};
use crate::node::print::UART_RING;
use crate::node::task::{EspNowEvent, NodeSettings, Shared, TaskStep};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::{Duration, Instant};
use proptest::prelude::*;
use std::string::{String, ToString};
use std::vec::Vec;

const ME: Mac = Mac([0x24, 0x0A, 0xC4, 0, 0, 1]);
const PEER: Mac = Mac([0x24, 0x0A, 0xC4, 0, 0, 2]);

/// A device with nothing but a console, and its terminal.
struct Desk {
    now: Instant,
    board: Store,
    shared: Shared,
    console: Console,
    local: Local,
}

/// A board that stores credentials.
struct Store(BareBoard, Option<Vec<u8>>, Option<(u8, bool)>);

impl Board for Store {
    fn random(&mut self, out: &mut [u8]) {
        self.0.random(out);
    }
    fn load(&mut self, _: NvsKey, _: &mut [u8]) -> Option<usize> {
        None
    }
    fn save(&mut self, key: NvsKey, value: &[u8]) -> bool {
        assert_eq!(key, NvsKey::Wifi);
        self.1 = Some(value.to_vec());
        true
    }
    fn forget(&mut self, key: NvsKey) {
        if key == NvsKey::Wifi {
            self.1 = None;
        }
    }
    fn heap(&self) -> HeapInfo {
        HeapInfo { free: 200_000, minimum: 190_000, total: 300_000 }
    }
    fn pin(&mut self, number: u8, high: bool) {
        self.2 = Some((number, high));
    }
}

impl Desk {
    fn new(idf: Idf) -> Self {
        let mut settings = NodeSettings::default();
        settings.compat.idf = idf;
        Self {
            now: Instant::ZERO + Duration::from_secs(1),
            board: Store(BareBoard(1), None, None),
            shared: Shared::new(ME, settings),
            console: Console::default(),
            local: Local::new(),
        }
    }

    fn cx(&mut self) -> (Cx<'_>, &mut Console, &mut Local) {
        let cx = Cx { now: self.now, board: &mut self.board, shared: &mut self.shared };
        (cx, &mut self.console, &mut self.local)
    }

    /// Returns the output after these bytes, which come `ms` after the last.
    fn after(&mut self, ms: u64, bytes: &[u8]) -> String {
        self.now = self.now + Duration::from_millis(ms);
        self.console.receive(bytes);
        let (mut cx, console, local) = self.cx();
        let mut printed = String::new();
        loop {
            let ready = console.run(&mut cx);
            printed += &taken(cx.shared);
            match ready {
                Ready::Idle => return printed,
                Ready::Busy => continue,
                Ready::Line => {}
            }
            let result = match parse(console.line()) {
                Ok(command) => {
                    Some(local.execute(&mut cx, &command).unwrap_or(Err(EspError::NotFound)))
                }
                Err(error) => {
                    reject(&mut cx, CommandSource::Uart, &error);
                    None
                }
            };
            while local.busy() {
                local.run(&mut cx);
                printed += &taken(cx.shared);
            }
            match result {
                Some(result) => console.finished(&mut cx, result),
                None => console.rejected(),
            }
        }
    }

    fn printed(&mut self) -> String {
        taken(&mut self.shared)
    }

    /// Returns a console whose cursor query has been answered by a lone `R`.
    fn prompted(idf: Idf) -> Self {
        let mut desk = Self::new(idf);
        assert_eq!(desk.after(0, b""), "\x1b[6n\0");
        assert_eq!(desk.after(1, b"R"), "esp32c3> ");
        desk
    }

    /// Returns the output of a pasted command, without its echo and the next prompt's query.
    fn run(&mut self, line: &str) -> String {
        let out = self.after(1, line.as_bytes());
        assert_eq!(out, line);
        let out = self.after(100, b"\r");
        let echo = std::format!("\r\x1b[0Kesp32c3> {line}\r\x1b[{}C\r\n", 9 + line.len());
        let rest = out.strip_prefix(&echo).expect("the line is drawn anew");
        let rest = rest.strip_suffix("\x1b[6n\0").expect("the next query").to_string();
        assert_eq!(self.after(1, b"R"), "esp32c3> ");
        rest
    }
}

/// Takes the output since the last call.
fn taken(shared: &mut Shared) -> String {
    let mut buf = [0; UART_RING];
    let len = shared.print.take_output(&mut buf);
    assert_eq!(shared.print.dropped.uart_bytes, 0, "what is printed in one go fits");
    buf[..len].iter().map(|&byte| char::from(byte)).collect()
}
