//! An ideal medium with faults by seed, and labs on it: fleets.
//!
//! | module | contents |
//! |---|---|
//! | `config` | faults, links, frame time |
//! | `radio` | a node's radio: its queue, its counters, its streams of chance |
//! | `air` | the way of frames from one driver to the others |
//!
//! This is no radio model: there are no collisions, no carrier sense between stations, no noise,
//! and a station hears while it sends. Air time is there so that virtual durations are plausible.

mod air;
mod config;
mod radio;

pub use config::{IdealMediumConfig, MAC_RETRIES, MediumLink, dsss_1m};
pub use radio::IdealRadioCounters;

use super::nodes::Livelock;
use super::nodes::board::{MemoryBoard, free};
use super::nodes::conversation::ConversationParts as _;
use super::nodes::device::{Birth, DeviceModel, NodeId};
use super::nodes::device_set::{Cue, DeviceSet};
use super::nodes::note::{MissReason, Watch};
use super::nodes::pool::FramePool;
use super::pool::Handle;
use super::run::{LabMedium, LabOn};
use air::{IdealHost, IdealLoop};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;
use esp_now::node::Input;
use esp_now::node::board::CpuWork;
use espbench_dot11::events::Scheduler;
use espbench_dot11::random::{Purpose, RngStream};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::Instant;
use radio::IdealRadio;

/// The settings of a fleet.
#[derive(Clone, Debug)]
pub struct FleetSetup {
    /// Seed of all chance.
    pub seed: u64,
    /// The medium.
    pub medium: IdealMediumConfig,
    /// Frames that a driver holds, the one on the air among them; further ones are refused
    /// (`CONFIG_ESP_WIFI_DYNAMIC_TX_BUFFER_NUM`, 32).
    pub tx_buffers: usize,
    /// Costs of work on every board.
    pub costs: fn(CpuWork) -> Duration,
    /// Devices are switched on within this time, uniformly; it gives their ticks different phases.
    pub stagger: Duration,
    /// From a reset until the device's clock starts again. Half a second is of the size that boards
    /// of this family take for loaders and Wi-Fi's start; it is not a measured value.
    pub restart: Duration,
    /// Whether samples are kept.
    pub keep_samples: bool,
}

impl Default for FleetSetup {
    fn default() -> Self {
        Self {
            seed: 1,
            medium: IdealMediumConfig::default(),
            tx_buffers: 32,
            costs: free,
            stagger: Duration::ZERO,
            restart: Duration::from_millis(500),
            keep_samples: true,
        }
    }
}

/// A lab on an ideal medium: devices in conversation, and nothing else on the air.
pub type Fleet<D, W> = LabOn<IdealMedium, D, W>;

/// A medium on which stations hear each other, but for faults that are drawn by seed.
#[derive(Debug)]
pub struct IdealMedium {
    /// Faults and links; may be changed between runs.
    pub config: IdealMediumConfig,
    now: Instant,
    radios: Vec<IdealRadio>,
    events: Scheduler<Instant, NodeEvent>,
    pool: FramePool,
    /// Number of frames that drivers took.
    frames: u64,
    heard: Vec<NodeId>,
    missed: Vec<(NodeId, MissReason)>,
    signals: Vec<i8>,
    setup: FleetSetup,
}

/// An event of a node. One that was scheduled for a former life of the node (`life` counts its
/// starts) does not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NodeEvent {
    node: NodeId,
    life: u32,
    what: NodeEventKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NodeEventKind {
    /// Start of the node, or something at its console.
    Cue(Cue),
    /// Time that the node waits for.
    Wake,
    /// End of an attempt of the node's transmission.
    AirEnd,
    /// Arrival of a frame.
    Arrive { frame: Handle, rssi: i8 },
}

impl<D: DeviceModel, W: Watch> Fleet<D, W> {
    /// Creates a fleet without nodes. `make` builds a device whenever it is switched on, from what
    /// its board holds.
    pub fn new(
        setup: FleetSetup,
        watch: W,
        make: impl FnMut(&Birth, &mut MemoryBoard) -> D + 'static,
    ) -> Self {
        let device_set = DeviceSet::new(Box::new(make), setup.keep_samples);
        let medium = IdealMedium {
            config: setup.medium.clone(),
            now: Instant::ZERO,
            radios: Vec::new(),
            events: Scheduler::default(),
            pool: FramePool::default(),
            frames: 0,
            heard: Vec::new(),
            missed: Vec::new(),
            signals: Vec::new(),
            setup,
        };
        Self { watch, medium, device_set }
    }

    /// Adds a node. It is switched on when time next goes on.
    pub fn add(&mut self) -> NodeId {
        let Self { medium, device_set, .. } = self;
        let setup = &medium.setup;
        let node = NodeId(medium.radios.len() as u16);
        let mut board = MemoryBoard::new(setup.seed, node);
        board.costs = setup.costs.into();
        device_set.add(board, setup.restart);
        medium.radios.push(IdealRadio::new(setup.seed, node, setup.tx_buffers));
        let mut random = RngStream::stream(setup.seed, u32::from(node.0), Purpose::Start);
        let at = medium.now + random.time_below(setup.stagger);
        let what = NodeEventKind::Cue(Cue::Start);
        medium.events.push(at, NodeEvent { node, life: 0, what });
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
    pub fn counters(&self, node: NodeId) -> IdealRadioCounters {
        self.medium.radios[node.index()].counters
    }

    /// Returns the channel that a node is on.
    pub fn channel(&self, node: NodeId) -> u8 {
        self.device_set.member(node).channel
    }

    /// Finds the node with that address.
    pub fn node_of(&self, mac: Mac) -> Option<NodeId> {
        self.device_set.node_of(mac)
    }

    /// Hands something to a device now, as its driver would; nothing if it is off.
    ///
    /// # Errors
    /// [`Livelock`].
    pub fn input(&mut self, node: NodeId, input: Input<'_>) -> Result<(), Livelock> {
        let (device_set, mut host) = self.parts();
        device_set.input(&mut host, node, input)
    }
}

impl<D: DeviceModel, W: Watch> LabMedium<D, W> for IdealMedium {
    type Host<'h>
        = IdealHost<'h, W>
    where
        W: 'h;

    fn now(&self) -> Instant {
        self.now
    }

    fn host<'h>(&'h mut self, watch: &'h mut W) -> IdealHost<'h, W> {
        IdealHost { medium: self, watch }
    }

    fn step(
        &mut self,
        device_set: &mut DeviceSet<D>,
        watch: &mut W,
        until: Instant,
    ) -> Result<bool, Livelock> {
        let ready = self.events.next().is_some_and(|at| at <= until);
        let Some((at, due)) = ready.then(|| self.events.pop()).flatten() else {
            self.now = self.now.max(until);
            return Ok(false);
        };
        self.now = at;
        device_set.now = at;
        if device_set.member(due.node).life != due.life {
            if let NodeEventKind::Arrive { frame, .. } = due.what {
                self.pool.release(frame);
            }
            return Ok(true);
        }
        IdealLoop { medium: self, device_set, watch }.carry_out(due)?;
        Ok(true)
    }

    fn ideal(&mut self) -> Option<&mut IdealMediumConfig> {
        Some(&mut self.config)
    }
}
