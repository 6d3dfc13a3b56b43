//! Benches on virtual time: the consoles of a lab, and boards that print what a test says.

use crate::boards::{BoardBench, BoardRecord, PortEvent, ResetWay};
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::sample::Sample;
use espbench_model::time::Instant;
use espbench_model::workload::EspNow;
use espbench_model::workload::Workload;
use espbench_sim::lab::file::Library;
use espbench_sim::lab::live::{ExampleApp, LiveLab, LiveSetup};
use espbench_sim::lab::nodes::NodeId;
use espbench_sim::lab::record::Record;
use espbench_sim::lab::scene::Scene;
use espbench_sim::lab::suite;

/// Kept samples, facts, counters and consoles.
#[derive(Default)]
pub(super) struct KeptBoards {
    pub(super) samples: Vec<Sample>,
    pub(super) counters: BTreeMap<String, u64>,
    pub(super) facts: BTreeMap<String, String>,
    pub(super) consoles: BTreeMap<usize, Vec<u8>>,
}

impl Record for KeptBoards {
    fn sample(&mut self, sample: Sample) {
        self.samples.push(sample);
    }

    fn count(&mut self, name: &str, by: u64) {
        *self.counters.entry(name.into()).or_default() += by;
    }

    fn fact(&mut self, name: &str, value: String) {
        self.facts.insert(name.into(), value);
    }
}

impl BoardRecord for KeptBoards {
    fn console(&mut self, port: usize, _: Instant, bytes: &[u8]) {
        self.consoles.entry(port).or_default().extend_from_slice(bytes);
    }
}

/// An event of a board of a lab, beside its own life.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mishap {
    /// The port is gone from then on.
    Unplugged,
    /// The firmware prints this, and the board is reset.
    Prints(&'static [u8]),
}

/// The consoles of a lab as ports.
pub(super) struct LabBench {
    pub(super) lab: LiveLab,
    ports: usize,
    /// Whether ports have pins for a reset.
    pub(super) pins: bool,
    /// A mishap of a port after so long.
    pub(super) mishap: Option<(usize, Instant, Mishap)>,
    /// Beginning of a command after which a mishap comes to a port.
    pub(super) mishap_after: Option<(&'static str, Duration, usize, Mishap)>,
    /// Beginning of a command at which all ports stand still for that time, once.
    pub(super) stalls: Option<(&'static str, Duration)>,
    stalled_until: Instant,
    held: Vec<(usize, Vec<u8>)>,
    pub(super) scene: Scene,
    gone: Vec<usize>,
    waiting: Vec<(usize, Vec<u8>)>,
}

impl LabBench {
    /// Returns the room in which the lab carries out that cell.
    pub(super) fn of(work: &EspNow) -> Self {
        Self::in_scene(Self::scene(work))
    }

    /// Returns that room with an example of the component on its devices.
    pub(super) fn with_app(work: &EspNow, app: ExampleApp) -> Self {
        let mut scene = Self::scene(work);
        app.build(&mut scene, work.encrypted);
        let mut bench = Self::in_scene(scene);
        if app.sends_images() {
            bench.lab.offer_builds(work.size);
        }
        bench
    }

    fn scene(work: &EspNow) -> Scene {
        suite::scene(&Workload::EspNow(*work), &Library::built_in(), None, 1).unwrap()
    }

    pub(super) fn in_scene(scene: Scene) -> Self {
        let setup = LiveSetup { seed: 1, baud: None };
        let mut lab = LiveLab::new(&scene, setup, ());
        (0..scene.nodes.len()).for_each(|node| lab.answer_cursor(NodeId(node as u16), false));
        Self {
            lab,
            ports: scene.nodes.len(),
            pins: true,
            mishap: None,
            mishap_after: None,
            stalls: None,
            stalled_until: Instant::ZERO,
            held: Vec::new(),
            gone: Vec::new(),
            waiting: Vec::new(),
            scene,
        }
    }

    fn take(&mut self, port: usize) -> Vec<u8> {
        let node = NodeId(port as u16);
        core::iter::from_fn(|| self.lab.take_printed(node)).map(|(_, byte)| byte).collect()
    }

    /// Types what waited for a port that stood still.
    fn release(&mut self) {
        if self.lab.now() >= self.stalled_until {
            for (port, bytes) in core::mem::take(&mut self.held) {
                assert_eq!(self.lab.type_bytes(NodeId(port as u16), &bytes), bytes.len());
            }
        }
    }
}

impl BoardBench for LabBench {
    fn now(&self) -> Instant {
        self.lab.now()
    }

    fn name(&self, port: usize) -> String {
        format!("port{port}")
    }

    fn reset(&mut self, ports: &[usize]) -> Vec<Result<ResetWay, String>> {
        let mut ways = Vec::new();
        for port in ports {
            if self.gone.contains(port) {
                ways.push(Err("No such file or directory".to_string()));
            } else if self.pins {
                self.lab.reset(NodeId(*port as u16));
                ways.push(Ok(ResetWay::Pins));
            } else {
                ways.push(Ok(ResetWay::None));
            }
        }
        ways
    }

    fn write(&mut self, port: usize, bytes: &[u8]) -> Result<(), String> {
        if self.gone.contains(&port) {
            return Err("Input/output error".to_string());
        }
        let begins = |head: &str| bytes.starts_with(head.as_bytes());
        if let Some((_, time, port, mishap)) = self.mishap_after.take_if(|it| begins(it.0)) {
            self.mishap = Some((port, self.lab.now() + time, mishap));
        }
        if let Some((_, time)) = self.stalls.take_if(|it| begins(it.0)) {
            self.stalled_until = self.lab.now() + time;
        }
        self.held.push((port, bytes.to_vec()));
        self.release();
        Ok(())
    }

    fn wait(&mut self, until: Instant, take: &mut dyn FnMut(usize, Instant, PortEvent<'_>)) {
        while self.lab.now() <= until {
            let next = self.lab.next_due().unwrap_or(until).min(until);
            self.lab.advance(next.max(self.lab.now())).unwrap();
            self.release();
            for port in 0..self.ports {
                let bytes = self.take(port);
                if !bytes.is_empty() && !self.gone.contains(&port) {
                    self.waiting.push((port, bytes));
                }
            }
            let now = self.lab.now();
            if let Some((port, at, mishap)) = self.mishap
                && now >= at
            {
                self.mishap = None;
                match mishap {
                    Mishap::Unplugged => {
                        self.gone.push(port);
                        take(port, now, PortEvent::Gone("Input/output error"));
                    }
                    Mishap::Prints(bytes) => {
                        self.waiting.push((port, bytes.to_vec()));
                        self.lab.reset(NodeId(port as u16));
                    }
                }
            }
            if !self.waiting.is_empty() || now >= until {
                break;
            }
        }
        for (port, bytes) in core::mem::take(&mut self.waiting) {
            take(port, self.lab.now(), PortEvent::Bytes(&bytes));
        }
    }
}

/// A board that answers what is typed with what a test says.
pub(super) struct PaperBoard {
    /// Printed after a reset.
    pub(super) boot: &'static [u8],
    /// Answers by the command that they follow.
    pub(super) answers: Vec<(&'static str, String)>,
    typed: String,
}

impl PaperBoard {
    pub(super) fn new(boot: &'static [u8]) -> Self {
        Self { boot, answers: Vec::new(), typed: String::new() }
    }
}

/// Boards of paper, on a clock of their own.
pub(super) struct PaperBench {
    pub(super) boards: Vec<PaperBoard>,
    /// Nothing that is typed is answered.
    pub(super) mute: bool,
    now: Instant,
    out: VecDeque<(usize, Vec<u8>)>,
}

impl PaperBench {
    pub(super) fn new(boards: Vec<PaperBoard>) -> Self {
        Self { boards, mute: false, now: Instant::ZERO, out: VecDeque::new() }
    }
}

impl BoardBench for PaperBench {
    fn now(&self) -> Instant {
        self.now
    }

    fn name(&self, port: usize) -> String {
        format!("port{port}")
    }

    fn reset(&mut self, ports: &[usize]) -> Vec<Result<ResetWay, String>> {
        for &port in ports {
            self.out.push_back((port, self.boards[port].boot.to_vec()));
        }
        ports.iter().map(|_| Ok(ResetWay::Pins)).collect()
    }

    fn write(&mut self, port: usize, bytes: &[u8]) -> Result<(), String> {
        let board = &mut self.boards[port];
        for &byte in bytes.iter().filter(|_| !self.mute) {
            if byte != b'\r' {
                board.typed.push(char::from(byte));
                self.out.push_back((port, [byte].to_vec()));
                continue;
            }
            let typed = core::mem::take(&mut board.typed);
            let answer = board.answers.iter().find(|(command, _)| typed.starts_with(command));
            let answer = answer.map_or("", |(_, answer)| answer.as_str());
            self.out.push_back((port, format!("\r\n{answer}esp32> ").into_bytes()));
        }
        Ok(())
    }

    fn wait(&mut self, until: Instant, take: &mut dyn FnMut(usize, Instant, PortEvent<'_>)) {
        match self.out.pop_front() {
            Some((port, bytes)) => {
                self.now = self.now + Duration::from_micros(100);
                take(port, self.now, PortEvent::Bytes(&bytes));
            }
            None => self.now = self.now.max(until),
        }
    }
}
