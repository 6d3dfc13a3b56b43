//! The loop: devices, frames and consoles in the order of virtual time.

use super::board::{MemoryBoard, POWER_ON, SOFTWARE};
use super::device::{Birth, Device, NodeId};
use super::medium::Medium;
use super::note::{Note, Watch, Why};
use super::pool::Pool;
use super::queue::{Event as Due, Queue, What};
pub use super::station::{Counters, Printed};
use super::station::{Sending, Station};
use super::terminal::PAUSE;
use super::transcript::Transcript;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;
use espbench_proto::node::esp_now::board::Work;
use espbench_proto::node::esp_now::task::Event;
use espbench_proto::node::esp_now::{Input, Output};
use espbench_proto::sample::Sample;
use espbench_proto::time::Instant;
use espbench_proto::wire::mac::Mac;

/// Bytes that a device may send or print with one poll.
const BUFFER: usize = 2048;

/// Polls of a device at one instant, without an end of it, that make it [`Stuck`].
pub const POLLS_MAX: u32 = 100_000;

/// How a fleet is set up.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Of all chance.
    pub seed: u64,
    /// The medium.
    pub medium: Medium,
    /// Frames that a driver holds, the one on the air among them; further ones are refused
    /// (`CONFIG_ESP_WIFI_DYNAMIC_TX_BUFFER_NUM`, 32).
    pub tx_buffers: usize,
    /// What work costs on every board.
    pub costs: fn(Work) -> Duration,
    /// Devices are switched on within this time, uniformly; it gives their ticks different phases.
    pub stagger: Duration,
    /// From a reset until the device's clock starts again. Half a second is of the size that boards
    /// of this family take for loaders and Wi-Fi's start; it is not a measured value.
    pub restart: Duration,
    /// Whether samples are kept for [`Fleet::samples`].
    pub keep_samples: bool,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            seed: 1,
            medium: Medium::default(),
            tx_buffers: 32,
            costs: super::board::free,
            stagger: Duration::ZERO,
            restart: Duration::from_millis(500),
            keep_samples: true,
        }
    }
}

/// A device broke its law: it always wants to be polled again.
#[derive(Clone, Debug, PartialEq)]
pub struct Stuck {
    /// Which.
    pub node: NodeId,
    /// When, on the fleet's clock.
    pub at: Instant,
    /// What it last wanted.
    pub last: Box<Output>,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { node, at, last } = self;
        let seconds = at.as_nanos() as f64 / 1e9;
        write!(
            f,
            "{node} does not come to rest: {POLLS_MAX} polls at {seconds:.6} s, the last {last:?}"
        )
    }
}

impl core::error::Error for Stuck {}

type Maker<D> = Box<dyn FnMut(&Birth, &mut MemoryBoard) -> D>;

/// Devices in conversation. `W` is told what happens.
pub struct Fleet<D, W = Transcript> {
    /// Is told what happens.
    pub watch: W,
    /// The medium; may be changed between runs.
    pub medium: Medium,
    pub(super) now: Instant,
    pub(super) stations: Vec<Station<D>>,
    pub(super) queue: Queue,
    pub(super) pool: Pool,
    pub(super) frames: u64,
    pub(super) heard: Vec<NodeId>,
    pub(super) missed: Vec<(NodeId, Why)>,
    pub(super) signals: Vec<i8>,
    pub(super) printed: u64,
    setup: Setup,
    buffer: Vec<u8>,
    make: Maker<D>,
}

impl<D, W: fmt::Debug> fmt::Debug for Fleet<D, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fleet")
            .field("now", &self.now)
            .field("nodes", &self.stations.len())
            .field("watch", &self.watch)
            .finish_non_exhaustive()
    }
}

impl<D: Device, W: Watch> Fleet<D, W> {
    /// A fleet without nodes. `make` builds a device whenever it is switched on, from what its
    /// board holds.
    pub fn new(
        setup: Setup,
        watch: W,
        make: impl FnMut(&Birth, &mut MemoryBoard) -> D + 'static,
    ) -> Self {
        Self {
            watch,
            medium: setup.medium.clone(),
            now: Instant::ZERO,
            stations: Vec::new(),
            queue: Queue::default(),
            pool: Pool::default(),
            frames: 0,
            heard: Vec::new(),
            missed: Vec::new(),
            signals: Vec::new(),
            printed: 0,
            setup,
            buffer: vec![0; BUFFER],
            make: Box::new(make),
        }
    }

    /// Adds a node. It is switched on when time next goes on.
    pub fn add(&mut self) -> NodeId {
        let node = NodeId(self.stations.len() as u16);
        let mut station = Station::new(self.setup.seed, node);
        station.board.costs = self.setup.costs;
        station.tx_buffers = self.setup.tx_buffers;
        let wait = station.streams.start.time_below(self.setup.stagger);
        self.stations.push(station);
        self.schedule(self.now + wait, node, What::Start);
        node
    }

    /// Adds so many.
    pub fn add_many(&mut self, count: usize) {
        for _ in 0..count {
            self.add();
        }
    }

    /// Now, on the fleet's clock.
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// Its nodes.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<D, W> {
        (0..self.stations.len() as u16).map(NodeId)
    }

    /// How many nodes it has.
    pub const fn count(&self) -> usize {
        self.stations.len()
    }

    /// A device, unless it is off.
    ///
    /// # Panics
    /// Here and below: there is no such node.
    pub fn device(&self, node: NodeId) -> Option<&D> {
        self.stations[node.index()].device.as_ref()
    }

    /// A node's board.
    pub fn board(&self, node: NodeId) -> &MemoryBoard {
        &self.stations[node.index()].board
    }

    /// A node's board, to put an image or a key into it.
    pub fn board_mut(&mut self, node: NodeId) -> &mut MemoryBoard {
        &mut self.stations[node.index()].board
    }

    /// The lines that a node has printed, without prompts and echoes.
    pub fn lines(&self, node: NodeId) -> &[Printed] {
        &self.stations[node.index()].lines
    }

    /// What a node has told its application.
    pub fn events(&self, node: NodeId) -> &[(Instant, Event)] {
        &self.stations[node.index()].events
    }

    /// Payloads that a node has handed to its application, each with when and from whom.
    pub fn data(&self, node: NodeId) -> &[(Instant, Mac, Vec<u8>)] {
        &self.stations[node.index()].data
    }

    /// The samples that a node has recorded; its own clock.
    pub fn samples(&self, node: NodeId) -> &[Sample] {
        &self.stations[node.index()].samples
    }

    /// What a node has done on the air.
    pub fn counters(&self, node: NodeId) -> Counters {
        self.stations[node.index()].counters
    }

    /// The channel that a node is on.
    pub fn channel(&self, node: NodeId) -> u8 {
        self.stations[node.index()].channel
    }

    /// Types a command at a node's console, as soon as its prompt is there.
    pub fn command(&mut self, node: NodeId, text: &str) {
        self.stations[node.index()].terminal.command(text);
        self.type_next(node);
    }

    /// Commands of a node that are not typed to their end.
    pub fn pending(&self, node: NodeId) -> usize {
        self.stations[node.index()].terminal.pending()
    }

    /// Hands something to a device now, as its driver would; nothing if it is off.
    ///
    /// # Errors
    /// [`Stuck`].
    pub fn input(&mut self, node: NodeId, input: Input<'_>) -> Result<(), Stuck> {
        let now = self.now;
        let station = &mut self.stations[node.index()];
        let Some(device) = &mut station.device else { return Ok(()) };
        let local = Instant::ZERO.after(now.since(station.zero));
        station.board.now = now;
        device.handle(local, &mut station.board, input);
        self.settle(node)
    }

    /// Switches a node off and on: what it had in RAM is gone, its board stays. It starts again
    /// after [`Setup::restart`].
    pub fn reset(&mut self, node: NodeId) {
        self.reset_because(node, POWER_ON);
    }

    fn reset_because(&mut self, node: NodeId, reason: u32) {
        let station = &mut self.stations[node.index()];
        if station.device.take().is_none() {
            return;
        }
        station.life += 1;
        station.wake = None;
        station.sending = Sending::default();
        for frame in station.waiting.drain(..) {
            self.pool.release(frame);
        }
        station.terminal.reset();
        station.board.reset(reason);
        station.resets += 1;
        self.watch.note(self.now, &Note::Reset { node });
        self.schedule(self.now + self.setup.restart, node, What::Start);
    }

    /// Lets time go on to that instant.
    ///
    /// # Errors
    /// [`Stuck`].
    pub fn run_until(&mut self, until: Instant) -> Result<(), Stuck> {
        while self.step(until)? {}
        Ok(())
    }

    /// Lets so much time pass.
    ///
    /// # Errors
    /// [`Stuck`].
    pub fn run_for(&mut self, time: Duration) -> Result<(), Stuck> {
        self.run_until(self.now + time)
    }

    /// Lets time go on until something is so, at most for that long. Says whether it is so.
    ///
    /// # Errors
    /// [`Stuck`].
    pub fn run_till(
        &mut self,
        most: Duration,
        mut is_so: impl FnMut(&Self) -> bool,
    ) -> Result<bool, Stuck> {
        let until = self.now + most;
        loop {
            if is_so(self) {
                return Ok(true);
            }
            if !self.step(until)? {
                return Ok(is_so(self));
            }
        }
    }

    /// Does what is next if it is not after `until`; else it is `until`, and the answer is false.
    ///
    /// # Errors
    /// [`Stuck`].
    pub fn step(&mut self, until: Instant) -> Result<bool, Stuck> {
        let ready = self.queue.next().is_some_and(|at| at <= until);
        let Some((at, due)) = ready.then(|| self.queue.pop()).flatten() else {
            self.now = self.now.max(until);
            return Ok(false);
        };
        self.now = at;
        let station = &mut self.stations[due.node.index()];
        if station.life != due.life {
            if let What::Arrive { frame, .. } = due.what {
                self.pool.release(frame);
            }
            return Ok(true);
        }
        match due.what {
            What::Start => self.start(due.node)?,
            What::Wake if station.wake == Some(at) => {
                station.wake = None;
                self.input(due.node, Input::Tick)?;
            }
            What::Wake => {}
            What::AirEnd => self.air_end(due.node)?,
            What::Arrive { frame, rssi } => self.arrive(due.node, frame, rssi)?,
            What::Answer => {
                if let Some(answer) = station.terminal.take_answers() {
                    self.input(due.node, Input::Console(&answer))?;
                }
            }
            What::Type => self.begin_typing(due.node)?,
            What::Enter => {
                station.terminal.entered();
                self.input(due.node, Input::Console(b"\r"))?;
            }
        }
        Ok(true)
    }

    pub(super) fn schedule(&mut self, at: Instant, node: NodeId, what: What) {
        let life = self.stations[node.index()].life;
        self.queue.push(at, Due { node, life, what });
    }

    fn start(&mut self, node: NodeId) -> Result<(), Stuck> {
        let station = &mut self.stations[node.index()];
        (station.zero, station.channel) = (self.now, 1);
        let (mac, resets) = (station.mac, station.resets);
        station.board.now = self.now;
        let device = (self.make)(&Birth { node, mac, resets }, &mut station.board);
        station.device = Some(device);
        self.watch.note(self.now, &Note::Started { node, resets });
        self.input(node, Input::Tick)
    }

    /// Types the next command, if there is one and the prompt is there.
    fn type_next(&mut self, node: NodeId) {
        let terminal = &self.stations[node.index()].terminal;
        if terminal.pending() > 0 && terminal.is_ready() {
            self.schedule(self.now, node, What::Type);
        }
    }

    fn begin_typing(&mut self, node: NodeId) -> Result<(), Stuck> {
        let terminal = &mut self.stations[node.index()].terminal;
        let Some(text) = terminal.begin().map(alloc::string::String::from) else { return Ok(()) };
        self.watch.note(self.now, &Note::Typed { node, text: &text });
        self.schedule(self.now + PAUSE, node, What::Enter);
        self.input(node, Input::Console(text.as_bytes()))
    }

    /// Polls a device until it waits, and does what it wants.
    pub(super) fn settle(&mut self, node: NodeId) -> Result<(), Stuck> {
        let now = self.now;
        let mut buffer = core::mem::take(&mut self.buffer);
        let result = loop {
            let station = &mut self.stations[node.index()];
            let local = station.local(now);
            let Some(device) = &mut station.device else { break Ok(()) };
            let output = device.poll(local, &mut station.board, &mut buffer);
            if station.polled_at < now {
                (station.polled_at, station.polls) = (now, 0);
            }
            station.polls += 1;
            if station.polls > POLLS_MAX {
                break Err(Stuck { node, at: now, last: Box::new(output) });
            }
            if self.obey(node, output, &buffer) {
                break Ok(());
            }
        };
        self.buffer = buffer;
        result
    }

    /// Does what a device wants; whether it has come to rest.
    fn obey(&mut self, node: NodeId, output: Output, buffer: &[u8]) -> bool {
        let now = self.now;
        let station = &mut self.stations[node.index()];
        match output {
            Output::Transmit { len, to } => self.transmit(node, to, &buffer[..len.min(BUFFER)]),
            Output::Tune(channel) => {
                station.channel = channel;
                self.watch.note(now, &Note::Tuned { node, channel });
            }
            Output::Print { len } => self.print(node, &buffer[..len.min(BUFFER)]),
            Output::Sample(sample) => {
                if self.setup.keep_samples {
                    station.samples.push(sample);
                }
                self.watch.note(now, &Note::Sample { node, sample: &sample });
            }
            Output::Event(event) => {
                station.events.push((now, event));
                self.watch.note(now, &Note::Event { node, event });
                if event == Event::Restart {
                    self.reset_because(node, SOFTWARE);
                }
            }
            Output::Data { len, from, rssi, channel } => {
                let data = &buffer[..len.min(BUFFER)];
                station.data.push((now, from, data.into()));
                self.watch.note(now, &Note::Data { node, from, data, rssi, channel });
            }
            Output::WaitUntil(local) => {
                let at = station.zero.after(local.since(Instant::ZERO)).max(now);
                if station.wake != Some(at) {
                    station.wake = Some(at);
                    self.schedule(at, node, What::Wake);
                }
                return true;
            }
            Output::Idle => {
                station.wake = None;
                return true;
            }
        }
        false
    }

    fn print(&mut self, node: NodeId, bytes: &[u8]) {
        let now = self.now;
        self.watch.note(now, &Note::Console { node, bytes });
        let station = &mut self.stations[node.index()];
        for &byte in bytes {
            let Some(line) = station.terminal.feed(byte) else { continue };
            if line.echo {
                continue;
            }
            self.watch.note(now, &Note::Printed { node, text: &line.text });
            station.lines.push(Printed { at: now, text: line.text });
            self.printed += 1;
        }
        if station.terminal.has_answers() {
            self.schedule(now, node, What::Answer);
        }
        self.type_next(node);
    }
}
