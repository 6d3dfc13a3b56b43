//! Commands that are typed at the console of a device of a live network, carried out.

use super::console::{
    CommandProblem, ConsoleCommand, DeviceConsole, IperfCommandLine, PING_LEAST, PingLine,
    PingSession, ShownIperf, help, iperf_begins, left_line, version,
};
use super::devices::DeviceStage;
use super::network::LiveNetwork;
use super::typed::IperfCommand;
use crate::lab::wifi::MachineId;
use alloc::format;
use alloc::string::String;
use espbench_model::time::Instant;
use espbench_model::workload::Iperf;
use espbench_proto::node::app::Endpoint;
use espbench_proto::wire::iperf2;

/// Lines that are typed.
impl LiveNetwork<'_> {
    /// Carries out a line.
    pub(super) fn execute(&mut self, now: Instant, number: u16, line: &str) {
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
                self.devices[index].console.iperf = ShownIperf::default();
                format!("I ({}) iperf: iperf exit\n", self.devices[index].ms(now))
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
        left_line(self.devices[usize::from(number)].clock(now), 201)
    }

    /// Returns the address of a host by its name, or as it is written.
    fn host(&self, name: &str) -> Option<[u8; 4]> {
        let known = self.hosts.iter().find(|it| it.name == name).map(|it| it.address);
        known.or_else(|| name.parse::<core::net::Ipv4Addr>().ok().map(|it| it.octets()))
    }

    fn iperf(&mut self, now: Instant, number: u16, line: &IperfCommandLine) -> String {
        let index = usize::from(number);
        if self.devices[index].console.iperf.is_busy() {
            return format!("W ({}) iperf: iperf is running\n", self.devices[index].ms(now));
        }
        if self.devices[index].stage != DeviceStage::Up {
            return format!("E ({}) IPERF: sta has no IP\n", self.devices[index].ms(now));
        }
        let own = self.hosts[index].address;
        let spans = (line.interval, line.time);
        let clock = self.devices[index].clock(now);
        let Some(client) = &line.client else {
            if line.port != iperf2::PORT {
                return format!("E (0) iperf: the lab's devices listen on {}\n", iperf2::PORT);
            }
            self.devices[index].console.iperf.server_until = Some(now + line.time);
            return iperf_begins(clock, line.transport, true, (own, [0; 4], line.port), spans);
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
        let failed = self.failed(number);
        let iperf = &mut self.devices[index].console.iperf;
        (iperf.client, iperf.failed) = (true, failed);
        self.type_iperf(number, now, &command);
        iperf_begins(clock, line.transport, false, (own, to, line.port), spans)
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
    pub(super) fn ping_goes_on(&mut self, now: Instant, number: u16) {
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
