//! A lab of devices that speak IP, whose PC is a real machine: packets go in and come out.
//!
//! The devices have services ([`DeviceService`]) that any program may use. What the lab has besides,
//! the applications of devices that are not measured among it, goes on as in virtual time.

use super::devices::{LiveDevice, lines};
use super::router::{LabDirectory, LiveLease, MASK, ROUTER_NAME};
use super::services::{DeviceProgram, iperf_style};
use super::typed::{IperfCommand, MqttCommand};
use super::{ConsoleOutput, TypedBytes};
use crate::lab::nodes::{Conversation as _, NodeId};
use crate::lab::run::Lab;
use crate::lab::scene::{Delay, NetRole, Scene};
use crate::lab::suite::programs::{NODES_SETTLE, SETTLE, begin_traffic, starts};
use crate::lab::suite::{SuiteError, Unable};
use crate::lab::wifi::machine::address;
use crate::lab::wifi::watch::Watcher;
use crate::lab::wifi::{MachineId, OutsideCounts};
use crate::net::{Stack, fill_checksums};
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::sample::Interval;
use espbench_model::time::Instant;
use espbench_proto::node::app::iperf::IperfStyle;
use espbench_proto::node::app::{AddressServer, NameServer};

/// Time between the beginnings of two devices that ask for their addresses.
const DHCP_APART: Duration = Duration::from_millis(23);

/// Name of the PC, for its address.
pub const PC_NAME: &str = "pc";

/// A host of a live network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveHost {
    /// Name: of a device as in the lab, with `-` for what no name of a host may have.
    pub name: String,
    /// IPv4 address.
    pub address: [u8; 4],
    /// Role.
    pub role: LiveRole,
    /// Hardware address of its radio; `None` of one on a wire.
    pub hardware: Option<[u8; 6]>,
}

impl LiveHost {
    /// Returns whether it is a device with services.
    #[must_use]
    pub fn serves(&self) -> bool {
        self.role == LiveRole::Device
    }
}

/// Role of a host in a live network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveRole {
    /// A device with services.
    Device,
    /// A device that is in no network of IP.
    Apart,
    /// The PC, which is outside.
    Pc,
    /// The router.
    Router,
}

/// The result of a device's program, or of one stream that a service had.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServiceReport {
    /// Number of the device.
    pub device: u16,
    /// Program that has reported.
    pub program: DeviceProgram,
    /// Total of the stream, on the device's clock.
    pub total: Interval,
}

/// A lab of devices that speak IP, whose PC is outside.
#[derive(Debug)]
pub struct LiveNetwork<'a> {
    pub(super) lab: Lab<'a, ConsoleOutput>,
    pub(super) scene: Scene,
    pub(super) seed: u64,
    pub(super) hosts: Vec<LiveHost>,
    pub(super) devices: Vec<LiveDevice>,
    /// Bytes that are typed at nodes of ESP-NOW.
    pub(super) typing: Vec<TypedBytes>,
    /// Reports that nobody has taken yet.
    pub(super) reports: Vec<ServiceReport>,
    /// How each device's iperf is written.
    pub(super) styles: Vec<IperfStyle>,
    directory: LabDirectory,
    /// Whether anybody takes what consoles print.
    pub(super) shows: bool,
    /// Fragments that a device keeps at most.
    pub(super) reassembly: u16,
    /// Virtual time of the lab when the live time began.
    pub(super) origin: Instant,
}

/// Returns a name as hosts have it (RFC 952): letters, digits, hyphens.
fn host_name(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .collect()
}

fn hosts(scene: &Scene) -> Vec<LiveHost> {
    let nodes = scene.nodes.len();
    let devices = scene.devices.iter().enumerate().map(|(number, it)| LiveHost {
        name: host_name(&it.name),
        address: address(number),
        role: match it.role {
            NetRole::Alone => LiveRole::Apart,
            _ if it.esp_now => LiveRole::Apart,
            _ => LiveRole::Device,
        },
        hardware: Some(NodeId((nodes + number) as u16).mac().0),
    });
    let wired = |(number, (name, role)): (usize, (&str, LiveRole))| {
        let address = address(scene.devices.len() + number);
        LiveHost { name: name.to_string(), address, role, hardware: None }
    };
    // Without an access point there is no router.
    let router = (!scene.access_points.is_empty()).then_some((ROUTER_NAME, LiveRole::Router));
    let others = [(PC_NAME, LiveRole::Pc)].into_iter().chain(router);
    devices.chain(others.enumerate().map(wired)).collect()
}

impl<'a> LiveNetwork<'a> {
    /// Returns the network of a scene in which Wi-Fi has settled and the devices' services run; live
    /// time begins at 0. The delay of the PC's own kernel is left out: the real one has its own.
    /// `watcher` sees the air from now on.
    ///
    /// # Errors
    /// [`SuiteError`]: the lab has no PC or no device on the network, or a device's Wi-Fi does not
    /// start.
    pub fn new(
        scene: &Scene,
        seed: u64,
        watcher: Option<&'a mut (dyn Watcher + 'a)>,
    ) -> Result<Self, SuiteError> {
        let hosts = hosts(scene);
        let unable =
            |why: &str| Err(SuiteError::Unable(Unable::Lab(scene.name.clone()), why.to_string()));
        if !hosts.iter().any(LiveHost::serves) {
            return unable("none of its devices speaks IP");
        }
        starts(scene)?;
        let mut scene = scene.clone();
        let Some(pc) = &mut scene.pc else {
            return unable("it has no PC for the real one's place");
        };
        pc.turn = Delay::default();
        let (printed, typing) = lines(&scene);
        let mut lab = Lab::new(&scene, seed, ConsoleOutput(printed));
        lab.keep_nothing();
        let boot = scene.nodes.iter().map(|it| it.profile.boot).max();
        lab.run_for(boot.map_or(SETTLE, |boot| boot + NODES_SETTLE))?;
        let pc = MachineId(scene.devices.len() as u16);
        let directory = LabDirectory::new(&hosts);
        if let Some(router) = hosts.iter().find(|it| it.role == LiveRole::Router) {
            let number = lab.put_beside(pc, seed);
            lab.start_beside(number, Box::new(NameServer::new(directory.clone())));
            let addresses = AddressServer::new(directory.clone(), router.address, MASK);
            lab.start_beside(number, Box::new(addresses));
        }
        if let Some(watcher) = watcher {
            lab.attach(watcher);
        }
        lab.put_outside(pc);
        begin_traffic(&mut lab, &scene, seed);
        let origin = lab.now();
        let styles = scene.devices.iter().map(|it| iperf_style(it.program)).collect();
        let devices = scene.devices.iter().map(LiveDevice::new).collect();
        let reports = Vec::new();
        let mut network = Self {
            lab,
            scene,
            seed,
            hosts,
            devices,
            typing,
            reports,
            styles,
            directory,
            shows: false,
            reassembly: Stack::REASSEMBLED,
            origin,
        };
        for device in 0..network.devices.len() as u16 {
            network.serve(device, DHCP_APART * u32::from(device + 1));
        }
        Ok(network)
    }

    /// Returns the hosts: the devices in the order of their numbers, then the PC.
    #[must_use]
    pub fn hosts(&self) -> &[LiveHost] {
        &self.hosts
    }

    /// Returns the PC.
    fn pc(&self) -> MachineId {
        let pc = self.hosts.iter().position(|it| it.role == LiveRole::Pc);
        MachineId(pc.unwrap_or_default() as u16)
    }

    pub(super) fn live(&self, at: Instant) -> Instant {
        Instant::ZERO + at.since(self.origin)
    }

    pub(super) fn lab_time(&self, at: Instant) -> Instant {
        self.origin + at.since(Instant::ZERO)
    }

    /// Returns the live time.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.live(self.lab.now())
    }

    /// Lets a packet of the real PC begin its way now.
    pub fn come_in(&mut self, packet: &[u8]) {
        let pc = self.pc();
        self.lab.come_in(pc, packet);
    }

    /// Takes the next packet for the real PC, with its checksums.
    pub fn take(&mut self) -> Option<Vec<u8>> {
        let pc = self.pc();
        let mut packet = self.lab.take_outside(pc)?;
        fill_checksums(&mut packet);
        Some(packet)
    }

    /// Returns the counts of packets between the lab and the real PC.
    #[must_use]
    pub fn packets(&self) -> OutsideCounts {
        self.lab.outside_counts(self.pc())
    }

    /// Lets a device begin to send with iperf at that time.
    pub fn type_iperf(&mut self, device: u16, at: Instant, command: &IperfCommand) {
        let style = self.styles.get(usize::from(device)).copied().unwrap_or_default();
        let program = command.program(style);
        let (at, link) = (self.lab_time(at), DeviceProgram::IperfClient.link());
        self.lab.start_on_at(at, link, MachineId(device), program);
    }

    /// Lets a device begin to publish at that time.
    pub fn type_mqtt(&mut self, device: u16, at: Instant, command: &'a mut MqttCommand) {
        let (at, link) = (self.lab_time(at), DeviceProgram::MqttPublisher.link());
        self.lab.start_on_at(at, link, MachineId(device), Box::new(command.program(link)));
    }

    /// Takes the leases that the router has given since the last call; a host's last one.
    pub fn take_leases(&mut self) -> Vec<LiveLease> {
        let lease = |it: LiveLease| LiveLease { at: self.live(it.at), ..it };
        self.directory.take().map(lease).collect()
    }

    /// Returns the fragments that devices have dropped, and the packets that they could not put together.
    #[must_use]
    pub fn fragments_lost(&self) -> (u64, u64) {
        let devices = (0..).zip(&self.hosts).filter(|it| it.1.role == LiveRole::Device);
        devices.fold((0, 0), |sum, (number, _)| {
            let it = self.lab.ip_counters(MachineId(number));
            (sum.0 + it.fragments_dropped, sum.1 + it.unassembled)
        })
    }

    /// Lets devices drop fragments of IPv4, as ESP-IDF does without `CONFIG_LWIP_IP4_REASSEMBLY`, or keep
    /// so many.
    pub fn set_reassembly(&mut self, most: u16) {
        self.reassembly = most;
        for (number, _) in (0..).zip(&self.hosts).filter(|it| it.1.role == LiveRole::Device) {
            self.lab.set_reassembly(MachineId(number), most);
        }
    }

    /// Returns the programs of a device that could not run: their ports were taken, or the device
    /// had no socket left.
    #[must_use]
    pub fn failed(&self, device: u16) -> u64 {
        let told = self.lab.told(MachineId(device));
        told.and_then(|it| it.counts.get("failed")).copied().unwrap_or_default()
    }
}
