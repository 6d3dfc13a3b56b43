//! Devices that do one thing.

use esp_now::node::board::Board;
use esp_now::node::task::EspNowEvent;
use esp_now::node::{Input, NodeOutput};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::{Duration, Instant};
use espbench_sim::lab::ideal::{Fleet, FleetSetup};
use espbench_sim::lab::nodes::{Conversation as _, DeviceModel, NodeId};
use espbench_sim::talk::Transcript;
use espbench_sim::talk::transcript::TalkFilter;
use std::collections::VecDeque;

/// Sends what is in its list, each when the one before is done, and keeps what it hears.
#[derive(Debug, Default)]
pub struct Talker {
    pub to_send: VecDeque<(Mac, Vec<u8>)>,
    /// Hand over the whole list at once.
    pub burst: bool,
    pub tune: Option<u8>,
    pub heard: Vec<(Instant, Vec<u8>, i8)>,
    pub results: Vec<bool>,
    pub refused: usize,
    pub busy: bool,
}

impl DeviceModel for Talker {
    fn handle(&mut self, now: Instant, _: &mut dyn Board, input: Input<'_>) {
        match input {
            Input::Frame(frame) => self.heard.push((now, frame.data.into(), frame.rssi)),
            Input::Sent { delivered } => {
                self.busy = false;
                self.results.push(delivered);
            }
            Input::Refused => self.refused += 1,
            _ => {}
        }
    }

    fn poll(&mut self, _: Instant, _: &mut dyn Board, buf: &mut [u8]) -> NodeOutput {
        if let Some(channel) = self.tune.take() {
            return NodeOutput::Tune(channel);
        }
        if self.busy && !self.burst {
            return NodeOutput::Idle;
        }
        let Some((to, data)) = self.to_send.pop_front() else { return NodeOutput::Idle };
        buf[..data.len()].copy_from_slice(&data);
        self.busy = true;
        NodeOutput::Transmit { len: data.len(), to }
    }
}

impl Talker {
    pub fn sending(to: Mac, count: u8) -> Self {
        Self { to_send: (0..count).map(|n| (to, vec![n; 100])).collect(), ..Self::default() }
    }

    /// Returns the first byte of each frame that it heard.
    pub fn firsts(&self) -> Vec<u8> {
        self.heard.iter().map(|(_, data, _)| data[0]).collect()
    }
}

/// Runs a fleet in which node 0 sends and the others listen.
pub fn one_talks(setup: FleetSetup, nodes: usize, to: Mac, count: u8) -> Fleet<Talker, Transcript> {
    let mut fleet = Fleet::new(setup, Transcript::new(TalkFilter::ALL), move |birth, _| {
        if birth.node == NodeId(0) { Talker::sending(to, count) } else { Talker::default() }
    });
    fleet.add_many(nodes);
    fleet.run_for(Duration::from_secs(10)).unwrap();
    fleet
}

/// A console with ESP-IDF's line editor, as far as a host sees it: the cursor queries, the prompt,
/// the echo. Commands: `say X`, `later MS X`, `restart`, `hang`.
#[derive(Debug, Default)]
pub struct Console {
    out: VecDeque<u8>,
    stage: u8,
    line: Vec<u8>,
    timer: Option<(Instant, String)>,
    last: Option<Instant>,
    restart: bool,
    /// Bytes that came before an answer to a query and were lost.
    pub lost: Vec<u8>,
    pub pasted_returns: usize,
}

impl Console {
    fn put(&mut self, text: &str) {
        self.out.extend(text.bytes());
    }

    fn byte(&mut self, now: Instant, byte: u8) {
        let pasted = self.last.is_some_and(|at| now.since(at) < Duration::from_millis(30));
        match (self.stage, byte) {
            (1, b'R') => {
                self.put("\x1b[999C\x1b[6n\0");
                self.stage = 2;
            }
            (2, b'R') => {
                self.put("\x1b[79Dtoy> ");
                self.stage = 3;
            }
            (1 | 2, 0x1B | b'[' | b';' | b'0'..=b'9') => {}
            (3, b'\r') => {
                self.pasted_returns += usize::from(pasted);
                self.put("\r\n");
                self.stage = 0;
                let line = String::from_utf8(std::mem::take(&mut self.line)).unwrap();
                self.command(now, &line);
            }
            (3, _) => {
                self.line.push(byte);
                self.out.push_back(byte);
            }
            _ => self.lost.push(byte),
        }
        self.last = Some(now);
    }

    fn command(&mut self, now: Instant, line: &str) {
        match line.split_once(' ').unwrap_or((line, "")) {
            ("say", text) => self.put(&format!("{text}\r\n")),
            ("later", rest) => {
                let (ms, text) = rest.split_once(' ').unwrap();
                self.timer = Some((now + Duration::from_millis(ms.parse().unwrap()), text.into()));
            }
            ("restart", _) => self.restart = true,
            ("hang", _) => self.stage = 9,
            _ => self.put("Unrecognized command\r\n"),
        }
    }
}

impl DeviceModel for Console {
    fn handle(&mut self, now: Instant, _: &mut dyn Board, input: Input<'_>) {
        if let Input::Console(bytes) = input {
            bytes.iter().for_each(|byte| self.byte(now, *byte));
        }
    }

    fn poll(&mut self, now: Instant, _: &mut dyn Board, buf: &mut [u8]) -> NodeOutput {
        if self.restart {
            self.restart = false;
            return NodeOutput::Event(EspNowEvent::Restart);
        }
        if self.stage == 0 {
            self.put("\x1b[6n\0");
            self.stage = 1;
        }
        if self.timer.as_ref().is_some_and(|(at, _)| *at <= now) {
            let (_, text) = self.timer.take().unwrap();
            self.put(&format!("I ({}) toy: {text}\r\n", now.as_nanos() / 1_000_000));
        }
        // A few bytes at a time, so that sequences come in pieces.
        let len = self.out.len().min(5).min(buf.len());
        for place in &mut buf[..len] {
            *place = self.out.pop_front().unwrap();
        }
        match (&self.timer, len) {
            (_, 1..) => NodeOutput::Print { len },
            (Some((at, _)), _) => NodeOutput::WaitUntil(*at),
            _ => NodeOutput::Idle,
        }
    }
}
