//! The lab at work: the devices of a scene, each a whole node, over a room of 802.11 stations.
//!
//! | module | what |
//! |---|---|
//! | `tap` | who is told of frames |
//! | `stage` | crew and room: each is the other's outside |
//! | `driver` | buffers between a node and its station's MAC |
//! | `costs` | a profile as what a board asks |
//! | `others` | routers and background stations |
//! | `blame` | why a probe was lost |
//! | `join` | a device joins a router |
//! | `count` | what was counted, by name |

mod blame;
mod costs;
mod count;
mod driver;
mod join;
mod others;
mod stage;
mod tap;
#[cfg(test)]
mod tests;

pub use crate::talk::fleet::{Printed, Stuck};
pub use driver::Drops;
pub use tap::{Content, Tap};

use super::scene::{Device, Scene};
use crate::mac::{self, Room};
use crate::random::{Purpose, Random};
use crate::talk::board::POWER_ON;
use crate::talk::crew::{Crew, Cue};
use crate::talk::node::Node;
use crate::talk::{Birth, Image, MemoryBoard, NodeId};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;
use driver::Driver;
use espbench_proto::node::esp_now::board::{Board, Key, Slot};
use espbench_proto::node::esp_now::device::{Busy, Dropped};
use espbench_proto::node::esp_now::engine::Counters;
use espbench_proto::node::esp_now::task::{Event, Outgoing};
use espbench_proto::sample::Sample;
use espbench_proto::time::Instant;
use espbench_proto::wire::mac::Mac;
use others::Others;
use stage::{Ether, Link, Stage, Wake};

/// Devices are switched on within this time, at random, so that their ticks and their first frames
/// do not coincide.
const STAGGER: Duration = Duration::from_millis(100);

/// What a device runs if its board has no image yet.
const IMAGE: (u32, &str) = (0x1_0000, "1.0.0");

/// The devices, routers and other people's stations of a scene, in virtual time. `W` is told what
/// happens.
///
/// Stations of the medium are numbered: devices first, then routers, then background.
pub struct Lab<W = ()> {
    /// Is told what happens.
    pub watch: W,
    room: Room,
    crew: Crew<Box<Node>>,
    ether: Ether,
    stuck: Option<Stuck>,
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
        let devices = self.crew.members.len();
        f.debug_struct("Lab").field("room", &self.room).field("devices", &devices).finish()
    }
}

/// Makes the node of a device whenever it is switched on.
fn maker(devices: Vec<Device>) -> impl FnMut(&Birth, &mut MemoryBoard) -> Box<Node> {
    let image = Image::synthetic(IMAGE.0, IMAGE.1, 0);
    move |birth, board| {
        if board.image_len(Slot::Running) == 0 {
            board.install(Slot::Running, image.clone());
        }
        let device = &devices[birth.node.index()];
        let settings = device.settings.clone();
        let mut node =
            Box::new(Node::new(Instant::ZERO, board, birth.mac, settings, &device.services));
        let shared = node.shared_mut();
        // The application sets the channel and how much is logged where.
        shared.air.channel = device.channel;
        shared.print.uart = device.log;
        shared.print.remote = device.remote_log;
        node
    }
}

impl<W: Tap> Lab<W> {
    /// The room of a scene. All chance comes from `seed`. Devices are switched on when time goes
    /// on, within the first 100 ms.
    #[must_use]
    pub fn new(scene: &Scene, seed: u64, watch: W) -> Self {
        let mut radio = scene.radio(seed);
        for settings in radio.settings.iter_mut().take(scene.devices.len()) {
            // The driver counts them; one more for the last frame of a device that was reset.
            settings.buffers += 1;
        }
        let room = Room::new(seed, radio.links, &radio.receivers, radio.settings)
            .with_medium(radio.medium);
        let mut crew = Crew::new(Box::new(maker(scene.devices.clone())), true);
        for (i, device) in scene.devices.iter().enumerate() {
            let mut board = MemoryBoard::new(seed, NodeId(i as u16));
            costs::install(&mut board, &device.profile);
            crew.add(board, device.profile.boot);
        }
        let drivers = scene.devices.iter();
        let ether = Ether {
            pool: Default::default(),
            frames: 0,
            drivers: drivers.map(|it| Driver::new(it.profile.clone(), it.mode)).collect(),
            others: Others::new(scene, seed),
            joining: Default::default(),
            heard: Vec::new(),
            missed: Vec::new(),
        };
        let mut lab = Self { watch, room, crew, ether, stuck: None };
        lab.begin(seed);
        lab
    }

    /// Asks for all first events.
    fn begin(&mut self, seed: u64) {
        for node in 0..self.crew.members.len() as u16 {
            let wait = Random::stream(seed, u32::from(node), Purpose::Start).time_below(STAGGER);
            self.room.switch_off(u32::from(node));
            self.room.wake_in(wait, Wake::Cue(Cue::Start, NodeId(node), 0).token());
        }
        let (beacons, loads) = self.ether.others.starts(seed);
        for (router, at) in beacons.into_iter().enumerate() {
            self.room.wake_at(at, Wake::Beacon(router as u32).token());
        }
        for (station, at) in loads.into_iter().enumerate() {
            if let Some(at) = at {
                self.room.wake_at(at, Wake::Load(station as u32).token());
            }
        }
    }

    /// Lets something be done with the devices, with the room outside of them.
    fn with_crew<T>(&mut self, act: impl FnOnce(&mut Crew<Box<Node>>, &mut Link<'_, W>) -> T) -> T {
        self.crew.now = self.room.now();
        let (room, ether, watch) = (&mut self.room, &mut self.ether, &mut self.watch);
        act(&mut self.crew, &mut Link { room, ether, watch })
    }

    /// Does what is next if it is not after `until`; else it is `until`, and the answer is false.
    fn step(&mut self, until: Instant) -> Result<bool, Stuck> {
        let Self { watch, room, crew, ether, stuck } = self;
        if let Some(stuck) = stuck.take() {
            return Err(stuck);
        }
        let goes_on = room.step(&mut Stage { watch, crew, ether, stuck }, until);
        stuck.take().map_or(Ok(goes_on), Err)
    }

    /// Now, on the lab's clock.
    pub fn now(&self) -> Instant {
        self.room.now()
    }

    /// How many devices there are.
    pub fn count(&self) -> usize {
        self.crew.members.len()
    }

    /// Its devices.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<W> {
        (0..self.count() as u16).map(NodeId)
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
        self.run_until(self.now() + time)
    }

    /// Lets time go on until something is so, at most for that long. Says whether it is so. It is
    /// asked when a device has printed, told its application something, recorded a sample, joined
    /// a router or given up to, not at every frame.
    ///
    /// # Errors
    /// [`Stuck`].
    pub fn run_till(
        &mut self,
        most: Duration,
        mut is_so: impl FnMut(&Self) -> bool,
    ) -> Result<bool, Stuck> {
        let until = self.now() + most;
        let mut asked = None;
        loop {
            if asked.replace(self.crew.news) != Some(self.crew.news) && is_so(self) {
                return Ok(true);
            }
            if !self.step(until)? {
                return Ok(is_so(self));
            }
        }
    }

    /// Lets a node's application send a payload now, if the node is on and its send lock is free.
    /// How it ended is told as [`Event::Sent`].
    ///
    /// # Errors
    /// [`Busy`] if something else is being sent, or the node is off; [`Stuck`] ends the run and comes
    /// from the next verb that lets time go on.
    pub fn send(&mut self, node: NodeId, out: &Outgoing, payload: &[u8]) -> Result<(), Busy> {
        let mut result = Err(Busy);
        let stuck = self.with_crew(|crew, link| {
            let sent = crew.with(node, |now, it, board| it.send(now, board, out, payload));
            result = sent.unwrap_or(Err(Busy));
            crew.settle(link, node)
        });
        if let Err(stuck) = stuck {
            self.stuck.get_or_insert(stuck);
        }
        result
    }

    /// Whether payloads that reach an application are kept for [`Lab::data`]; they are, if nothing
    /// else is said.
    pub fn keep_data(&mut self, keep: bool) {
        self.crew.keep_data = keep;
    }

    /// Types a command at a node's console, as soon as its prompt is there.
    ///
    /// # Panics
    /// Here and below: there is no such node.
    pub fn command(&mut self, node: NodeId, text: &str) {
        self.with_crew(|crew, link| crew.command(link, node, text));
    }

    /// Commands of a node that are not typed to their end.
    pub fn pending(&self, node: NodeId) -> usize {
        self.crew.member(node).terminal.pending()
    }

    /// The lines that a node has printed, without prompts and echoes.
    pub fn lines(&self, node: NodeId) -> &[Printed] {
        &self.crew.member(node).lines
    }

    /// What a node has told its application.
    pub fn events(&self, node: NodeId) -> &[(Instant, Event)] {
        &self.crew.member(node).events
    }

    /// Payloads that a node has handed to its application, each with when and from whom.
    pub fn data(&self, node: NodeId) -> &[(Instant, Mac, Vec<u8>)] {
        &self.crew.member(node).data
    }

    /// The samples that a node has recorded since they were last taken; its own clock. A lost probe
    /// has the cause that the lab knows.
    pub fn samples(&self, node: NodeId) -> &[Sample] {
        &self.crew.member(node).samples
    }

    /// Takes the samples of a node.
    pub fn take_samples(&mut self, node: NodeId) -> Vec<Sample> {
        core::mem::take(&mut self.crew.members[node.index()].samples)
    }

    /// A node's board: its pins' edges, its flash, what it stores.
    pub fn board(&self, node: NodeId) -> &MemoryBoard {
        &self.crew.member(node).board
    }

    /// A node's board, to put an image or a key into it.
    pub fn board_mut(&mut self, node: NodeId) -> &mut MemoryBoard {
        &mut self.crew.members[node.index()].board
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
        self.with_crew(|crew, link| crew.reset(link, node));
    }

    /// Switches a node off, until [`Lab::switch_on`].
    pub fn switch_off(&mut self, node: NodeId) {
        self.with_crew(|crew, link| crew.switch_off(link, node, POWER_ON));
    }

    /// Switches a node on that is off; it runs after its profile's `boot`.
    pub fn switch_on(&mut self, node: NodeId) {
        if self.device(node).is_none() {
            self.with_crew(|crew, link| crew.switch_on(link, node));
        }
    }

    /// A device, unless it is off.
    pub fn device(&self, node: NodeId) -> Option<&Node> {
        self.crew.member(node).device.as_deref()
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
        self.with_crew(|crew, link| crew.apply(link, node, |it, now, board| act(it, now, board)))
    }

    /// How far a device has got with joining the network whose credentials it was given last.
    pub fn joining(&self, node: NodeId) -> Joining {
        self.ether.joining.progress(node)
    }

    /// The channel that a node is on.
    pub fn channel(&self, node: NodeId) -> u8 {
        self.room.channel(u32::from(node.0))
    }

    /// What the MAC of a station has counted: devices, then routers, then background.
    pub fn mac_counters(&self, station: u32) -> mac::Counters {
        self.room.counters(station)
    }

    /// What a node's engine has counted since its start; zeros while it is off.
    pub fn counters(&self, node: NodeId) -> Counters {
        self.device(node).map_or_else(Counters::default, Node::counters)
    }

    /// What a node's queues have dropped since its start.
    pub fn dropped(&self, node: NodeId) -> Dropped {
        self.device(node).map_or_else(Dropped::default, Node::dropped)
    }

    /// What the driver of a node has dropped.
    pub fn drops(&self, node: NodeId) -> Drops {
        self.ether.drivers[node.index()].drops
    }

    /// When a node joined a router, and which one, if it is with one.
    pub fn joined(&self, node: NodeId) -> Option<(Instant, u32)> {
        self.ether.joining.joined.get(&node).copied()
    }
}
