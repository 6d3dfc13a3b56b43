//! Stations at one access point, each with a stream of its own to or from a PC behind it, and how the
//! time grows: `cargo run --release -p espbench-sim --example wifi_crowd [NAME [SECONDS]]`.
//!
//! All hear all. UDP is offered at 20 Mbit/s in all, TCP as much as goes. Every frame costs for each
//! hearer, every packet once.

#[path = "../../dot11/examples/common/mod.rs"]
mod common;

use common::spent;
use espbench_dot11::air::{RadioLinks, ReceiverConfig};
use espbench_dot11::mac::{AmpduConfig, MacConfig, WirelessMedium};
use espbench_dot11::radio::{BasicRates, Timing};
use espbench_dot11::wifi::{ApConfig, StationConfig, WifiRole, WifiSecurity};
use espbench_model::sdkconfig::SdkConfig;
use espbench_model::time::{Duration, Instant};
use espbench_proto::node::app::{App, Endpoint, SocketId, Sockets, TcpSink, Wait};
use espbench_sim::lab::file::Library;
use espbench_sim::lab::nodes::Conversation as _;
use espbench_sim::lab::run::{Lab, LabSetup};
use espbench_sim::lab::wifi::setup::{HeapSetup, MachineKind, MachinePlace};
use espbench_sim::lab::wifi::{EspSetup, MachineId, MachineSetup, NetworkSetup, PcSetup};
use espbench_sim::net::Stack;

/// Sends datagrams, one each so often.
struct Source {
    to: Endpoint,
    every: Duration,
    next: Instant,
    socket: Option<SocketId>,
}

impl App for Source {
    fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        let Some(socket) = self.socket else {
            self.socket = sockets.udp_bind(0).ok();
            return Wait::Again;
        };
        if now < self.next {
            return Wait::Until(self.next);
        }
        self.next = self.next + self.every;
        // Without room it is lost, as in iperf.
        let _ = sockets.udp_send(socket, self.to, &[7; 1470]);
        Wait::Again
    }
}

/// Counts what comes.
struct Sink {
    port: u16,
    socket: Option<SocketId>,
}

impl App for Sink {
    fn poll(&mut self, _: Instant, sockets: &mut dyn Sockets) -> Wait {
        let Some(socket) = self.socket else {
            self.socket = sockets.udp_bind(self.port).ok();
            return Wait::Again;
        };
        match sockets.udp_receive(socket, &mut [0; 1500]) {
            Some(datagram) => {
                sockets.count("sink-bytes", datagram.len as u64);
                Wait::Again
            }
            None => Wait::Change,
        }
    }
}

/// Writes as much as goes.
struct Writer {
    to: Endpoint,
    socket: Option<SocketId>,
}

impl App for Writer {
    fn poll(&mut self, _: Instant, sockets: &mut dyn Sockets) -> Wait {
        let Some(socket) = self.socket else {
            self.socket = sockets.tcp_connect(self.to).ok();
            return Wait::Again;
        };
        match sockets.tcp_send(socket, &[7; 4096]) {
            Ok(1..) => Wait::Again,
            _ => Wait::Change,
        }
    }
}

fn lab(stations: u16) -> Lab<'static> {
    let profile = Library::built_in().profile("esp32c3").expect("a profile");
    let limits = SdkConfig {
        static_rx: 20,
        dynamic_rx: 40,
        tx: 40,
        tx_ba_window: 16,
        rx_ba_window: 16,
        tcp_send_buffer: 16 << 10,
        tcp_window: 16 << 10,
        tcp_mailbox: 32,
        udp_mailbox: 32,
        ..SdkConfig::default()
    };
    let settings = |receive, buffers| MacConfig {
        timing: Timing { aifsn: 3, cw_min: 15, cw_max: 1023, ..Timing::ERP_SHORT_SLOT },
        basic: BasicRates::BG,
        ampdu: Some(AmpduConfig { receive, ..AmpduConfig::MOST }),
        buffers,
        ..MacConfig::default()
    };
    let all = || 0..u32::from(stations);
    let macs = all().map(|_| settings(limits.rx_ba_window, usize::from(limits.tx) + 8));
    let macs: Vec<_> = core::iter::once(settings(64, 1000)).chain(macs).collect();
    let links = RadioLinks::uniform(u32::from(stations) + 1, -50.0);
    let room = WirelessMedium::new(1, links, &[ReceiverConfig::default()], macs);
    let security = WifiSecurity::Wpa2;
    let station = StationConfig { joined: true, security, ..StationConfig::default() };
    let ap = ApConfig { security, ..ApConfig::default() };
    let roles = core::iter::once(WifiRole::AccessPoint(ap));
    let roles = roles.chain(all().map(|_| WifiRole::Station(station.clone()))).collect();
    let esp = |station| MachineSetup {
        place: MachinePlace::Air(station + 1),
        stack: Stack::esp(&limits),
        kind: MachineKind::Esp(Box::new(EspSetup {
            costs: profile.costs(&SdkConfig { lwip_iram: true, ..limits }),
            cores: 1,
            clock_switch_ns: 0,
            limits,
            uart_baud: 0,
            uart_fifo: 0,
            rx_in_place: false,
            in_lwip: false,
            heap: HeapSetup::default(),
            light: None,
        })),
    };
    let pc = MachineSetup {
        place: MachinePlace::Wire(0),
        stack: Stack::pc(),
        kind: MachineKind::Pc(PcSetup::default()),
    };
    let machines = all().map(esp).chain([pc]).collect();
    let (forward, others) = (Duration::ZERO, (u32::from(stations) + 1, Vec::new()));
    let network = NetworkSetup { roles, machines, forward };
    Lab::of(LabSetup { network, background: others, ..LabSetup::new(room) }, 1, ())
}

/// Runs so many stations for so long, after a second.
fn run(tcp: bool, up: bool, stations: u16, seconds: u64) {
    let mut lab = lab(stations);
    let pc = MachineId(stations);
    let every = Duration::from_nanos(1470 * 8 * 1000 / 20 * u64::from(stations));
    for number in 0..stations {
        let esp = MachineId(number);
        let (source, sink, port) = if up { (esp, pc, 5001 + number) } else { (pc, esp, 5001) };
        let [_, _, high, low] = u32::from(sink.0 + 1).to_be_bytes();
        let to = Endpoint::new([10, 0, high, low], port);
        let start = lab.now() + every / u32::from(stations) * u32::from(number);
        if tcp {
            lab.start(sink, Box::new(TcpSink::<4096, 1>::new(port)));
            lab.start(source, Box::new(Writer { to, socket: None }));
        } else {
            lab.start(sink, Box::new(Sink { port, socket: None }));
            lab.start(source, Box::new(Source { to, every, next: start, socket: None }));
        }
    }
    lab.run_for(Duration::from_secs(1)).expect("no node is in a livelock");
    let bytes = |lab: &mut Lab<'_>| -> u64 {
        let of = |it| lab.take_told(MachineId(it)).counts.get("sink-bytes").copied();
        (0..=stations).filter_map(of).sum()
    };
    let packets = |lab: &Lab<'_>| -> u64 {
        (0..=stations).map(|it| lab.ip_counters(MachineId(it)).sent).sum()
    };
    bytes(&mut lab);
    let before = packets(&lab);
    let start = std::time::Instant::now();
    let from = spent(start);
    lab.run_for(Duration::from_secs(seconds)).expect("no node is in a livelock");
    let took = spent(start) - from;
    let (bytes, packets) = (bytes(&mut lab), packets(&lab) - before);
    println!(
        "{:4}{:5}{stations:9}{:12.1}{:10.1}{packets:10}{:14.2}",
        if tcp { "TCP" } else { "UDP" },
        if up { "up" } else { "down" },
        seconds as f64 / took,
        bytes as f64 * 8e-6 / seconds as f64,
        took * 1e6 / packets as f64,
    );
}

fn main() {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_default().to_lowercase();
    let seconds = args.next().and_then(|it| it.parse().ok()).unwrap_or(10);
    println!("         stations x real time    Mbit/s   packets   us a packet");
    for (tcp, up) in [(false, true), (false, false), (true, true), (true, false)] {
        let it = format!("{} {}", if tcp { "tcp" } else { "udp" }, if up { "up" } else { "down" });
        if it.contains(&name) {
            [1, 3, 10, 30, 100].into_iter().for_each(|n| run(tcp, up, n, seconds));
        }
    }
}
