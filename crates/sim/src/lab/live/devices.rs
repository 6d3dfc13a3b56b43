//! The devices of a live network at their consoles: what they are told, and how they start anew.

use super::console::{
    CommandProblem, ConsoleCommand, DeviceConsole, IperfLine, PING_LEAST, PingLine, PingSession,
    boot_lines, help, iperf_begins, joined_lines, left_line, rate_row, version,
};
use super::network::{LiveNetwork, LiveRole, ServiceReport};
use super::services::{DeviceProgram, DeviceService, start};
use super::typed::IperfCommand;
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
use espbench_model::workload::Iperf;
use espbench_proto::node::app::{DhcpClient, Endpoint};
use espbench_proto::wire::iperf2;

/// Time from a reset to the application's first line where the profile says nothing.
const BOOT: Duration = Duration::from_millis(550);

/// Time after which a device looks for a network that it has lost.
const AGAIN: Duration = Duration::from_secs(1);

/// Stage of a device that starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DeviceStage {
    /// It is in its network, or is one, or is in none.
    Up,
    /// It begins to look for its network then; with a boot before, if it was reset.
    Until(Instant, bool),
    /// It looks for its network.
    Joining,
}

/// A device that speaks IP: its console, and how far it is.
#[derive(Debug)]
pub(super) struct LiveDevice {
    pub(super) console: DeviceConsole,
    stage: DeviceStage,
    /// When its clock began.
    began: Instant,
    /// Starts so far.
    life: u64,
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
    /// Its chip.
    pub chip: String,
    /// Its address: of a device its IPv4 address, of a node of ESP-NOW that of its radio.
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
                typed_lost: 0,
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
                    device.began = now;
                    device.console.listens = true;
                    let text = boot_lines(hardware, Instant::ZERO + BOOT, device.life > 0);
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
                let text = joined_lines(now, &joined, (name, channel, rssi), began);
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
                device.console.print(now, &left_line(now, 200));
                device.stage = DeviceStage::Until(now + AGAIN, false);
                self.lab.renew(self.seed, MachineId(number));
            }
        }
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
            let client = DhcpClient::new(hardware, host.address, &host.name, begins);
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

/// What is typed.
impl LiveNetwork<'_> {
    /// Carries out a line.
    fn execute(&mut self, now: Instant, number: u16, line: &str) {
        let index = usize::from(number);
        let text = match DeviceConsole::parse(line) {
            Ok(ConsoleCommand::Restart) => {
                self.start_over(number, true);
                return;
            }
            Ok(ConsoleCommand::Help) => help(),
            Ok(ConsoleCommand::Version) => {
                let device = &self.scene.devices[index];
                version(&device.profile.chip_name, device.cores)
            }
            Ok(ConsoleCommand::Heap) => {
                let free = self.lab.free_heap(MachineId(number)).unwrap_or_default();
                format!("{free}\n")
            }
            Ok(ConsoleCommand::Join(ssid)) => self.join(now, number, &ssid),
            Ok(ConsoleCommand::IperfAbort) => {
                self.devices[index].console.iperf = Default::default();
                format!("I ({}) iperf: iperf exit\n", now.as_nanos() / 1_000_000)
            }
            Ok(ConsoleCommand::Iperf(line)) => self.iperf(now, number, &line),
            Ok(ConsoleCommand::Ping(line)) => self.ping(now, number, line),
            Err(CommandProblem::Empty) => String::new(),
            Err(CommandProblem::Unknown) => "Unrecognized command\n".into(),
            Err(CommandProblem::Option(what)) => {
                format!("{what}\nCommand returned non-zero error code: 0x1 (ERROR)\n")
            }
        };
        let console = &mut self.devices[index].console;
        console.print(now, &text);
        console.prompt(now);
    }

    fn join(&mut self, now: Instant, number: u16, ssid: &str) -> String {
        let network = self.scene.networks(self.seed)[usize::from(number)];
        let ap = network.and_then(|it| self.scene.access_points.get(usize::from(it)));
        if ap.is_some_and(|it| it.name == ssid) {
            self.start_over(number, false);
            return String::new();
        }
        // No network of that name: `WIFI_REASON_NO_AP_FOUND`.
        left_line(now, 201)
    }

    /// Returns the address of a host by its name, or as it is written.
    fn host(&self, name: &str) -> Option<[u8; 4]> {
        let known = self.hosts.iter().find(|it| it.name == name).map(|it| it.address);
        known.or_else(|| name.parse::<core::net::Ipv4Addr>().ok().map(|it| it.octets()))
    }

    fn iperf(&mut self, now: Instant, number: u16, line: &IperfLine) -> String {
        let index = usize::from(number);
        if self.devices[index].console.iperf.is_busy() {
            return format!("W ({}) iperf: iperf is running\n", now.as_nanos() / 1_000_000);
        }
        if self.devices[index].stage != DeviceStage::Up {
            return format!("E ({}) IPERF: sta has no IP\n", now.as_nanos() / 1_000_000);
        }
        let own = self.hosts[index].address;
        let spans = (line.interval, line.time);
        let Some(client) = &line.client else {
            if line.port != iperf2::PORT {
                return format!("E (0) iperf: the lab's devices listen on {}\n", iperf2::PORT);
            }
            self.devices[index].console.iperf.server_until = Some(now + line.time);
            return iperf_begins(now, line.transport, true, (own, [0; 4], line.port), spans);
        };
        let Some(to) = self.host(client) else {
            return format!("E (0) iperf: {client}: unknown host\n");
        };
        let work = Iperf {
            transport: line.transport,
            time: line.time,
            interval: line.interval,
            length: line.length.unwrap_or(0),
            bandwidth: line.bandwidth,
            ..Iperf::DEFAULT
        };
        let command = IperfCommand { to: Endpoint::new(to, line.port), work };
        self.devices[index].console.iperf.client = true;
        self.type_iperf(number, now, &command);
        iperf_begins(now, line.transport, false, (own, to, line.port), spans)
    }

    fn ping(&mut self, now: Instant, number: u16, line: PingLine) -> String {
        let Some(to) = self.host(&line.host) else {
            return format!("ping: unknown host {}\n", line.host);
        };
        let device = &mut self.devices[usize::from(number)];
        device.console.ping = Some(PingSession {
            to,
            ident: device.life as u16 ^ 0xABCD,
            line,
            seq: 0,
            sent: None,
            began: now,
            next: now,
            received: 0,
            sum_ms: 0,
        });
        String::new()
    }

    /// Takes a reply, gives a request up, sends the next, or ends.
    fn ping_goes_on(&mut self, now: Instant, number: u16) {
        let machine = MachineId(number);
        let (device, origin) = (&mut self.devices[usize::from(number)], self.origin);
        let Some(mut ping) = device.console.ping.take() else { return };
        while let Some(reply) = self.lab.take_echo_reply(machine) {
            let is_it = (reply.ident, reply.seq, reply.from) == (ping.ident, ping.seq, ping.to);
            let Some(sent) = ping.sent.filter(|_| is_it) else { continue };
            let time = (Instant::ZERO + reply.at.since(origin)).since(sent).as_millis() as u64;
            let from = core::net::Ipv4Addr::from(reply.from);
            let text = format!(
                "{} bytes from {from} icmp_seq={} ttl={} time={time} ms\n",
                reply.size, reply.seq, reply.hops
            );
            device.console.print(now, &text);
            (ping.sent, ping.received, ping.sum_ms) = (None, ping.received + 1, ping.sum_ms + time);
        }
        if ping.sent.is_some_and(|it| now >= it + ping.line.timeout) {
            let to = core::net::Ipv4Addr::from(ping.to);
            device.console.print(now, &format!("From {to} icmp_seq={} timeout\n", ping.seq));
            ping.sent = None;
        }
        if ping.sent.is_none() && now >= ping.next {
            if u32::from(ping.seq) >= ping.line.count {
                let text = ping_end(&ping, now);
                device.console.print(now, &text);
                return;
            }
            ping.seq += 1;
            ping.sent = Some(now);
            ping.next = now + ping.line.interval.max(PING_LEAST);
            self.lab.send_echo(machine, ping.to, (ping.ident, ping.seq), ping.line.size);
        }
        let console = &mut self.devices[usize::from(number)].console;
        console.ping = Some(ping);
    }

    /// Returns how strongly the access point of a device arrives at it, in dBm.
    fn rssi(&self, number: u16) -> Option<i8> {
        let station = self.lab.station_of(MachineId(number))?;
        let ap = self.lab.association(MachineId(number))?.ap;
        self.lab.room().rssi(ap, station)
    }
}

/// Returns what a ping says at its end (`cmd_ping_on_ping_end`).
fn ping_end(ping: &PingSession, now: Instant) -> String {
    let (sent, received) = (u32::from(ping.seq), ping.received);
    let loss = (sent - received) * 100 / sent.max(1);
    let to = core::net::Ipv4Addr::from(ping.to);
    let time = now.since(ping.began).as_millis();
    format!(
        "\n--- {to} ping statistics ---\n{sent} packets transmitted, {received} received, {loss}% packet loss, \
         time {time}ms\n"
    )
}
