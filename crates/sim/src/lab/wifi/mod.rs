//! The lab of devices that speak IP over Wi-Fi.
//!
//! ```text
//! up    air ─▶ static RX buffer ─▶ Wi-Fi task ─▶ dynamic RX buffer ─▶ lwIP's task ─▶ mailbox ─▶ program
//! down  program ─▶ lwIP's task ─▶ TX buffer ─▶ Wi-Fi task ─▶ air
//! ```
//!
//! A [`Lab`] has, beside the devices that run the esp-now component, stations and access points
//! ([`espbench_dot11::wifi`]), and machines: ESPs, whose processor takes time for each packet and whose buffers are few, and PCs, on a
//! wire behind an access point or with a radio of their own. Each machine is an IP host
//! ([`crate::net`]) with programs (`espbench_proto::node::app`).
//!
//! | module | what |
//! |---|---|
//! | [`setup`] | what machines and Wi-Fi are made of |
//! | `machine` | what an ESP and a PC have |
//! | `cpu` | the processor: tasks by priority, on one core or two |
//! | `network` | machines and Wi-Fi, and the part of the MAC's callbacks that is theirs |
//! | `field` | machines and their packets |
//! | `ip` | what happens in a machine's IP stack |
//! | `esp` | what the tasks of an ESP do |
//! | `pc` | what a PC does, and the wire |
//! | [`esp_now`] | an echo over ESP-NOW, in the network or beside it |
//! | `outside` | a PC whose IP stack is a real one, outside the lab |
//! | `program` | how programs run, and what their calls cost |
//! | `class` | what a packet is, as far as it decides what it costs |
//! | `packet` | packets on their way |
//! | `what_if` | what is changed while it runs; a device that starts anew, or pings |
//! | [`watch`] | what is seen of all that |

mod class;
mod cpu;
mod esp;
pub mod esp_now;
mod field;
mod ip;
pub(in crate::lab) mod machine;
mod network;
mod outside;
mod packet;
mod pc;
mod program;
pub mod setup;
#[cfg(test)]
mod tests;
pub mod watch;
mod what_if;

pub use machine::{DriverDrops, HeapUse};
pub use outside::{OUTSIDE_MAX, OutsideCounts};
pub use setup::{EspSetup, MachineSetup, NetworkSetup, PcSetup};

use super::run::{Lab, RadioMedium, Tap};

use crate::net;
use crate::power::StateTimes;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
pub(in crate::lab) use esp::{DROPPED, LEAST};
use espbench_dot11::mac::WirelessMedium;
use espbench_dot11::wifi::{self, Joined, WifiLayer, WifiRole};
use espbench_model::sample::{Cause, Fate, Link, Sample};
use espbench_model::time::Instant;
use machine::{Keeps, Machine};
pub(in crate::lab) use network::Network;
pub(in crate::lab) use pc::{CALL, INTERRUPT};

/// Number of a machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MachineId(pub u16);

/// Output of a machine's programs.
#[derive(Clone, Debug, Default)]
pub struct MachineOutput {
    /// Samples, in the order in which they were recorded.
    pub samples: Vec<Sample>,
    /// Counters.
    pub counts: BTreeMap<&'static str, u64>,
    /// Last [`MachineOutput::KEPT`] bytes that were printed.
    pub printed: Vec<u8>,
    /// Bytes printed in all.
    pub bytes_printed: u64,
}

/// Sums of the work of a machine's programs whose samples are not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrafficSums {
    /// Probes that were sent.
    pub sent: u64,
    /// Probes of these that were answered in time.
    pub delivered: u64,
    /// The time until the answers, added up, in nanoseconds.
    pub waited_ns: u64,
    /// Bytes of streams.
    pub bytes: u64,
}

impl TrafficSums {
    /// Adds what others have done.
    pub fn add_all(&mut self, other: &Self) {
        self.sent += other.sent;
        self.delivered += other.delivered;
        self.waited_ns += other.waited_ns;
        self.bytes += other.bytes;
    }

    fn add(&mut self, sample: &Sample) {
        match sample {
            Sample::Probe(it) => {
                self.sent += 1;
                if let (Fate::Delivered, Some(sent), Some(received)) =
                    (it.fate, it.sent, it.received)
                {
                    self.delivered += 1;
                    self.waited_ns += received.since(sent).as_nanos() as u64;
                }
            }
            Sample::Interval(it) if !it.total => self.bytes += it.bytes,
            _ => {}
        }
    }
}

impl MachineOutput {
    /// Bytes that are kept of what was printed.
    pub const KEPT: usize = 16 << 10;
}

/// Returns the access points that are no machine's: the routers, which are all on one LAN.
fn lan(roles: &[WifiRole], machines: &[MachineSetup]) -> Vec<u32> {
    let is_router = |(number, role): (usize, &WifiRole)| {
        let number = number as u32;
        let owned = machines.iter().any(|it| it.place == setup::MachinePlace::Air(number));
        (matches!(role, WifiRole::AccessPoint(_)) && !owned).then_some(number)
    };
    roles.iter().enumerate().filter_map(is_router).collect()
}

impl<'a> Network<'a> {
    /// Returns machines and a Wi-Fi in which nothing has happened yet.
    pub(in crate::lab) fn of(seed: u64, setup: NetworkSetup, stations: u32) -> Self {
        let NetworkSetup { roles, machines, forward } = setup;
        let lan = lan(&roles, &machines);
        let wifi = WifiLayer::new(seed, roles);
        let machines: Vec<Machine<'a>> =
            machines.into_iter().enumerate().map(|(i, it)| Machine::new(seed, i, it)).collect();
        let mut network = Self::new(wifi, machines, stations);
        network.field.forward = forward;
        network.field.lan = lan;
        network
    }
}

/// The verbs for the machines of a lab.
impl<'a, W: Tap> Lab<'a, W> {
    /// Lets somebody watch the machines and the air from now on. Whoever wants no watcher pays nothing for it.
    pub fn attach(&mut self, watcher: &'a mut (dyn watch::Watcher + 'a)) {
        watcher.begin(self.medium.room.now());
        let field = &mut self.medium.net.field;
        let watched = watch::Watched::new(watcher, &field.machines, self.medium.room.stations());
        field.watched = Some(alloc::boxed::Box::new(watched));
    }

    /// Ends the watching, after the watcher was told of all that has happened.
    pub fn detach(&mut self) {
        self.medium.net.seen();
        if let Some(watched) = self.medium.net.field.watched.take() {
            watched.watcher.end(self.medium.room.now());
        }
    }

    /// Gives a machine a program, which begins now.
    pub fn start(
        &mut self,
        machine: MachineId,
        program: alloc::boxed::Box<dyn setup::Program + 'a>,
    ) {
        self.start_at(self.medium.room.now(), machine, program);
    }

    /// Gives a machine a program that begins at that time.
    pub fn start_at(
        &mut self,
        at: Instant,
        machine: MachineId,
        program: alloc::boxed::Box<dyn setup::Program + 'a>,
    ) {
        self.medium.net.start(&mut self.medium.room, machine.0, (Keeps::Samples, at), program);
    }

    /// Gives a machine a program whose samples are those of a link.
    pub fn start_on(
        &mut self,
        link: Link,
        machine: MachineId,
        program: alloc::boxed::Box<dyn setup::Program + 'a>,
    ) {
        self.start_on_at(self.medium.room.now(), link, machine, program);
    }

    /// Gives a machine a program that begins at that time and whose samples are those of a link.
    pub fn start_on_at(
        &mut self,
        at: Instant,
        link: Link,
        machine: MachineId,
        program: alloc::boxed::Box<dyn setup::Program + 'a>,
    ) {
        self.medium.net.start(&mut self.medium.room, machine.0, (Keeps::OnLink(link), at), program);
    }

    /// Gives a machine a program that is not measured: its samples are added up, and no verb waits
    /// for its end.
    pub fn start_beside(
        &mut self,
        machine: MachineId,
        program: alloc::boxed::Box<dyn setup::Program + 'a>,
    ) {
        self.start_beside_at(self.medium.room.now(), machine, program);
    }

    /// Gives a machine a program that is not measured and that begins at that time.
    pub fn start_beside_at(
        &mut self,
        at: Instant,
        machine: MachineId,
        program: alloc::boxed::Box<dyn setup::Program + 'a>,
    ) {
        self.medium.net.start(&mut self.medium.room, machine.0, (Keeps::Sums, at), program);
    }

    /// Returns what the programs of a machine have done that are not measured.
    #[must_use]
    pub fn sums(&self, machine: MachineId) -> TrafficSums {
        self.medium.net.machine(machine.0).map(|it| it.sums).unwrap_or_default()
    }

    /// Returns whether all programs of a machine have ended that are measured.
    #[must_use]
    pub fn is_idle(&self, machine: MachineId) -> bool {
        self.running(machine) == 0
    }

    /// Returns the number of measured programs of a machine that have not ended.
    #[must_use]
    pub fn running(&self, machine: MachineId) -> usize {
        self.medium.net.machine(machine.0).map_or(0, Machine::running)
    }

    /// Returns the output of a machine's programs.
    #[must_use]
    pub fn told(&self, machine: MachineId) -> Option<&MachineOutput> {
        self.medium.net.machine(machine.0).map(|it| &it.told)
    }

    /// Takes what the programs of a machine have told so far.
    pub fn take_told(&mut self, machine: MachineId) -> MachineOutput {
        self.medium
            .net
            .machine_mut(machine.0)
            .map(|it| core::mem::take(&mut it.told))
            .unwrap_or_default()
    }

    /// Takes the samples of a machine's programs.
    pub fn take_program_samples(&mut self, machine: MachineId) -> Vec<Sample> {
        let machine = self.medium.net.machine_mut(machine.0);
        machine.map(|it| core::mem::take(&mut it.told.samples)).unwrap_or_default()
    }

    /// Tells a machine's station to look for its network, and to join it.
    pub fn join(&mut self, machine: MachineId) {
        let RadioMedium { room, net, .. } = &mut self.medium;
        if let Some(station) = net.field.station(machine.0) {
            net.wifi.join(room, station, &mut net.field);
        }
    }

    /// Tells a machine's station to leave its network, or to give up joining it.
    pub fn leave(&mut self, machine: MachineId) {
        let RadioMedium { room, net, .. } = &mut self.medium;
        if let Some(station) = net.field.station(machine.0) {
            net.wifi.leave(room, station, &mut net.field);
        }
    }

    /// Sets how many fragments of IPv4 wait at a machine for the others of their packets at most; 0: each
    /// is dropped.
    pub fn set_reassembly(&mut self, machine: MachineId, most: u16) {
        if let Some(machine) = self.medium.net.machine_mut(machine.0) {
            machine.host.set_reassembly(most);
        }
    }

    /// Lets a machine's station forget the key of its password, as after a start.
    pub fn forget_key(&mut self, machine: MachineId) {
        if let Some(station) = self.medium.net.field.station(machine.0) {
            self.medium.net.wifi.forget_key(station);
        }
    }

    /// Returns how a machine's station joined its network, while it is there.
    #[must_use]
    pub fn association(&self, machine: MachineId) -> Option<Joined> {
        let station = self.medium.net.field.station(machine.0)?;
        self.medium.net.field.members.get(station as usize).copied().flatten()
    }

    /// Returns the cause of the first loss at that time or later, if it is still remembered.
    #[must_use]
    pub fn lost_after(&self, at: Instant) -> Option<Cause> {
        self.medium.net.field.lost_after(at)
    }

    /// Returns the packets that a machine's driver has dropped.
    #[must_use]
    pub fn driver_drops(&self, machine: MachineId) -> DriverDrops {
        self.medium.net.machine(machine.0).map(|it| it.drops).unwrap_or_default()
    }

    /// Returns the counters of a machine's IP stack.
    #[must_use]
    pub fn ip_counters(&self, machine: MachineId) -> net::NetCounters {
        self.medium.net.machine(machine.0).map(|it| *it.host.counters()).unwrap_or_default()
    }

    /// Returns the times that an ESP has spent in each state, by now.
    #[must_use]
    pub fn times(&self, machine: MachineId) -> Option<StateTimes> {
        let machine = self.medium.net.machine(machine.0)?;
        machine.esp().map(|it| it.meter.read(self.medium.room.now()))
    }

    /// Returns the heap of an ESP.
    #[must_use]
    pub fn heap(&self, machine: MachineId) -> Option<HeapUse> {
        let esp = self.medium.net.machine(machine.0)?.esp()?;
        Some(HeapUse {
            started: esp.setup.heap.free,
            peak: esp.heap_peak,
            driver_peak: esp.driver_peak,
        })
    }

    /// Returns the counters of Wi-Fi at a station or access point.
    #[must_use]
    pub fn wifi_counters(&self, station: u32) -> wifi::WifiCounters {
        self.medium.net.wifi.counters(station)
    }

    /// Returns the room.
    #[must_use]
    pub const fn room(&self) -> &WirelessMedium {
        &self.medium.room
    }

    /// Returns the Wi-Fi layer.
    #[must_use]
    pub const fn wifi(&self) -> &WifiLayer {
        &self.medium.net.wifi
    }
}
