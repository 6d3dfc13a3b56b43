//! The loop: devices, frames and consoles in the order of virtual time.

use super::air::Ether;
use super::board::MemoryBoard;
use super::conversation::{Conversation as _, Parts};
use super::crew::{Crew, Cue};
pub use super::crew::{POLLS_MAX, Printed, Stuck};
use super::device::{Birth, Device, NodeId};
use super::medium::Medium;
use super::note::{Watch, Why};
use super::pool::Pool;
use super::queue::{Event as Due, Queue, What};
pub use super::station::Counters;
use super::station::Station;
use super::transcript::Transcript;
use crate::random::{Purpose, RngStream};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;
use espbench_proto::node::esp_now::Input;
use espbench_proto::node::esp_now::board::Work;
use espbench_proto::time::Instant;

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
    /// Whether samples are kept.
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

/// Devices in conversation. `W` is told what happens.
pub struct Fleet<D, W = Transcript> {
    /// Is told what happens.
    pub watch: W,
    /// The medium; may be changed between runs.
    pub medium: Medium,
    pub(super) crew: Crew<D>,
    pub(super) stations: Vec<Station>,
    pub(super) queue: Queue,
    pub(super) pool: Pool,
    pub(super) frames: u64,
    pub(super) heard: Vec<NodeId>,
    pub(super) missed: Vec<(NodeId, Why)>,
    pub(super) signals: Vec<i8>,
    setup: Setup,
}

impl<D, W: fmt::Debug> fmt::Debug for Fleet<D, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fleet")
            .field("now", &self.crew.now)
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
            crew: Crew::new(Box::new(make), setup.keep_samples),
            stations: Vec::new(),
            queue: Queue::default(),
            pool: Pool::default(),
            frames: 0,
            heard: Vec::new(),
            missed: Vec::new(),
            signals: Vec::new(),
            setup,
        }
    }

    /// Adds a node. It is switched on when time next goes on.
    pub fn add(&mut self) -> NodeId {
        let seed = self.setup.seed;
        let node = NodeId(self.stations.len() as u16);
        let mut board = MemoryBoard::new(seed, node);
        board.costs = self.setup.costs.into();
        self.crew.add(board, self.setup.restart);
        self.stations.push(Station::new(seed, node, self.setup.tx_buffers));
        let mut random = RngStream::stream(seed, u32::from(node.0), Purpose::Start);
        let at = self.now() + random.time_below(self.setup.stagger);
        self.queue.push(at, Due { node, life: 0, what: What::Cue(Cue::Start) });
        node
    }

    /// Adds so many.
    pub fn add_many(&mut self, count: usize) {
        for _ in 0..count {
            self.add();
        }
    }

    /// A device, unless it is off.
    ///
    /// # Panics
    /// Here and below: there is no such node.
    pub fn device(&self, node: NodeId) -> Option<&D> {
        self.crew.member(node).device.as_ref()
    }

    /// What a node has done on the air.
    pub fn counters(&self, node: NodeId) -> Counters {
        self.stations[node.index()].counters
    }

    /// The channel that a node is on.
    pub fn channel(&self, node: NodeId) -> u8 {
        self.crew.member(node).channel
    }

    /// Hands something to a device now, as its driver would; nothing if it is off.
    ///
    /// # Errors
    /// [`Stuck`].
    pub fn input(&mut self, node: NodeId, input: Input<'_>) -> Result<(), Stuck> {
        let (crew, mut ether) = self.parts();
        crew.input(&mut ether, node, input)
    }
}

impl<D: Device, W: Watch> Parts for Fleet<D, W> {
    type Device = D;
    type Around<'a>
        = Ether<'a, W>
    where
        Self: 'a;

    fn crew(&self) -> &Crew<D> {
        &self.crew
    }

    fn crew_mut(&mut self) -> &mut Crew<D> {
        &mut self.crew
    }

    fn parts(&mut self) -> (&mut Crew<D>, Ether<'_, W>) {
        let ether = Ether {
            now: self.crew.now,
            watch: &mut self.watch,
            medium: &self.medium,
            stations: &mut self.stations,
            queue: &mut self.queue,
            pool: &mut self.pool,
            frames: &mut self.frames,
        };
        (&mut self.crew, ether)
    }

    fn clock(&self) -> Instant {
        self.crew.now
    }

    fn next(&mut self, until: Instant) -> Result<bool, Stuck> {
        let ready = self.queue.next().is_some_and(|at| at <= until);
        let Some((at, due)) = ready.then(|| self.queue.pop()).flatten() else {
            self.crew.now = self.crew.now.max(until);
            return Ok(false);
        };
        self.crew.now = at;
        if self.crew.member(due.node).life != due.life {
            if let What::Arrive { frame, .. } = due.what {
                self.pool.release(frame);
            }
            return Ok(true);
        }
        let station = &mut self.stations[due.node.index()];
        match due.what {
            What::Cue(cue) => {
                let (crew, mut ether) = self.parts();
                crew.cue(&mut ether, due.node, cue)?;
            }
            What::Wake if station.wake == Some(at) => {
                station.wake = None;
                self.input(due.node, Input::Tick)?;
            }
            What::Wake => {}
            What::AirEnd => self.air_end(due.node)?,
            What::Arrive { frame, rssi } => self.arrive(due.node, frame, rssi)?,
        }
        Ok(true)
    }

    fn ideal_medium(&mut self) -> Option<&mut Medium> {
        Some(&mut self.medium)
    }
}
