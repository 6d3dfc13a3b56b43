//! One test of a firmware, and what it took of heap and battery: what `espbench tune` asks of the lab.
//!
//! The procedures are short: a search makes many of them, and compares.

use super::machine::address;
use super::{MachineId, World};
use crate::lab::net_scene::NetScene;
use crate::power::{Charge, Draw, Firmware};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_proto::node::app::iperf::Style;
use espbench_proto::node::app::{Echo, EchoProbe, Endpoint, IperfClient, IperfServer, IperfSetup};
use espbench_proto::sample::Sample;
use espbench_proto::wire::iperf2;
use espbench_proto::workload::{Iperf, UdpEcho};

/// The port of the echo service.
const ECHO: u16 = 10_000;
/// How long the network is left alone before a test begins.
const SETTLE: Duration = Duration::from_millis(300);
/// How long what was sent last may take.
const DRAIN: Duration = Duration::from_millis(500);

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Task {
    /// The device sends.
    Sends(Iperf),
    /// The device receives.
    Receives(Iperf),
    /// The device echoes.
    Echoes(UdpEcho),
    /// The device sends messages, to which the PC answers.
    Asks(UdpEcho),
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Ran {
    /// What the receiving end, or the one that asks, has recorded.
    pub samples: Vec<Sample>,
    /// The least free heap that the device had, bytes; negative where there was less than it took.
    pub free_heap: i64,
    /// What the device drew while the test went on.
    pub charge: Charge,
    /// For how long.
    pub time: Duration,
}

/// Does a task with the first device of a scene, and the PC.
///
/// `None` for a scene without a device.
#[must_use]
pub fn run(scene: &NetScene, task: &Task, seed: u64) -> Option<Ran> {
    let first = scene.devices.first()?;
    let (device, pc) = (MachineId(0), MachineId(scene.devices.len() as u16));
    let mut world = scene.world(seed);
    world.run_for(SETTLE);
    let (from, begin) = (world.now(), world.times(device)?);
    let observer = match task {
        Task::Sends(work) => iperf(&mut world, work, device, pc),
        Task::Receives(work) => iperf(&mut world, work, pc, device),
        Task::Echoes(work) => echo(&mut world, work, seed, pc, device),
        Task::Asks(work) => echo(&mut world, work, seed, device, pc),
    };
    let time = Duration::from_nanos(world.now().as_nanos().saturating_sub(from.as_nanos()));
    let spent = world.times(device)?.since(&begin);
    let profile = &first.profile;
    let firmware = Firmware {
        clock_mhz: profile.processor.clock_mhz,
        width: first.width,
        power_dbm: [first.power_dbm; 3],
    };
    let taken = world.heap_peak(device).unwrap_or(0);
    Some(Ran {
        samples: world.take_samples(observer),
        free_heap: heap(scene) - i64::from(taken),
        charge: Draw::new(&profile.currents, &firmware).charge(&spent),
        time,
    })
}

/// The heap of a scene's first device once Wi-Fi has started, without traffic.
fn heap(scene: &NetScene) -> i64 {
    let Some(first) = scene.devices.first() else { return 0 };
    let (memory, sdk) = (&first.profile.memory, &first.sdk);
    let code = [
        (sdk.wifi_iram, memory.wifi_iram_bytes),
        (sdk.wifi_rx_iram, memory.wifi_rx_iram_bytes),
        (sdk.lwip_iram, memory.lwip_iram_bytes),
    ];
    let code: i64 = code.iter().filter(|it| it.0).map(|it| i64::from(it.1)).sum();
    let buffers = i64::from(sdk.static_rx) * i64::from(memory.static_rx_bytes);
    i64::from(memory.heap_bytes) - code - buffers
}

/// iperf from one machine to the other; the one that receives.
fn iperf(world: &mut World<'_>, work: &Iperf, from: MachineId, to: MachineId) -> MachineId {
    let style = |machine: MachineId| if machine.0 == 0 { Style::EspIdf } else { Style::Pc };
    let server = IperfServer::<16384>::new(IperfSetup::of(work, style(to)), iperf2::PORT);
    world.start(to, Box::new(server));
    for _ in 0..work.parallel.max(1) {
        let to = Endpoint::new(address(to.0.into()), iperf2::PORT);
        let client = IperfClient::<16384>::new(IperfSetup::of(work, style(from)), to);
        world.start(from, Box::new(client));
    }
    world.run_for(work.time + DRAIN);
    to
}

/// Round trips from one machine to the other; the one that asks.
fn echo(
    world: &mut World<'_>,
    work: &UdpEcho,
    seed: u64,
    from: MachineId,
    to: MachineId,
) -> MachineId {
    world.start(to, Box::new(Echo::<1472>::new(ECHO)));
    let to = Endpoint::new(address(to.0.into()), ECHO);
    let probe = EchoProbe::<1472>::new(*work, seed as u32, ECHO + 1, to);
    world.start(from, Box::new(probe));
    let each = work.interval.unwrap_or_default().max(work.timeout);
    let most = each * (work.count + work.discard) + work.timeout + DRAIN;
    world.run_till(most, |it| it.is_idle(from));
    from
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::file::Library;
    use crate::wifi::Sleep;
    use espbench_proto::sample::Fate;
    use espbench_proto::workload::{Direction, EchoFormat, Transport};

    fn scene() -> NetScene {
        Library::built_in().net_scene("shield-box", "rank-default").expect("a built-in lab")
    }

    fn work(transport: Transport) -> Iperf {
        Iperf {
            transport,
            direction: Direction::Forward,
            time: Duration::from_millis(700),
            bytes: None,
            interval: Duration::from_millis(100),
            length: 0,
            bandwidth: (transport == Transport::Udp).then_some(30_000_000),
            parallel: 1,
            window: None,
            no_delay: false,
        }
    }

    fn probes(interval_ms: u64, count: u32) -> UdpEcho {
        UdpEcho {
            size: 100,
            count,
            discard: 0,
            format: EchoFormat::Binary,
            in_flight: 8,
            interval: Some(Duration::from_millis(interval_ms)),
            timeout: Duration::from_secs(1),
        }
    }

    fn bytes(ran: &Ran) -> u64 {
        let of = |it: &Sample| match it {
            Sample::Interval(it) if !it.total => it.bytes,
            _ => 0,
        };
        ran.samples.iter().map(of).sum()
    }

    #[test]
    fn data_goes_either_way_and_takes_heap() {
        let scene = scene();
        for transport in [Transport::Tcp, Transport::Udp] {
            for task in [Task::Sends(work(transport)), Task::Receives(work(transport))] {
                let ran = run(&scene, &task, 1).unwrap();
                assert!(bytes(&ran) > 300_000, "{task:?}: {} bytes", bytes(&ran));
                assert!(
                    ran.free_heap < heap(&scene) && ran.free_heap > 50_000,
                    "{}",
                    ran.free_heap
                );
            }
        }
    }

    #[test]
    fn a_small_send_buffer_holds_tcp_back_and_leaves_heap() {
        let mut small = scene();
        small.devices[0].sdk.tcp_send_buffer = 2880;
        let task = Task::Sends(work(Transport::Tcp));
        let (with, without) = (run(&scene(), &task, 1).unwrap(), run(&small, &task, 1).unwrap());
        assert!(bytes(&with) > 2 * bytes(&without));
        assert!(with.free_heap < without.free_heap);
    }

    #[test]
    fn sleep_costs_latency_and_spares_charge() {
        let mut asleep = scene();
        asleep.devices[0].sleep = Sleep::MinModem;
        let task = Task::Echoes(probes(213, 20));
        let (awake, asleep) = (run(&scene(), &task, 1).unwrap(), run(&asleep, &task, 1).unwrap());
        let mean = |ran: &Ran| {
            let trip = |it: &Sample| match it {
                Sample::Probe(it) if it.fate == Fate::Delivered => {
                    Some(it.received?.as_nanos() - it.sent?.as_nanos())
                }
                _ => None,
            };
            let trips: Vec<u64> = ran.samples.iter().filter_map(trip).collect();
            trips.iter().sum::<u64>() / trips.len() as u64
        };
        assert!(mean(&asleep) > 5 * mean(&awake), "{} {}", mean(&asleep), mean(&awake));
        let current = |ran: &Ran| ran.charge.mean_na(ran.time.as_nanos() as u64).unwrap();
        assert!(current(&awake) > 3 * current(&asleep) / 2);
    }

    #[test]
    fn the_device_asks_as_well() {
        let ran = run(&scene(), &Task::Asks(probes(500, 4)), 1).unwrap();
        assert_eq!(ran.samples.len(), 4);
        assert!(ran.time >= Duration::from_millis(1500));
    }
}
