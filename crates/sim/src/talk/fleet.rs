//! The loop: devices, frames and consoles in the order of virtual time.

use super::air::FleetHost;
use super::board::MemoryBoard;
use super::conversation::{Conversation as _, ConversationParts};
use super::device::{Birth, DeviceModel, NodeId};
use super::device_set::{Cue, DeviceSet};
pub use super::device_set::{POLLS_MAX, Printed, Stuck};
use super::medium::Medium;
use super::note::{MissReason, Watch};
use super::pool::FramePool;
use super::queue::{FleetEvent, FleetEventKind, Queue};
pub use super::station::Counters;
use super::station::IdealRadio;
use super::transcript::Transcript;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;
use esp_now::node::Input;
use esp_now::node::board::CpuWork;
use espbench_dot11::random::{Purpose, RngStream};
use espbench_model::time::Instant;

/// The settings of a fleet.
#[derive(Clone, Debug)]
pub struct FleetSetup {
    /// Seed of all chance.
    pub seed: u64,
    /// The medium.
    pub medium: Medium,
    /// Frames that a driver holds, the one on the air among them; further ones are refused
    /// (`CONFIG_ESP_WIFI_DYNAMIC_TX_BUFFER_NUM`, 32).
    pub tx_buffers: usize,
    /// Costs of work on every board.
    pub costs: fn(CpuWork) -> Duration,
    /// Devices are switched on within this time, uniformly; it gives their ticks different phases.
    pub stagger: Duration,
    /// Time from a reset until the device's clock starts again. Half a second is of the size that boards
    /// of this family take for loaders and Wi-Fi's start; it is not a measured value.
    pub restart: Duration,
    /// Whether samples are kept.
    pub keep_samples: bool,
}

impl Default for FleetSetup {
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

/// Devices in conversation over an ideal medium.
pub struct Fleet<D, W = Transcript> {
    /// Witness of what happens.
    pub watch: W,
    /// The medium; may be changed between runs.
    pub medium: Medium,
    pub(super) device_set: DeviceSet<D>,
    pub(super) stations: Vec<IdealRadio>,
    pub(super) queue: Queue,
    pub(super) pool: FramePool,
    pub(super) frames: u64,
    pub(super) heard: Vec<NodeId>,
    pub(super) missed: Vec<(NodeId, MissReason)>,
    pub(super) signals: Vec<i8>,
    setup: FleetSetup,
}

impl<D, W: fmt::Debug> fmt::Debug for Fleet<D, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fleet")
            .field("now", &self.device_set.now)
            .field("nodes", &self.stations.len())
            .field("watch", &self.watch)
            .finish_non_exhaustive()
    }
}

impl<D: DeviceModel, W: Watch> Fleet<D, W> {
    /// Creates a fleet without nodes. `make` builds a device whenever it is switched on, from what
    /// its board holds.
    pub fn new(
        setup: FleetSetup,
        watch: W,
        make: impl FnMut(&Birth, &mut MemoryBoard) -> D + 'static,
    ) -> Self {
        Self {
            watch,
            medium: setup.medium.clone(),
            device_set: DeviceSet::new(Box::new(make), setup.keep_samples),
            stations: Vec::new(),
            queue: Queue::default(),
            pool: FramePool::default(),
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
        self.device_set.add(board, self.setup.restart);
        self.stations.push(IdealRadio::new(seed, node, self.setup.tx_buffers));
        let mut random = RngStream::stream(seed, u32::from(node.0), Purpose::Start);
        let at = self.now() + random.time_below(self.setup.stagger);
        self.queue.push(at, FleetEvent { node, life: 0, what: FleetEventKind::Cue(Cue::Start) });
        node
    }

    /// Adds so many.
    pub fn add_many(&mut self, count: usize) {
        for _ in 0..count {
            self.add();
        }
    }

    /// Returns a device, unless it is off.
    ///
    /// # Panics
    /// Here and below: there is no such node.
    pub fn device(&self, node: NodeId) -> Option<&D> {
        self.device_set.member(node).device.as_ref()
    }

    /// Returns the counters of a node's radio.
    pub fn counters(&self, node: NodeId) -> Counters {
        self.stations[node.index()].counters
    }

    /// Returns the channel that a node is on.
    pub fn channel(&self, node: NodeId) -> u8 {
        self.device_set.member(node).channel
    }

    /// Hands something to a device now, as its driver would; nothing if it is off.
    ///
    /// # Errors
    /// [`Stuck`].
    pub fn input(&mut self, node: NodeId, input: Input<'_>) -> Result<(), Stuck> {
        let (device_set, mut ether) = self.parts();
        device_set.input(&mut ether, node, input)
    }
}

impl<D: DeviceModel, W: Watch> ConversationParts for Fleet<D, W> {
    type Device = D;
    type Around<'a>
        = FleetHost<'a, W>
    where
        Self: 'a;

    fn device_set(&self) -> &DeviceSet<D> {
        &self.device_set
    }

    fn device_set_mut(&mut self) -> &mut DeviceSet<D> {
        &mut self.device_set
    }

    fn parts(&mut self) -> (&mut DeviceSet<D>, FleetHost<'_, W>) {
        let ether = FleetHost {
            now: self.device_set.now,
            watch: &mut self.watch,
            medium: &self.medium,
            stations: &mut self.stations,
            queue: &mut self.queue,
            pool: &mut self.pool,
            frames: &mut self.frames,
        };
        (&mut self.device_set, ether)
    }

    fn clock(&self) -> Instant {
        self.device_set.now
    }

    fn next(&mut self, until: Instant) -> Result<bool, Stuck> {
        let ready = self.queue.next().is_some_and(|at| at <= until);
        let Some((at, due)) = ready.then(|| self.queue.pop()).flatten() else {
            self.device_set.now = self.device_set.now.max(until);
            return Ok(false);
        };
        self.device_set.now = at;
        if self.device_set.member(due.node).life != due.life {
            if let FleetEventKind::Arrive { frame, .. } = due.what {
                self.pool.release(frame);
            }
            return Ok(true);
        }
        let station = &mut self.stations[due.node.index()];
        match due.what {
            FleetEventKind::Cue(cue) => {
                let (device_set, mut ether) = self.parts();
                device_set.cue(&mut ether, due.node, cue)?;
            }
            FleetEventKind::Wake if station.wake == Some(at) => {
                station.wake = None;
                self.input(due.node, Input::Tick)?;
            }
            FleetEventKind::Wake => {}
            FleetEventKind::AirEnd => self.air_end(due.node)?,
            FleetEventKind::Arrive { frame, rssi } => self.arrive(due.node, frame, rssi)?,
        }
        Ok(true)
    }

    fn ideal_medium(&mut self) -> Option<&mut Medium> {
        Some(&mut self.medium)
    }
}
