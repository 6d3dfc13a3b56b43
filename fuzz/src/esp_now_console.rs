//! ESP-NOW: the console from bytes to commands, and remote log and command under any sequence of
//! operations.

use esp_now::component::{DataType, GroupPayload, Idf, debug};
use esp_now::console::command::{Macs, RemoteArgs, ScanArgs};
use esp_now::console::words::{WORDS_MAX, Words};
use esp_now::console::{
    CommandError, CommandSource, Console, EspError, Local, Ready, parse, reject,
};
use esp_now::node::board::BareBoard;
use esp_now::node::debug::{Commander, Inbox, RemoteLog};
use esp_now::node::print::LogLevel;
use esp_now::node::task::{
    Cx, NodeSettings, Received, SendRequest, Shared, Task, TaskStep, TransmitOutcome,
};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::{Duration, Instant};

const ME: Mac = Mac([2, 0, 0, 0, 0, 1]);

/// Types a line by itself, and then the bytes of a terminal: the first byte chooses ESP-IDF; each
/// chunk after it is a byte with its length and the pause before it, and that many bytes.
pub fn esp_now_console(data: &[u8]) {
    let [kind, rest @ ..] = data else { return };
    words(&rest[..rest.len().min(200)]);
    let mut desk = Desk::new(if kind & 1 == 0 { Idf::V5_1 } else { Idf::V4_4 });
    let mut rest = &rest[..rest.len().min(400)];
    for _ in 0..40 {
        let [head, tail @ ..] = rest else { break };
        let (chunk, next) = tail.split_at(tail.len().min(usize::from(head & 0x3F)));
        rest = next;
        desk.now = desk.now + Duration::from_millis([0, 10, 40, 700][usize::from(head >> 6)]);
        desk.feed(chunk);
    }
}

/// Checks that words in quotes are split into the same words, and that a line always means the
/// same.
fn words(line: &[u8]) {
    let (mut first, mut second) = (line.to_vec(), line.to_vec());
    let once = format!("{:?}", parse(&mut first));
    assert_eq!(once, format!("{:?}", parse(&mut second)));
    let mut line = line.to_vec();
    let words = Words::split(&mut line);
    assert!(words.as_slice().len() <= WORDS_MAX);
    let mut quoted = Vec::new();
    for word in words.as_slice() {
        quoted.push(b'"');
        for &byte in *word {
            if matches!(byte, b'"' | b'\\') {
                quoted.push(b'\\');
            }
            quoted.push(byte);
        }
        quoted.extend(b"\" ");
    }
    assert_eq!(Words::split(&mut quoted).as_slice(), words.as_slice());
}

struct Desk {
    now: Instant,
    board: BareBoard,
    shared: Shared,
    console: Console,
    local: Local,
}

impl Desk {
    fn new(idf: Idf) -> Self {
        let mut settings = NodeSettings::default();
        settings.compat.idf = idf;
        Self {
            now: Instant::ZERO,
            board: BareBoard(1),
            shared: Shared::new(ME, settings),
            console: Console::default(),
            local: Local::new(),
        }
    }

    fn feed(&mut self, bytes: &[u8]) {
        let Self { now, board, shared, console, local } = self;
        let mut cx = Cx { now: *now, board, shared };
        console.receive(bytes);
        let mut lines = 0;
        loop {
            match console.run(&mut cx) {
                Ready::Idle => break,
                Ready::Busy => {
                    assert!(drain(cx.shared) > 0, "it waits for something");
                    continue;
                }
                Ready::Line => lines += 1,
            }
            assert!(lines <= bytes.len() + 1, "a line has bytes");
            let line = console.line();
            assert!((1..512).contains(&line.len()) && line.iter().all(|b| (32..127).contains(b)));
            let result = match parse(line) {
                Ok(command) => {
                    Some(local.execute(&mut cx, &command).unwrap_or(Err(EspError::Fail)))
                }
                Err(error) => {
                    let faults = error.lines().count();
                    assert_eq!(faults > 0, matches!(error, CommandError::Options(..)));
                    reject(&mut cx, CommandSource::Uart, &error);
                    None
                }
            };
            let mut rows = 0;
            while local.busy() {
                let step = local.run(&mut cx);
                assert!(step == TaskStep::Until(cx.now) || !local.busy());
                assert!(drain(cx.shared) < 1500, "a row of help fits");
                rows += 1;
                assert!(rows < 50, "help ends");
            }
            match result {
                Some(result) => console.finished(&mut cx, result),
                None => console.rejected(),
            }
            assert!(console.line().is_empty());
            drain(cx.shared);
        }
        drain(cx.shared);
        while cx.shared.take_event().is_some() {}
        assert_eq!(cx.shared.print.dropped.uart_bytes, 0, "what was taken was not lost");
    }
}

fn drain(shared: &mut Shared) -> usize {
    let mut buf = [0; 256];
    let mut sum = 0;
    loop {
        match shared.print.take_output(&mut buf) {
            0 => return sum,
            len => sum += len,
        }
    }
}

/// Runs the debug part: each byte is an operation, its low four bits say which, the others a
/// number.
pub fn esp_now_debug(data: &[u8]) {
    let mut world = World::new();
    for (at, byte) in data.iter().take(100).enumerate() {
        world.step(byte & 15, byte >> 4, &data[at + 1..]);
    }
    world.end();
}

struct World {
    now: Instant,
    board: BareBoard,
    shared: Shared,
    commander: Commander<12, 64>,
    log: RemoteLog,
    inbox: Inbox,
    /// The task that holds the lock: the commander, or the log.
    flight: Option<bool>,
    begun: u32,
    ended: u32,
    lines: u32,
    texts: u32,
}

impl World {
    fn new() -> Self {
        let mut shared = Shared::new(ME, NodeSettings::default());
        shared.print.remote = LogLevel::Verbose;
        Self {
            now: Instant::ZERO,
            board: BareBoard(1),
            shared,
            commander: Commander::new(),
            log: RemoteLog::default(),
            inbox: Inbox::new(),
            flight: None,
            begun: 0,
            ended: 0,
            lines: 0,
            texts: 0,
        }
    }

    fn step(&mut self, what: u8, number: u8, rest: &[u8]) {
        let text = &rest[..rest.len().min(usize::from(number) * 5)];
        let mut cx = Cx { now: self.now, board: &mut self.board, shared: &mut self.shared };
        match what {
            0..=3 => self.turn(what == 0, usize::from(number)),
            4 | 5 => self.sent(number),
            6 => self.now = self.now + Duration::from_millis(400 * u64::from(number)),
            7 => {
                let one: String = (0..number).map(|n| format!("02:00:00:00:00:{n:02x},")).collect();
                let to = if number & 1 == 0 { one.as_bytes() } else { text };
                let remote = RemoteArgs { to: Macs(to), line: text, all_channels: number & 2 != 0 };
                let busy = self.commander.busy();
                let begun = self.commander.start(&mut cx, &remote);
                assert!(begun.is_err() || !busy);
                self.begun += u32::from(begun.is_ok());
            }
            8 => {
                let rssi = (number & 1 != 0).then_some(-60);
                let scan = ScanArgs { to: None, rssi, all_channels: number & 2 != 0 };
                self.begun += u32::from(self.commander.scan(&mut cx, &scan).is_ok());
            }
            9 => self.commander.beacon(&mut cx, ME),
            10 => self.log.receive(&mut cx, &received(text)),
            11 => {
                self.inbox.receive(&mut cx, &received(text));
                self.texts += 1;
            }
            12 => {
                if let Some(line) = self.inbox.take() {
                    assert!(line.len() < 512 && !line.contains(&0));
                    self.texts -= 1;
                }
                assert!(self.inbox.take().is_none());
            }
            13 => {
                cx.log(LogLevel::Info, "fuzz", format_args!("{number} {}", text.len()));
                self.lines += 1;
            }
            14 => cx.shared.air.locked = number & 1 != 0,
            _ => cx.shared.settings.encrypt.debug = number & 1 != 0,
        }
        self.check();
    }

    /// Gives a task a turn; a message that it wants to send is composed if nothing is on its way.
    fn turn(&mut self, log: bool, room: usize) {
        let mut cx = Cx { now: self.now, board: &mut self.board, shared: &mut self.shared };
        if self.flight.is_some() {
            return;
        }
        let task: &mut dyn Task = if log { &mut self.log } else { &mut self.commander };
        match task.run(&mut cx) {
            TaskStep::Idle => {}
            TaskStep::Until(at) => {
                assert!(at > self.now && at.since(self.now) <= Duration::from_secs(1));
            }
            TaskStep::Send => {
                let mut payload = [0; 230];
                // Now and then a buffer that is far too short.
                let room = if room == 15 { 3 } else { 230 };
                let out = task.compose(&mut cx, &mut payload[..room]);
                self.flight = out.map(|out| {
                    sane(&out, &payload[..room]);
                    log
                });
            }
        }
    }

    fn sent(&mut self, number: u8) {
        let outcomes = [
            TransmitOutcome::Done { attempts: 1 },
            TransmitOutcome::Failed,
            TransmitOutcome::TimedOut,
            TransmitOutcome::Refused,
        ];
        let outcome = outcomes[usize::from(number & 3) * usize::from(number >> 2 == 0)];
        let mut cx = Cx { now: self.now, board: &mut self.board, shared: &mut self.shared };
        match self.flight.take() {
            Some(true) => self.log.sent(&mut cx, outcome),
            Some(false) => self.commander.sent(&mut cx, outcome),
            // Told of what was never sent: nothing happens.
            None => {
                let busy = self.commander.busy();
                self.commander.sent(&mut cx, outcome);
                assert_eq!(self.commander.busy(), busy);
            }
        }
    }

    fn check(&mut self) {
        if self.commander.take_result().is_some() {
            self.ended += 1;
        }
        assert_eq!(self.begun, self.ended + u32::from(self.commander.busy()));
        assert!(self.texts <= self.inbox.lost + 1);
        assert!((1..=14).contains(&self.shared.air.channel));
        drain(&mut self.shared);
    }

    /// Checks that everything ends when it is left alone.
    fn end(&mut self) {
        if self.flight.is_some() {
            self.sent(0);
            self.check();
        }
        let mut turns = 0;
        while self.commander.busy() || self.commander.answering() || self.shared.print.has_line() {
            self.turn(turns % 2 == 0, 0);
            self.sent(0);
            self.check();
            self.now = self.now + Duration::from_secs(1);
            turns += 1;
            assert!(turns < 200, "it does not end");
        }
        let lost = self.shared.print.dropped.remote_lines;
        assert!(self.lines <= self.log.sent + self.log.failed + lost + 100);
        assert_eq!(self.begun, self.ended);
    }
}

fn received(data: &[u8]) -> Received<'_> {
    let data_type = DataType::DebugLog;
    Received { from: ME, data_type, data, rssi: -40, channel: 1, at: Instant::ZERO }
}

/// Checks that a transmission is one that the component could send.
fn sane(out: &SendRequest, payload: &[u8]) {
    assert!(out.len > 0 && out.len <= payload.len() && out.len <= 218);
    let payload = &payload[..out.len];
    match out.data_type {
        DataType::Group => {
            assert!(GroupPayload::parse(payload).is_some_and(|g| g.members().count() >= 8))
        }
        DataType::DebugCommand => assert!(debug::text(payload).len() + 1 == out.len),
        other => assert_eq!(other, DataType::DebugLog),
    }
}
