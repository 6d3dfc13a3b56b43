//! One saturated TCP stream over Wi-Fi, and how fast it goes:
//! `cargo run --release -p espbench-sim --example tcp_speed [NAME [SECONDS]]`; beside ns-3:
//! `bench/ns3/tcp.sh`.
//!
//! Everything is there: the air with beacons, A-MPDUs and block acknowledgements at 65 Mbit/s, an
//! ESP's tasks with its buffers and mailboxes, a TCP with lwIP's limits, iperf's client and a sink.

#[path = "../../dot11/examples/common/mod.rs"]
mod common;

use common::spent;
use espbench_dot11::air::{RadioLinks, ReceiverConfig};
use espbench_dot11::mac::{AmpduConfig, MacConfig, WirelessMedium};
use espbench_dot11::radio::{BasicRates, Timing};
use espbench_dot11::wifi::{ApConfig, StationConfig, WifiRole, WifiSecurity};
use espbench_model::sdkconfig::SdkConfig;
use espbench_model::time::Duration;
use espbench_model::workload::{Direction, Iperf, Transport};
use espbench_proto::node::app::iperf::IperfStyle;
use espbench_proto::node::app::{Endpoint, IperfClient, IperfSetup, TcpSink};
use espbench_sim::lab::file::Library;
use espbench_sim::lab::nodes::Conversation as _;
use espbench_sim::lab::profile::IpCosts;
use espbench_sim::lab::run::{Lab, LabSetup};
use espbench_sim::lab::scene::Delay;
use espbench_sim::lab::wifi::setup::{HeapSetup, MachineKind, MachinePlace, Wire};
use espbench_sim::lab::wifi::{EspSetup, MachineId, MachineSetup, NetworkSetup, PcSetup};
use espbench_sim::net::Stack;

const ESP: MachineId = MachineId(0);
const PC: MachineId = MachineId(1);
const PORT: u16 = 5001;

/// Case that is measured.
struct Case {
    name: &'static str,
    /// From the ESP to the PC.
    up: bool,
    /// MPDUs that may be on their way without acknowledgement, and octets of an A-MPDU.
    ampdu: (u8, u32),
    limits: SdkConfig,
    /// Without a chip its tasks take no time, and the PC is the access point, as in ns-3.
    chip: Option<&'static str>,
}

/// Buffers that nothing waits for.
fn free(window: u32, tcp_mss: u16) -> SdkConfig {
    SdkConfig {
        static_rx: 64,
        dynamic_rx: 0,
        // A window's worth: lwIP tries again only with the next acknowledgement.
        tx: 1000,
        tcp_send_buffer: window,
        tcp_window: window,
        tcp_mss,
        tcp_mailbox: 1000,
        tcpip_mailbox: 1000,
        ..SdkConfig::default()
    }
}

fn cases() -> Vec<Case> {
    // As large as lwIP's windows get without scaling; and the buffers of ns-3's own examples.
    let (esp, large) = (free(65_535, 1440), free(1 << 20, 1460));
    // The first rank of Espressif's document on the ESP32-C3.
    let rank = SdkConfig {
        static_rx: 20,
        dynamic_rx: 40,
        tx: 40,
        tcp_send_buffer: 40 << 10,
        tcp_window: 40 << 10,
        tcp_mailbox: 32,
        lwip_iram: true,
        ..SdkConfig::default()
    };
    let case = |name, up, ampdu, limits, chip| Case { name, up, ampdu, limits, chip };
    let (most, short, c3) = ((64, 65_535), (64, 8191), (32, 65_535));
    vec![
        case("up, 64 kB windows", true, most, esp, None),
        case("down, 64 kB windows", false, most, esp, None),
        case("up, 1 MB windows", true, most, large, None),
        case("down, 1 MB windows", false, most, large, None),
        case("up, 8 kB A-MPDUs", true, short, esp, None),
        case("down, 8 kB A-MPDUs", false, short, esp, None),
        case("up, ESP32-C3", true, c3, rank, Some("esp32c3")),
        case("down, ESP32-C3", false, c3, rank, Some("esp32c3")),
    ]
}

fn esp(case: &Case) -> MachineSetup {
    let limits =
        SdkConfig { tx_ba_window: case.ampdu.0, rx_ba_window: case.ampdu.0, ..case.limits };
    let profile = case.chip.map(|it| Library::built_in().profile(it).expect("a profile"));
    let costs = profile.as_ref().map_or_else(IpCosts::default, |it| it.costs(&limits));
    MachineSetup {
        place: MachinePlace::Air(1),
        stack: Stack::esp(&limits),
        kind: MachineKind::Esp(Box::new(EspSetup {
            costs,
            cores: profile.map_or(1, |it| it.processor.cores),
            clock_switch_ns: 0,
            limits,
            uart_baud: 0,
            uart_fifo: 0,
            rx_in_place: false,
            in_lwip: false,
            heap: HeapSetup::default(),
            light: None,
        })),
    }
}

fn pc(case: &Case) -> MachineSetup {
    let still = Delay { fixed: Duration::ZERO, random: Duration::ZERO };
    let (place, turn, wire) = match case.chip {
        Some(_) => (MachinePlace::Wire(0), PcSetup::default().turn, Some(Wire::default())),
        None => (MachinePlace::Air(0), still, None),
    };
    let window = case.limits.tcp_window;
    let stack = match case.chip {
        Some(_) => Stack::pc(),
        None => Stack {
            mss: case.limits.tcp_mss,
            tcp_window: window,
            tcp_send_buffer: window,
            ..Stack::pc()
        },
    };
    MachineSetup { place, stack, kind: MachineKind::Pc(PcSetup { turn, wire, queue: 1000 }) }
}

fn lab(case: &Case, seed: u64) -> Lab<'static> {
    let (own, octets) = case.ampdu;
    let settings = |window| MacConfig {
        // Best effort: AIFSN 3, 15 to 1023 slots.
        timing: Timing { aifsn: 3, cw_min: 15, cw_max: 1023, ..Timing::ERP_SHORT_SLOT },
        basic: BasicRates::BG,
        ampdu: Some(AmpduConfig { send: window, receive: window, octets, ..AmpduConfig::MOST }),
        buffers: 1200,
        ..MacConfig::default()
    };
    let links = RadioLinks::uniform(2, -40.0);
    let room = WirelessMedium::new(
        seed,
        links,
        &[ReceiverConfig::default()],
        [settings(64), settings(own)],
    );
    let security = WifiSecurity::Open;
    let roles = vec![
        WifiRole::AccessPoint(ApConfig { security, ..ApConfig::default() }),
        WifiRole::Station(StationConfig { joined: true, security, ..StationConfig::default() }),
    ];
    let machines = vec![esp(case), pc(case)];
    let forward = Duration::ZERO;
    let network = NetworkSetup { roles, machines, forward };
    Lab::of(LabSetup { network, ..LabSetup::new(room) }, seed, ())
}

/// Runs a stream for so long, after a second; prints bits and frames per second.
fn run(case: &Case, seconds: u64) {
    let mut lab = lab(case, 1);
    let work = Iperf {
        transport: Transport::Tcp,
        direction: Direction::Forward,
        time: Duration::from_secs(seconds + 10),
        bytes: None,
        interval: Duration::from_secs(1),
        length: 0,
        bandwidth: None,
        parallel: 1,
        window: None,
        no_delay: false,
        ..Iperf::DEFAULT
    };
    let (sink, source) = if case.up { (PC, ESP) } else { (ESP, PC) };
    let to = Endpoint::new([10, 0, 0, sink.0 as u8 + 1], PORT);
    let client = IperfClient::<16384>::new(IperfSetup::of(&work, IperfStyle::EspIdf), to);
    lab.start(sink, Box::new(TcpSink::<16384>::new(PORT)));
    lab.start(source, Box::new(client));
    lab.run_for(Duration::from_secs(1)).expect("no node is in a livelock");
    lab.take_told(sink);
    let packets = |lab: &Lab<'_>| lab.ip_counters(ESP).sent + lab.ip_counters(PC).sent;
    let before = packets(&lab);
    let start = std::time::Instant::now();
    let from = spent(start);
    lab.run_for(Duration::from_secs(seconds)).expect("no node is in a livelock");
    let took = spent(start) - from;
    let packets = packets(&lab) - before;
    let bytes = lab.take_told(sink).counts.get("sink-bytes").copied().unwrap_or_default();
    println!(
        "{:20}{:8.1} x real time {:8.2} Mbit/s {packets:9} packets {:6.2} us a packet",
        case.name,
        seconds as f64 / took,
        bytes as f64 * 8e-6 / seconds as f64,
        took * 1e6 / packets as f64,
    );
}

fn main() {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_default();
    let seconds = args.next().and_then(|it| it.parse().ok()).unwrap_or(60);
    cases().iter().filter(|it| it.name.contains(&name)).for_each(|it| run(it, seconds));
}
