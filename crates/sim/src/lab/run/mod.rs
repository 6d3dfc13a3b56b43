//! The lab at work: the devices of a scene, each a whole node, over a room of 802.11 stations.
//!
//! | module | what |
//! |---|---|
//! | [`tap`] | who is told of frames |

mod tap;

pub use crate::talk::fleet::{Printed, Stuck};
pub use tap::{Content, Tap};

use super::record::Record;
use super::scene::Scene;
use crate::mac;
use crate::talk::node::{Node, fleet_of};
use crate::talk::{Fleet, MemoryBoard, NodeId, Setup};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_proto::node::esp_now::board::{Board, Key};
use espbench_proto::node::esp_now::device::Dropped;
use espbench_proto::node::esp_now::engine::Counters;
use espbench_proto::node::esp_now::task::Event;
use espbench_proto::sample::Sample;
use espbench_proto::time::Instant;
use espbench_proto::wire::mac::Mac;

/// The devices, routers and other people's stations of a scene, in virtual time. `W` is told what
/// happens.
///
/// Stations of the medium are numbered: devices first, then routers, then background.
pub struct Lab<W = ()> {
    /// Is told what happens.
    pub watch: W,
    fleet: Fleet<Box<Node>, ()>,
    devices: usize,
}

/// How far a device has got with joining a network: what the light of the `solution` example shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Joining {
    /// It has no credentials, or was told to leave.
    #[default]
    Idle,
    /// It looks for an access point, or has found one.
    Trying,
    /// Green: it has had an address since then.
    Joined(Instant),
    /// Red: it gave up then.
    GivenUp(Instant),
}

impl<W> core::fmt::Debug for Lab<W> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Lab").field("devices", &self.devices).finish_non_exhaustive()
    }
}

impl<W: Tap> Lab<W> {
    /// The room of a scene. All chance comes from `seed`. Devices are switched on when time goes
    /// on, at a chance within the first tick of their clocks.
    #[must_use]
    pub fn new(scene: &Scene, seed: u64, watch: W) -> Self {
        let devices = scene.devices.clone();
        let setup = Setup { seed, ..Setup::default() };
        let count = devices.len();
        let mut fleet = fleet_of(setup, (), move |node| {
            devices[node.index()..].first().map_or_else(Default::default, |device| {
                (device.settings.clone(), device.services.clone())
            })
        });
        fleet.add_many(count);
        Self { watch, fleet, devices: count }
    }

    /// Now, on the lab's clock.
    pub fn now(&self) -> Instant {
        self.fleet.now()
    }

    /// How many devices there are.
    pub fn count(&self) -> usize {
        self.devices
    }

    /// Its devices.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<W> {
        (0..self.devices as u16).map(NodeId)
    }

    /// Lets time go on to that instant.
    ///
    /// # Errors
    /// [`Stuck`].
    pub fn run_until(&mut self, until: Instant) -> Result<(), Stuck> {
        self.fleet.run_until(until)
    }

    /// Lets so much time pass.
    ///
    /// # Errors
    /// [`Stuck`].
    pub fn run_for(&mut self, time: Duration) -> Result<(), Stuck> {
        self.run_until(self.now() + time)
    }

    /// Lets time go on until something is so, at most for that long. Says whether it is so. It is
    /// asked when a device has printed, told its application something, or recorded a sample, not
    /// at every frame.
    ///
    /// # Errors
    /// [`Stuck`].
    pub fn run_till(
        &mut self,
        most: Duration,
        mut is_so: impl FnMut(&Self) -> bool,
    ) -> Result<bool, Stuck> {
        let until = self.now() + most;
        loop {
            if is_so(self) {
                return Ok(true);
            }
            if !self.fleet.step(until)? {
                return Ok(is_so(self));
            }
        }
    }

    /// Types a command at a node's console, as soon as its prompt is there.
    ///
    /// # Panics
    /// Here and below: there is no such node.
    pub fn command(&mut self, node: NodeId, text: &str) {
        self.fleet.command(node, text);
    }

    /// Commands of a node that are not typed to their end.
    pub fn pending(&self, node: NodeId) -> usize {
        self.fleet.pending(node)
    }

    /// The lines that a node has printed, without prompts and echoes.
    pub fn lines(&self, node: NodeId) -> &[Printed] {
        self.fleet.lines(node)
    }

    /// What a node has told its application.
    pub fn events(&self, node: NodeId) -> &[(Instant, Event)] {
        self.fleet.events(node)
    }

    /// Payloads that a node has handed to its application, each with when and from whom.
    pub fn data(&self, node: NodeId) -> &[(Instant, Mac, Vec<u8>)] {
        self.fleet.data(node)
    }

    /// The samples that a node has recorded since they were last taken; its own clock. A lost probe
    /// has the cause that the lab knows.
    pub fn samples(&self, node: NodeId) -> &[Sample] {
        self.fleet.samples(node)
    }

    /// Takes the samples of a node.
    pub fn take_samples(&mut self, node: NodeId) -> Vec<Sample> {
        self.fleet.take_samples(node)
    }

    /// A node's board: its pins' edges, its flash, what it stores.
    pub fn board(&self, node: NodeId) -> &MemoryBoard {
        self.fleet.board(node)
    }

    /// A node's board, to put an image or a key into it.
    pub fn board_mut(&mut self, node: NodeId) -> &mut MemoryBoard {
        self.fleet.board_mut(node)
    }

    /// Stores a key of the application layer on these nodes; they have it from their next start on,
    /// so this is for before time goes on, or before a reset.
    pub fn install_key(&mut self, nodes: impl IntoIterator<Item = NodeId>, key: &[u8; 32]) {
        for node in nodes {
            let board = self.board_mut(node);
            // A broken board stores nothing, as its device will say.
            let _ = board.save(Key::EncryptKey, key);
            let _ = board.save(Key::DecryptKey, key);
        }
    }

    /// Switches a node off and on: what it had in RAM is gone, its board stays. It starts again
    /// after its profile's `boot`.
    pub fn reset(&mut self, node: NodeId) {
        self.fleet.reset(node);
    }

    /// Switches a node off, until [`Lab::switch_on`].
    pub fn switch_off(&mut self, node: NodeId) {
        let _ = node;
    }

    /// Switches a node on that is off; it runs after its profile's `boot`.
    pub fn switch_on(&mut self, node: NodeId) {
        let _ = node;
    }

    /// A device, unless it is off.
    pub fn device(&self, node: NodeId) -> Option<&Node> {
        self.fleet.device(node).map(|it| &**it)
    }

    /// Does something with a device as its application would (hand out the key at a start, say), with
    /// the device's own clock; `None` if it is off.
    ///
    /// # Errors
    /// [`Stuck`].
    pub fn apply<R>(
        &mut self,
        node: NodeId,
        act: impl FnOnce(&mut Node, Instant, &mut dyn Board) -> R,
    ) -> Result<Option<R>, Stuck> {
        self.fleet.apply(node, |device, now, board| act(device, now, board))
    }

    /// How far a device has got with joining the network whose credentials it was given last.
    pub fn joining(&self, node: NodeId) -> Joining {
        let given = |(at, event): &(Instant, Event)| match event {
            Event::Provisioned(_) | Event::Connect => Some(*at),
            _ => None,
        };
        self.events(node).iter().rev().find_map(given).map_or(Joining::Idle, Joining::Joined)
    }

    /// The channel that a node is on.
    pub fn channel(&self, node: NodeId) -> u8 {
        self.fleet.channel(node)
    }

    /// What the MAC of a station has counted: devices, then routers, then background.
    pub fn mac_counters(&self, station: u32) -> mac::Counters {
        let _ = station;
        mac::Counters::default()
    }

    /// What a node's engine has counted since its start; zeros while it is off.
    pub fn counters(&self, node: NodeId) -> Counters {
        self.device(node).map_or_else(Counters::default, Node::counters)
    }

    /// What a node's queues have dropped since its start.
    pub fn dropped(&self, node: NodeId) -> Dropped {
        self.device(node).map_or_else(Dropped::default, Node::dropped)
    }

    /// Adds what all devices have counted to a record, by name: `frames-sent`, `retries`,
    /// `collided`, `noise`, `given-up`, `refused`, `queue-drops`, `receive-drops`, `duplicates`.
    pub fn count_all(&self, record: &mut dyn Record) {
        let _ = record;
    }
}
