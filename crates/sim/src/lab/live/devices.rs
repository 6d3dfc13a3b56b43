//! The devices of a live network at their consoles: what they are told, and how they start anew.

use super::console::{
    DeviceConsole, PingSession, boot_lines, connect_failed, joined_lines, left_line, rate_row,
};
use super::network::{LiveNetwork, LiveRole, ServiceReport};
use super::services::{DeviceProgram, DeviceService, start};
use super::uart::UartQueue;
use super::{ConsoleBytes, PRINTED_MAX, TYPED_MAX, TypedBytes, baud};
use crate::lab::nodes::conversation::ConversationParts as _;
use crate::lab::nodes::{Conversation as _, Livelock, NodeId};
use crate::lab::scene::{NetDevice, NetRole, Scene};
use crate::lab::wifi::MachineId;
use crate::lab::wifi::machine::address;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::sample::Sample;
use espbench_model::time::Instant;
use espbench_proto::node::app::DhcpClient;

/// Time from a reset to the application's first line where the profile says nothing.
const BOOT: Duration = Duration::from_millis(550);

/// Time after which a device looks for a network that it has lost.
const AGAIN: Duration = Duration::from_secs(1);

/// Stage of a device that starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeviceStage {
    /// The device is in its network, or is one, or is in none.
    Up,
    /// The device begins to look for its network then; with a boot before, if it was reset.
    Until(Instant, bool),
    /// The device looks for its network.
    Joining,
}

/// A device that speaks IP: its console, and how far it is.
#[derive(Debug)]
pub(super) struct LiveDevice {
    pub(super) console: DeviceConsole,
    pub(super) stage: DeviceStage,
    /// When its clock began: at its last reset, or with the lab.
    began: Instant,
    /// Starts so far.
    pub(super) life: u64,
}

impl LiveDevice {
    pub(super) fn new(device: &NetDevice) -> Self {
        Self {
            console: DeviceConsole::new(baud(&device.profile)),
            stage: DeviceStage::Up,
            began: Instant::ZERO,
            life: 0,
        }
    }
}

/// Returns the lines of the consoles of a scene's nodes: what they print, and what is typed.
pub(super) fn lines(scene: &Scene) -> (Vec<UartQueue>, Vec<TypedBytes>) {
    let bauds = scene.nodes.iter().map(|it| baud(&it.profile));
    bauds
        .map(|baud| {
            let line = UartQueue::new(baud, TYPED_MAX);
            (UartQueue::new(baud, PRINTED_MAX), TypedBytes { line, off: 0 })
        })
        .unzip()
}

/// A console of a live network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LivePort {
    /// Name of the device.
    pub name: String,
    /// Chip of the device.
    pub chip: String,
    /// Address of the device: its IPv4 address, of a node of ESP-NOW that of its radio.
    pub address: String,
    /// Rate in bits a second.
    pub baud: u32,
    /// Whether it is a node of ESP-NOW.
    pub is_node: bool,
}

/// The consoles: those of devices that speak IP, then those of nodes of ESP-NOW.
impl LiveNetwork<'_> {
    /// Returns the consoles.
    #[must_use]
    pub fn ports(&self) -> Vec<LivePort> {
        let devices = self.scene.devices.iter().zip(&self.hosts).map(|(device, host)| LivePort {
            name: host.name.clone(),
            chip: device.profile.chip_name.to_string(),
            address: core::net::Ipv4Addr::from(host.address).to_string(),
            baud: baud(&device.profile),
            is_node: false,
        });
        let nodes = (0..).zip(&self.scene.nodes).map(|(number, node)| LivePort {
            name: format!("node{number}"),
            chip: node.profile.chip_name.to_string(),
            address: NodeId(number).mac().to_string(),
            baud: baud(&node.profile),
            is_node: true,
        });
        devices.chain(nodes).collect()
    }

    /// Keeps what consoles print from now on, for [`take_printed`](Self::take_printed).
    pub const fn show_consoles(&mut self) {
        self.shows = true;
    }

    /// Returns whether a console has printed what has not been taken.
    #[must_use]
    pub fn prints(&self) -> bool {
        let devices = self.devices.iter().map(|it| &it.console.printed);
        devices.chain(&self.lab.watch.0).any(|it| it.due().is_some())
    }

    fn node(&self, port: usize) -> Option<NodeId> {
        let node = port.checked_sub(self.devices.len())?;
        (node < self.typing.len()).then_some(NodeId(node as u16))
    }

    /// Returns how many bytes a console takes now.
    #[must_use]
    pub fn room(&self, port: usize) -> usize {
        let line = self.devices.get(port).map(|it| &it.console.typed);
        let node = self.node(port).map(|it| &self.typing[it.index()].line);
        line.or(node).map_or(0, UartQueue::room)
    }

    /// Types bytes at a console from then on, or from now on if that is past. Returns how many were
    /// taken: there is [`room`](Self::room) for so many.
    pub fn type_bytes_at(&mut self, port: usize, at: Instant, bytes: &[u8]) -> usize {
        let at = at.max(self.now());
        let node = self.node(port);
        let (line, at) = match (self.devices.get_mut(port), node) {
            (Some(device), _) => (&mut device.console.typed, at),
            (None, Some(node)) => {
                let at = self.lab_time(at);
                (&mut self.typing[node.index()].line, at)
            }
            (None, None) => return 0,
        };
        let taken = bytes.len().min(line.room());
        bytes.iter().take(taken).for_each(|byte| line.push(at, *byte));
        taken
    }

    /// Takes the next byte that a console has printed, with the time at which it has left the line.
    pub fn take_printed(&mut self, port: usize) -> Option<(Instant, u8)> {
        let now = self.now();
        if let Some(device) = self.devices.get_mut(port) {
            return device.console.printed.pop(now);
        }
        let (node, now) = (self.node(port)?, self.lab.now());
        let (at, byte) = self.lab.watch.0[node.index()].pop(now)?;
        Some((self.live(at), byte))
    }

    /// Sets whether cursor queries of a node's console are answered inside; a device that speaks IP asks
    /// none.
    pub fn answer_cursor(&mut self, port: usize, answer: bool) {
        if let Some(node) = self.node(port) {
            let (device_set, mut host) = self.lab.parts();
            device_set.answer_cursor(&mut host, node, answer);
        }
    }

    /// Presses a device's reset button.
    pub fn reset(&mut self, port: usize) {
        if let Some(node) = self.node(port) {
            self.lab.reset(node);
        } else if port < self.devices.len() {
            self.start_over(port as u16, true);
        }
    }

    /// Returns the counts of a console's bytes.
    #[must_use]
    pub fn bytes(&self, port: usize) -> ConsoleBytes {
        if let Some(LiveDevice { console, .. }) = self.devices.get(port) {
            return ConsoleBytes {
                typed: console.typed.carried() - console.off,
                typed_off: console.off,
                typed_lost: console.lost,
                printed: console.printed.carried(),
                printed_lost: console.printed.lost(),
            };
        }
        let Some(node) = self.node(port) else { return ConsoleBytes::default() };
        let (typing, printed) = (&self.typing[node.index()], &self.lab.watch.0[node.index()]);
        ConsoleBytes {
            typed: typing.line.carried() - typing.off,
            typed_off: typing.off,
            typed_lost: self.lab.dropped(node).console_in.into(),
            printed: printed.carried(),
            printed_lost: printed.lost(),
        }
    }

    /// Returns when something happens next, beside bytes that consoles print; `None` if nothing is left to
    /// do.
    pub fn next_due(&mut self) -> Option<Instant> {
        let typed = self.typing.iter().filter_map(|it| it.line.due()).min();
        let lab = [self.lab.next_event(), typed].into_iter().flatten().min();
        let devices = self.devices.iter().filter_map(LiveDevice::work_due).min();
        lab.map(|it| self.live(it)).into_iter().chain(devices).min()
    }

    /// Lets time go on to that instant.
    ///
    /// # Errors
    /// [`Livelock`]: a node does not come to rest.
    pub fn advance(&mut self, until: Instant) -> Result<(), Livelock> {
        loop {
            let devices = self.devices.iter().filter_map(LiveDevice::work_due).min();
            let nodes = self.typing.iter().filter_map(|it| it.line.due()).min();
            let nodes = nodes.map(|it| self.live(it));
            let next = devices.into_iter().chain(nodes).min().filter(|it| *it <= until);
            let at = next.unwrap_or(until).max(self.now());
            self.lab.run_until(self.lab_time(at))?;
            self.type_at_nodes(at)?;
            for device in 0..self.devices.len() as u16 {
                self.work(at, device);
            }
            if !self.shows {
                self.devices.iter_mut().for_each(|it| it.console.printed.clear());
                self.lab.watch.0.iter_mut().for_each(UartQueue::clear);
            }
            if next.is_none() {
                return Ok(());
            }
        }
    }

    /// Hands bytes that have come to the end of their lines to nodes.
    fn type_at_nodes(&mut self, now: Instant) -> Result<(), Livelock> {
        let at = self.lab_time(now);
        for number in 0..self.typing.len() {
            while let Some((_, byte)) = self.typing[number].line.pop(at) {
                let (device_set, mut host) = self.lab.parts();
                let is_on = device_set.type_byte(&mut host, NodeId(number as u16), byte)?;
                self.typing[number].off += u64::from(!is_on);
            }
        }
        Ok(())
    }

    /// Does what is due at a device's console, and of its start.
    fn work(&mut self, now: Instant, number: u16) {
        let (machine, index) = (MachineId(number), usize::from(number));
        let printed = self.lab.take_printed(machine);
        self.devices[index].console.print_bytes(now, &printed);
        while let Some((_, byte)) = self.devices[index].console.typed.pop(now) {
            if let Some(line) = self.devices[index].console.take(now, byte) {
                self.execute(now, number, &line);
            }
        }
        self.go_on(now, number);
        if self.devices[index].console.ping.is_some() {
            self.ping_goes_on(now, number);
        }
        let iperf = &mut self.devices[index].console.iperf;
        if iperf.is_busy() {
            if iperf.server_until.is_some_and(|it| it <= now) {
                iperf.server_until = None;
            }
            self.collect(number);
        }
    }

    /// Lets a device that starts take its next step, and one that has lost its network look for it.
    fn go_on(&mut self, now: Instant, number: u16) {
        let machine = MachineId(number);
        let device = &mut self.devices[usize::from(number)];
        match device.stage {
            DeviceStage::Until(at, boots) if at <= now => {
                device.stage = DeviceStage::Joining;
                if boots {
                    let hardware = self.hosts[usize::from(number)].hardware.unwrap_or_default();
                    device.console.listens = true;
                    let text = boot_lines(hardware, device.clock(now), device.life > 0);
                    device.console.print(now, &text);
                    device.console.prompt(now);
                }
                if self.scene.devices[usize::from(number)].role == NetRole::Station {
                    self.lab.join(machine);
                } else {
                    self.devices[usize::from(number)].stage = DeviceStage::Up;
                    self.serve(number, Duration::ZERO);
                }
            }
            DeviceStage::Joining => {
                let Some(joined) = self.lab.association(machine) else { return };
                let network = self.scene.networks(self.seed)[usize::from(number)];
                let ap = network.and_then(|it| self.scene.access_points.get(usize::from(it)));
                let (name, channel) = ap.map_or(("", 0), |it| (it.name.as_str(), it.channel));
                let rssi = self.rssi(number);
                let device = &mut self.devices[usize::from(number)];
                device.stage = DeviceStage::Up;
                let began = self.origin + device.began.since(Instant::ZERO);
                let text = joined_lines(device.clock(now), &joined, (name, channel, rssi), began);
                device.console.print(now, &text);
                self.serve(number, Duration::ZERO);
            }
            _ => {}
        }
    }

    /// Looks whether devices are still in their networks: one that is not looks for it again.
    pub(super) fn look(&mut self, now: Instant) {
        for number in 0..self.devices.len() as u16 {
            let index = usize::from(number);
            let is_member = self.scene.devices[index].role == NetRole::Station
                && self.hosts[index].role == LiveRole::Device;
            let device = &mut self.devices[index];
            let is_up = device.stage == DeviceStage::Up && is_member;
            if is_up && self.lab.association(MachineId(number)).is_none() {
                // Beacons that do not come: `WIFI_REASON_BEACON_TIMEOUT`.
                let device = &mut self.devices[index];
                device.console.print(now, &left_line(device.clock(now), 200));
                device.stage = DeviceStage::Until(now + AGAIN, false);
                self.lab.renew(self.seed, MachineId(number));
            }
        }
    }

    /// Returns how strongly the access point of a device arrives at it, in dBm.
    fn rssi(&self, number: u16) -> Option<i8> {
        let station = self.lab.station_of(MachineId(number))?;
        let ap = self.lab.association(MachineId(number))?.ap;
        self.lab.room().rssi(ap, station)
    }

    /// Starts a device's services, and its client of DHCP after a while.
    pub(super) fn serve(&mut self, number: u16, after: Duration) {
        let (machine, host) = (MachineId(number), &self.hosts[usize::from(number)]);
        if host.role != LiveRole::Device {
            return;
        }
        self.lab.set_reassembly(machine, self.reassembly);
        let (pc, lab) = (address(self.scene.devices.len()), &self.scene.name);
        let page = format!("{} of the simulated lab {lab}\n", host.name);
        let style = self.scene.devices[usize::from(number)].program;
        if let Some(hardware) = host.hardware {
            let begins = self.lab.now() + after;
            let clock = self.origin + self.devices[usize::from(number)].began.since(Instant::ZERO);
            let client = DhcpClient::new(hardware, host.address, &host.name, (clock, begins));
            self.lab.start_beside(machine, Box::new(client));
        }
        for service in DeviceService::ALL {
            start(&mut self.lab, machine, (style, page.as_str()), pc, service);
        }
    }

    /// Lets a device leave its network and start anew, with a boot or without.
    pub(super) fn start_over(&mut self, number: u16, boots: bool) {
        let (now, index) = (self.now(), usize::from(number));
        let device = &mut self.devices[index];
        device.life += 1;
        let profile = &self.scene.devices[index].profile;
        let time = if boots { profile.boot.max(BOOT) } else { Duration::ZERO };
        device.stage = DeviceStage::Until(now + time, boots);
        if boots {
            device.console.reset();
            device.began = now;
        }
        let seed = self.seed ^ device.life << 32;
        self.lab.leave(MachineId(number));
        self.lab.renew(seed, MachineId(number));
    }

    /// Takes the samples of a device's programs: totals are reports, and all are rows at a console that
    /// shows them.
    fn collect(&mut self, device: u16) {
        let now = self.now();
        for sample in self.lab.take_program_samples(MachineId(device)) {
            let Sample::Interval(row) = sample else { continue };
            let Some(program) = DeviceProgram::of(row.link) else { continue };
            let console = &mut self.devices[usize::from(device)].console;
            let shown = match program {
                DeviceProgram::IperfClient => console.iperf.client,
                DeviceProgram::Service(DeviceService::IperfTcp | DeviceService::IperfUdp) => {
                    console.iperf.server_until.is_some()
                }
                _ => false,
            };
            if shown {
                let text = rate_row(&row, console.iperf.headed);
                console.print(now, &text);
                console.iperf.headed = !row.total;
                if row.total && program == DeviceProgram::IperfClient {
                    console.iperf.client = false;
                }
            }
            if row.total {
                self.reports.push(ServiceReport { device, program, total: row });
            }
        }
        let failed = self.failed(device);
        let it = &mut self.devices[usize::from(device)];
        if it.console.iperf.client && failed > it.console.iperf.failed {
            it.console.iperf.client = false;
            let text = connect_failed(it.clock(now));
            it.console.print(now, &text);
        }
    }

    /// Takes what the devices' programs have reported since the last call.
    pub fn take_reports(&mut self) -> Vec<ServiceReport> {
        let now = self.now();
        self.look(now);
        for number in 0..self.devices.len() as u16 {
            self.collect(number);
        }
        core::mem::take(&mut self.reports)
    }
}

impl LiveDevice {
    /// Returns the time on the device's clock.
    pub(super) fn clock(&self, now: Instant) -> Instant {
        Instant::ZERO + now.since(self.began)
    }

    /// Returns the milliseconds on the device's clock, for a line of its log.
    pub(super) fn ms(&self, now: Instant) -> u64 {
        self.clock(now).as_nanos() / 1_000_000
    }

    /// Returns when the device has something to do, beside what it prints.
    fn work_due(&self) -> Option<Instant> {
        let console = &self.console;
        let ping = console.ping.as_ref().map(PingSession::due);
        let stage = match self.stage {
            DeviceStage::Until(at, _) => Some(at),
            DeviceStage::Up | DeviceStage::Joining => None,
        };
        let all = [console.typed.due(), ping, console.iperf.server_until, stage];
        all.into_iter().flatten().min()
    }
}
