//! A lab of devices that speak IP, whose PC is a real machine: packets go in and come out.
//!
//! The devices have services ([`DeviceService`]) that any program may use. What the lab has besides,
//! the applications of devices that are not measured among it, goes on as in virtual time.

use super::services::{DeviceProgram, DeviceService, iperf_style, start};
use super::typed::{IperfCommand, MqttCommand};
use crate::lab::nodes::{Conversation as _, Livelock};
use crate::lab::run::Lab;
use crate::lab::scene::{Delay, NetRole, Scene};
use crate::lab::suite::SuiteError;
use crate::lab::suite::programs::{NODES_SETTLE, SETTLE, begin_traffic, starts};
use crate::lab::wifi::machine::address;
use crate::lab::wifi::watch::Watcher;
use crate::lab::wifi::{MachineId, OutsideCounts};
use crate::net::fill_checksums;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use espbench_model::sample::{Interval, Sample};
use espbench_model::time::Instant;
use espbench_proto::node::app::iperf::IperfStyle;

/// Name of the PC, for its address.
pub const PC_NAME: &str = "pc";

/// A host of a live network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveHost {
    /// Name: of a device as in the lab, with `-` for what no name of a host may have.
    pub name: String,
    /// IPv4 address.
    pub address: [u8; 4],
    /// Whether it is a device with services.
    pub serves: bool,
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
    lab: Lab<'a>,
    hosts: Vec<LiveHost>,
    /// How each device's iperf is written.
    styles: Vec<IperfStyle>,
    /// Virtual time of the lab when the live time began.
    origin: Instant,
}

/// Returns a name as hosts have it (RFC 952): letters, digits, hyphens.
fn host_name(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .collect()
}

fn hosts(scene: &Scene) -> Vec<LiveHost> {
    let devices = scene.devices.iter().enumerate().map(|(number, it)| LiveHost {
        name: host_name(&it.name),
        address: address(number),
        serves: it.role != NetRole::Alone && !it.esp_now,
    });
    let number = scene.devices.len();
    let pc = LiveHost { name: PC_NAME.to_string(), address: address(number), serves: false };
    devices.chain([pc]).collect()
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
        let unable = |why: &str| Err(SuiteError::Unable(scene.name.clone(), why.to_string()));
        if !hosts.iter().any(|it| it.serves) {
            return unable("none of its devices speaks IP");
        }
        starts(scene)?;
        let mut scene = scene.clone();
        let Some(pc) = &mut scene.pc else {
            return unable("it has no PC for the real one's place");
        };
        pc.turn = Delay::default();
        let mut lab = Lab::new(&scene, seed, ());
        lab.keep_nothing();
        let boot = scene.nodes.iter().map(|it| it.profile.boot).max();
        lab.run_for(boot.map_or(SETTLE, |boot| boot + NODES_SETTLE))?;
        if let Some(watcher) = watcher {
            lab.attach(watcher);
        }
        lab.put_outside(MachineId(scene.devices.len() as u16));
        let pc_address = address(scene.devices.len());
        begin_traffic(&mut lab, &scene, seed);
        for (number, device) in scene.devices.iter().enumerate().filter(|it| hosts[it.0].serves) {
            let page = format!("{} of the simulated lab {}\n", hosts[number].name, scene.name);
            let written = (device.program, page.as_str());
            for service in DeviceService::ALL {
                start(&mut lab, MachineId(number as u16), written, pc_address, service);
            }
        }
        let origin = lab.now();
        let styles = scene.devices.iter().map(|it| iperf_style(it.program)).collect();
        Ok(Self { lab, hosts, styles, origin })
    }

    /// Returns the hosts: the devices in the order of their numbers, then the PC.
    #[must_use]
    pub fn hosts(&self) -> &[LiveHost] {
        &self.hosts
    }

    /// Returns the PC.
    fn pc(&self) -> MachineId {
        MachineId((self.hosts.len() - 1) as u16)
    }

    fn live(&self, at: Instant) -> Instant {
        Instant::ZERO + at.since(self.origin)
    }

    fn lab_time(&self, at: Instant) -> Instant {
        self.origin + at.since(Instant::ZERO)
    }

    /// Returns the live time.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.live(self.lab.now())
    }

    /// Returns when something happens next; `None` if nothing is left to do.
    pub fn next_due(&mut self) -> Option<Instant> {
        let next = self.lab.next_event()?;
        Some(self.live(next))
    }

    /// Lets time go on to that instant.
    ///
    /// # Errors
    /// [`Livelock`]: a node does not come to rest.
    pub fn advance(&mut self, until: Instant) -> Result<(), Livelock> {
        let until = self.lab_time(until);
        self.lab.run_until(until)
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

    /// Takes what the devices' programs have reported since the last call.
    pub fn take_reports(&mut self) -> Vec<ServiceReport> {
        let mut reports = Vec::new();
        let devices = (0..).zip(&self.hosts).filter(|(_, it)| it.serves);
        for (device, _) in devices {
            for sample in self.lab.take_program_samples(MachineId(device)) {
                if let Sample::Interval(total) = sample
                    && total.total
                    && let Some(program) = DeviceProgram::of(total.link)
                {
                    reports.push(ServiceReport { device, program, total });
                }
            }
        }
        reports
    }

    /// Returns the programs of a device that could not run: their ports were taken, or the device
    /// had no socket left.
    #[must_use]
    pub fn failed(&self, device: u16) -> u64 {
        let told = self.lab.told(MachineId(device));
        told.and_then(|it| it.counts.get("failed")).copied().unwrap_or_default()
    }
}
