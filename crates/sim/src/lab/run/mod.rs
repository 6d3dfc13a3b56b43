//! The lab at work: devices that run the esp-now component, each a whole node, and machines with IP
//! programs ([`super::wifi`]), over one medium of 802.11 stations.
//!
//! | module | what |
//! |---|---|
//! | `lab` | a lab on a medium, which a [fleet](super::ideal) is as well |
//! | `tap` | who is told of frames |
//! | `mac_host` | the user of the MAC service: hands the medium's callbacks on |
//! | `driver` | buffers between a node and its station's MAC |
//! | `costs` | a profile as what a board asks |
//! | `others` | routers and background stations |
//! | `raw` | `esp_now_send` without the component |
//! | `recent_losses` | why a probe was lost |
//! | `join` | a device joins a router |
//! | `reports` | what nodes send that are not measured |
//! | `count` | what was counted, by name |

mod costs;
mod count;
mod driver;
mod join;
mod lab;
mod mac_host;
mod others;
mod raw;
mod recent_losses;
mod reports;
mod tap;

pub use crate::lab::nodes::{Livelock, POLLS_MAX, Printed};
pub use driver::Drops;
pub(in crate::lab) use lab::LabMedium;
pub use lab::LabOn;
pub use raw::RawSends;
pub use tap::{Content, Tap};

use super::scene::{Background, Device, Router, Scene};
use super::token::Wake;
use super::wifi::{Network, NetworkSetup, TrafficSums};
use crate::lab::ideal::IdealMediumConfig;
use crate::lab::nodes::conversation::ConversationParts as _;
use crate::lab::nodes::device_set::{Cue, DeviceSet};
use crate::lab::nodes::node::{self, Node};
use crate::lab::nodes::{Birth, MemoryBoard, NodeId};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;
use driver::Driver;
use esp_now::node::board::Board;
use esp_now::node::device::{Busy, Dropped};
use esp_now::node::engine::EngineCounters;
use esp_now::node::task::SendRequest;
use espbench_dot11::mac::{self, WirelessMedium};
use espbench_dot11::random::{Purpose, RngStream};
use espbench_model::time::Instant;
use join::JoiningDevices;
use mac_host::{LabDrivers, MacHost, RadioPort};
pub(in crate::lab) use others::Others;

/// Devices are switched on within this time, at random, so that their ticks and their first frames
/// do not coincide.
pub(in crate::lab) const STAGGER: Duration = Duration::from_millis(100);

/// A room with all that is in it, in virtual time. `W` is told what happens to devices that run the
/// esp-now component.
///
/// Stations of the medium are numbered: these devices first, then routers, machines with a radio, and
/// background.
pub type Lab<'a, W = ()> = LabOn<RadioMedium<'a>, Box<Node>, W>;

/// A radio medium of 802.11 stations, and all on it beside the nodes' firmware: drivers, machines with
/// their Wi-Fi, other people's stations.
pub struct RadioMedium<'a> {
    pub(in crate::lab) room: WirelessMedium,
    lab_drivers: LabDrivers,
    pub(in crate::lab) net: Network<'a>,
    livelock: Option<Livelock>,
}

/// The parts that a lab is made of.
#[derive(Debug)]
pub struct LabSetup {
    /// The room, with its stations' MACs.
    pub medium: WirelessMedium,
    /// The devices that run the esp-now component: the first stations.
    pub nodes: Vec<Device>,
    /// Routers that only send beacons: which is the first of them in the room.
    pub beacons: (u32, Vec<Router>),
    /// Machines, and the Wi-Fi between them.
    pub network: NetworkSetup,
    /// Stations of other people: the first of them in the room, and their loads.
    pub background: (u32, Vec<Background>),
}

impl LabSetup {
    /// Returns a lab of stations that nobody has.
    #[must_use]
    pub fn new(medium: WirelessMedium) -> Self {
        let none = medium.stations();
        Self {
            medium,
            nodes: Vec::new(),
            beacons: (none, Vec::new()),
            network: NetworkSetup::default(),
            background: (none, Vec::new()),
        }
    }

    /// Returns the lab of a scene; `apart`: the measured devices are in no network yet.
    fn of(scene: &Scene, seed: u64, apart: bool) -> Self {
        let mut radio = scene.radio(seed);
        for settings in radio.settings.iter_mut().take(scene.nodes.len()) {
            // The driver counts them; one more for the last frame of a device that was reset.
            settings.buffers += 1;
        }
        let numbers = scene.numbers();
        Self {
            medium: WirelessMedium::new(seed, radio.links, &radio.receivers, radio.settings)
                .with_config(radio.medium),
            nodes: scene.nodes.clone(),
            beacons: (numbers.routers.start, scene.routers.clone()),
            network: scene.network(seed, apart),
            background: (numbers.background.start, scene.background.clone()),
        }
    }
}

/// The progress of a device in joining a network, as the light of the `solution` example shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Joining {
    /// The device has no credentials, or was told to leave.
    #[default]
    Idle,
    /// The device looks for an access point, or has found one.
    Trying,
    /// Green: it has had an address since then.
    Joined(Instant),
    /// Red: it gave up then.
    GivenUp(Instant),
}

impl core::fmt::Debug for RadioMedium<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("RadioMedium").field("room", &self.room).finish_non_exhaustive()
    }
}

/// Makes the node of a device whenever it is switched on.
fn maker(devices: Vec<Device>) -> impl FnMut(&Birth, &mut MemoryBoard) -> Box<Node> {
    let first = (!devices.is_empty()).then(node::first_image).unwrap_or_default();
    move |birth, board| {
        let device = &devices[birth.node.index()];
        let mut node = node::start(birth, board, &first, device.settings.clone(), &device.services);
        let shared = node.shared_mut();
        // The application sets the channel and how much is logged where.
        shared.air.channel = device.channel;
        shared.print.uart = device.log;
        shared.print.remote = device.remote_log;
        if device.hands_out_key {
            node.hand_out_keys(Instant::ZERO, board);
        }
        node
    }
}

impl<'a, W: Tap> Lab<'a, W> {
    /// Returns the room of a scene. All chance comes from `seed`. Nodes are switched on when time
    /// goes on, within the first 100 ms. Machines are the scene's devices, and then its PC.
    #[must_use]
    pub fn new(scene: &Scene, seed: u64, watch: W) -> Self {
        Self::of(LabSetup::of(scene, seed, false), seed, watch)
    }

    /// Returns the room of a scene with its measured devices in no network yet: they join theirs
    /// when they are told to.
    #[must_use]
    pub fn apart(scene: &Scene, seed: u64, watch: W) -> Self {
        Self::of(LabSetup::of(scene, seed, true), seed, watch)
    }

    /// Returns the room of a scene as [`new`](Self::new) does, whose nodes' radios are metered: see
    /// [`spent`](Self::spent).
    #[must_use]
    pub fn metered(scene: &Scene, seed: u64, watch: W) -> Self {
        let setup = LabSetup::of(scene, seed, false);
        Self::of(LabSetup { medium: setup.medium.with_meters(), ..setup }, seed, watch)
    }

    /// Returns a lab in which nothing has happened yet.
    #[must_use]
    pub fn of(setup: LabSetup, seed: u64, watch: W) -> Self {
        let LabSetup { medium: room, nodes, beacons, network, background } = setup;
        let net = Network::of(seed, network, room.stations());
        let mut device_set = DeviceSet::new(Box::new(maker(nodes.clone())), true);
        // Devices of a group stand side by side and have one profile.
        let mut last = None;
        for (i, device) in nodes.iter().enumerate() {
            let mut board = MemoryBoard::new(seed, NodeId(i as u16));
            let profile = &device.profile;
            let (_, rates) = last
                .take_if(|(known, _)| Arc::ptr_eq(known, profile))
                .unwrap_or_else(|| (profile.clone(), costs::rates(profile)));
            costs::install(&mut board, profile, &rates);
            last = Some((profile.clone(), rates));
            device_set.add(board, device.profile.boot);
        }
        let (first, background) = background;
        let lab_drivers = LabDrivers {
            pool: Default::default(),
            frames: 0,
            has_sleepers: nodes.iter().any(|it| it.coexistence.is_some()),
            drivers: (0..)
                .zip(&nodes)
                .map(|(node, it)| {
                    let mut driver = Driver::new(it.profile.clone(), it.mode, seed, node);
                    driver.coexistence = it.coexistence;
                    driver
                })
                .collect(),
            others: Others::new(beacons, (first, &background), seed),
            joining: JoiningDevices::of(&nodes),
            reports: Default::default(),
            raw: None,
            heard: Vec::new(),
            missed: Vec::new(),
        };
        let medium = RadioMedium { room, lab_drivers, net, livelock: None };
        let mut lab = Self { watch, medium, device_set };
        lab.begin(seed);
        lab
    }

    /// Asks for all first events.
    fn begin(&mut self, seed: u64) {
        for node in 0..self.device_set.members.len() as u16 {
            let wait = RngStream::stream(seed, u32::from(node), Purpose::Start).time_below(STAGGER);
            self.medium.room.switch_off(u32::from(node));
            self.medium.room.wake_in(wait, Wake::Cue(Cue::Start, NodeId(node), 0).token());
        }
        for (node, driver) in (0..).zip(&self.medium.lab_drivers.drivers) {
            // One that has all of a period has no turns.
            let Some(it) = driver.coexistence.filter(|it| it.wifi < it.period) else { continue };
            let wait = RngStream::stream(seed, u32::from(node), Purpose::Bluetooth);
            let wait = { wait }.time_below(it.period);
            self.medium.room.wake_in(wait, Wake::Coexist(NodeId(node), true).token());
        }
        let (beacons, loads) = self.medium.lab_drivers.others.starts(seed);
        for (router, at) in beacons.into_iter().enumerate() {
            self.medium.room.wake_at(at, Wake::Beacon(router as u32).token());
        }
        for (station, at) in loads.into_iter().enumerate() {
            if let Some(at) = at {
                self.medium.room.wake_at(at, Wake::Load(station as u32).token());
            }
        }
        self.medium.net.begin(&mut self.medium.room);
    }

    /// Sets how many frames a second a station of other people sends from now on, by its number among
    /// these.
    pub fn set_background(&mut self, number: u32, rate: f64) {
        let RadioMedium { room, lab_drivers, .. } = &mut self.medium;
        if let Some(at) = lab_drivers.others.set_rate(number, rate, room.now()) {
            room.wake_at(at, Wake::Load(number).token());
        }
    }

    /// Lets a node's application send a payload now, if the node is on and its send lock is free.
    /// How it ended is told as
    /// [`EspNowEvent::Sent`](esp_now::node::task::EspNowEvent::Sent).
    ///
    /// # Errors
    /// [`Busy`] if something else is being sent, or the node is off; [`Livelock`] ends the run and comes
    /// from the next verb that lets time go on.
    pub fn send(&mut self, node: NodeId, out: &SendRequest, payload: &[u8]) -> Result<(), Busy> {
        match self.apply(node, |it, now, board| it.send(now, board, out, payload)) {
            Ok(sent) => sent.unwrap_or(Err(Busy)),
            Err(livelock) => {
                self.medium.livelock.get_or_insert(livelock);
                Err(Busy)
            }
        }
    }

    /// Gives a node an application that begins at that time and sends a payload of so many bytes to
    /// node 0 every so often.
    pub fn report(&mut self, begin: Instant, node: NodeId, bytes: u32, every: Duration) {
        self.medium.lab_drivers.reports.begin(node, bytes, every);
        self.medium.room.wake_at(begin, Wake::Report(node).token());
    }

    /// Returns what that application of a node has done.
    #[must_use]
    pub fn reports(&self, node: NodeId) -> TrafficSums {
        self.medium.lab_drivers.reports.sums(node)
    }

    /// Sets whether samples are kept; they are, if nothing else is said.
    pub fn keep_samples(&mut self, keep: bool) {
        self.device_set.keep_samples = keep;
    }

    /// Sets whether payloads that reach an application are kept for
    /// [`data`](crate::lab::nodes::Conversation::data); they are, if nothing else is said.
    pub fn keep_data(&mut self, keep: bool) {
        self.device_set.keep_data = keep;
    }

    /// Keeps nothing of what happens from now on: a lab that lives for days does not grow.
    pub(in crate::lab) fn keep_nothing(&mut self) {
        self.keep_samples(false);
        self.keep_data(false);
        self.device_set.keep_lines = false;
        for member in &mut self.device_set.members {
            member.board.keep_edges = false;
        }
    }

    /// Returns when something happens next; `None` if nothing is left to do.
    pub(in crate::lab) fn next_event(&mut self) -> Option<Instant> {
        self.medium.room.next_event()
    }

    /// Returns a device, unless it is off.
    pub fn device(&self, node: NodeId) -> Option<&Node> {
        self.device_set.member(node).device.as_deref()
    }

    /// Does something with a device as its application would (hand out the key at a start, say), with
    /// the device's own clock; `None` if it is off.
    ///
    /// # Errors
    /// [`Livelock`].
    pub fn apply<R>(
        &mut self,
        node: NodeId,
        act: impl FnOnce(&mut Node, Instant, &mut dyn Board) -> R,
    ) -> Result<Option<R>, Livelock> {
        let (device_set, mut link) = self.parts();
        device_set.apply(&mut link, node, |it, now, board| act(it, now, board))
    }

    /// Returns how far a device has got with joining the network whose credentials it was given last.
    pub fn joining(&self, node: NodeId) -> Joining {
        self.medium.lab_drivers.joining.progress(node)
    }

    /// Returns the channel that a node is on.
    pub fn channel(&self, node: NodeId) -> u8 {
        self.medium.room.channel(u32::from(node.0))
    }

    /// Returns the counters of a station's MAC: devices, then routers, then background.
    pub fn mac_counters(&self, station: u32) -> mac::MacCounters {
        self.medium.room.counters(station)
    }

    /// Returns the counters of a node's engine since its start; zeros while it is off.
    pub fn counters(&self, node: NodeId) -> EngineCounters {
        self.device(node).map_or_else(EngineCounters::default, Node::counters)
    }

    /// Returns the numbers of what a node's queues have dropped since its start.
    pub fn dropped(&self, node: NodeId) -> Dropped {
        self.device(node).map_or_else(Dropped::default, Node::dropped)
    }

    /// Returns the numbers of what the driver of a node has dropped.
    pub fn drops(&self, node: NodeId) -> Drops {
        self.medium.lab_drivers.drivers[node.index()].drops
    }

    /// Returns the time that a node's radio has spent in each state; `None` unless the lab is
    /// [`metered`](Self::metered).
    #[must_use]
    pub fn spent(&self, node: NodeId) -> Option<mac::Spent> {
        self.medium.room.spent(u32::from(node.0))
    }

    /// Switches a node's radio off whenever its driver has nothing to send, until
    /// [`wake_up`](Self::wake_up): it hears nothing meanwhile.
    pub(in crate::lab) fn doze(&mut self, node: NodeId) {
        self.medium.lab_drivers.has_sleepers = true;
        let driver = &mut self.medium.lab_drivers.drivers[node.index()];
        driver.rests = true;
        if driver.is_radio_off() {
            self.medium.room.doze(u32::from(node.0));
        }
    }

    /// Switches a node's radio on for good.
    pub(in crate::lab) fn wake_up(&mut self, node: NodeId) {
        let driver = &mut self.medium.lab_drivers.drivers[node.index()];
        let was_off = driver.is_radio_off();
        driver.rests = false;
        if !driver.is_away {
            if was_off {
                driver.on_since = self.medium.room.now();
            }
            self.medium.room.wake_up(u32::from(node.0));
        }
    }

    /// Returns when a node joined a router, and which one, if it is with one.
    pub fn joined(&self, node: NodeId) -> Option<(Instant, u32)> {
        self.medium.lab_drivers.joining.joined.get(&node).copied()
    }
}

impl<'p, W: Tap> LabMedium<Box<Node>, W> for RadioMedium<'p> {
    type Host<'h>
        = RadioPort<'h, W>
    where
        Self: 'h,
        W: 'h;

    #[inline]
    fn now(&self) -> Instant {
        self.room.now()
    }

    #[inline]
    fn host<'h>(&'h mut self, watch: &'h mut W) -> RadioPort<'h, W> {
        RadioPort { room: &mut self.room, lab_drivers: &mut self.lab_drivers, watch }
    }

    #[inline]
    fn step(
        &mut self,
        device_set: &mut DeviceSet<Box<Node>>,
        watch: &mut W,
        until: Instant,
    ) -> Result<bool, Livelock> {
        let Self { room, lab_drivers, net, livelock } = self;
        if let Some(livelock) = livelock.take() {
            return Err(livelock);
        }
        let goes_on =
            room.step(&mut MacHost { watch, device_set, lab_drivers, net, livelock }, until);
        livelock.take().map_or(Ok(goes_on), Err)
    }

    fn ideal(&mut self) -> Option<&mut IdealMediumConfig> {
        None
    }
}
