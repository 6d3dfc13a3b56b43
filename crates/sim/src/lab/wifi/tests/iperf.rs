//! iperf 2 between an ESP32-C3 and a PC.

use super::super::MachineId;
use super::bench::{Bench, ESP, PC, at};
use crate::lab::file::Library;
use crate::lab::nodes::Conversation as _;
use crate::lab::run::Lab;
use core::time::Duration;
use espbench_model::sample::Sample;
use espbench_model::sdkconfig::SdkConfig;
use espbench_model::workload::{Direction, Iperf, Transport};
use espbench_proto::node::app::iperf::IperfStyle;
use espbench_proto::node::app::{IperfClient, IperfServer, IperfSetup};
use espbench_proto::wire::iperf2::PORT;
use std::boxed::Box;

/// Returns the settings of a rank of Espressif's document.
fn rank(static_rx: u16, dynamic: u16, window: u8, kb: u32, lwip_iram: bool) -> SdkConfig {
    SdkConfig {
        static_rx,
        dynamic_rx: dynamic,
        tx: dynamic,
        tx_ba_window: window,
        rx_ba_window: window,
        tcp_send_buffer: kb << 10,
        tcp_window: kb << 10,
        tcp_mailbox: 32,
        udp_mailbox: 32,
        lwip_iram,
        ..SdkConfig::default()
    }
}

pub(super) fn work(transport: Transport) -> Iperf {
    Iperf {
        transport,
        direction: Direction::Forward,
        time: Duration::from_secs(3),
        bytes: None,
        interval: Duration::from_secs(1),
        length: 0,
        bandwidth: None,
        parallel: 1,
        window: None,
        no_delay: false,
        ..Iperf::DEFAULT
    }
}

/// Returns the rate at the receiver in Mbit/s.
fn throughput(bench: &Bench, transport: Transport, to_device: bool) -> f64 {
    let mut lab = bench.lab(1);
    let mut work = work(transport);
    let own = IperfSetup::of(&work, IperfStyle::EspIdf);
    work.bandwidth = (transport == Transport::Udp).then_some(60_000_000);
    let its = IperfSetup::of(&work, IperfStyle::Pc);
    let (server, client) = if to_device { (ESP, PC) } else { (PC, ESP) };
    let (served, sent) = if to_device { (own, its) } else { (its, own) };
    lab.start(server, Box::new(IperfServer::<16384>::new(served, PORT)));
    lab.start(client, Box::new(IperfClient::<16384>::new(sent, at(server, PORT))));
    assert!(lab.run_till(Duration::from_secs(30), |it| it.is_idle(client)).unwrap(), "it ends");
    lab.run_till(Duration::from_secs(15), |it| it.is_idle(server)).unwrap();
    total(&mut lab, server)
}

fn total(lab: &mut Lab<'_>, machine: MachineId) -> f64 {
    total_of(lab, machine).expect("a total")
}

/// Returns the rate that a server printed at its end, in Mbit/s.
pub(super) fn total_of(lab: &mut Lab<'_>, machine: MachineId) -> Option<f64> {
    let told = lab.take_told(machine);
    let total = told.samples.iter().rev().find_map(|it| match it {
        Sample::Interval(it) if it.total => Some(*it),
        _ => None,
    });
    let it = total?;
    let time = it.end.as_nanos() - it.start.as_nanos();
    Some(it.bytes as f64 * 8e3 / time as f64)
}

#[test]
fn more_buffers_and_wider_windows_carry_more() {
    let ranks = [rank(3, 6, 6, 6, false), rank(8, 16, 16, 16, true), rank(20, 40, 32, 40, true)];
    for to_device in [false, true] {
        let carried = ranks.map(|limits| {
            throughput(&Bench { limits, ..Bench::default() }, Transport::Tcp, to_device)
        });
        // HT20 and MCS 7 are 65 Mbit/s. Without a router's delay the middle one is near the most that the
        // processor carries.
        let [minimum, default, iperf] = carried;
        assert!(minimum * 1.3 < default && default < iperf && iperf < 65.0, "{carried:?}");
    }
    let [minimum, _, iperf] = ranks
        .map(|limits| throughput(&Bench { limits, ..Bench::default() }, Transport::Udp, false));
    assert!(minimum < iperf && iperf < 65.0, "{minimum} {iperf}");
}

/// With two cores the driver's task has one of them, and lwIP's the program's: what those two take for a
/// datagram bounds UDP, and what the driver takes does not.
#[test]
fn a_second_core_is_the_drivers() {
    let limits = SdkConfig { udp_mailbox: 64, dynamic_rx: 32, ..rank(16, 32, 32, 64, false) };
    let bench = Bench { limits, profile: "esp32", ..Bench::default() };
    let carried = throughput(&bench, Transport::Udp, true);
    let costs = Library::built_in().profile("esp32").unwrap().costs(&limits);
    let (driver, stack) = (costs.wifi_receive.ns(1556), costs.udp_receive.ns(1498));
    let program = costs.socket_receive.ns(1470) + costs.copy.ns(1470);
    let at_most = |ns: u64| 1470.0 * 8e3 / ns as f64;
    let bound = at_most(stack + program);
    assert!((0.9..1.05).contains(&(carried / bound)), "{carried} of {bound}");
    assert!(carried > 1.1 * at_most(driver + stack + program), "{carried}");
}

/// Few buffers that lwIP gives back late hold the sender up, and nothing that was acknowledged is
/// thrown away; where frames are copied first, they come, are acknowledged, and are dropped.
#[test]
fn a_flood_does_not_drown_who_receives_in_place() {
    let few = SdkConfig { static_rx: 5, dynamic_rx: 8, udp_mailbox: 64, ..SdkConfig::default() };
    let at = |rx_in_place, mbit: u64| {
        let bench =
            Bench { limits: few, profile: "esp8266-sdk22", rx_in_place, ..Bench::default() };
        let mut lab = bench.lab(1);
        let mut work = work(Transport::Udp);
        let served = IperfSetup::of(&work, IperfStyle::EspIdf);
        work.bandwidth = Some(mbit * 1_000_000);
        let sent = IperfSetup::of(&work, IperfStyle::Pc);
        lab.start(ESP, Box::new(IperfServer::<16384>::new(served, PORT)));
        lab.start(PC, Box::new(IperfClient::<16384>::new(sent, at(ESP, PORT))));
        assert!(lab.run_till(Duration::from_secs(30), |it| it.is_idle(PC)).unwrap(), "it ends");
        lab.run_till(Duration::from_secs(15), |it| it.is_idle(ESP)).unwrap();
        (total(&mut lab, ESP), lab.driver_drops(ESP))
    };
    let ((calm, _), (flood, drops)) = (at(true, 14), at(true, 40));
    assert!(flood > 0.95 * calm, "{flood} of 40 Mbit/s, {calm} of 14");
    assert!(drops.static_rx > 0 && drops.dynamic_rx == 0, "{drops:?}");
    let (copied, drops) = at(false, 40);
    assert!(drops.dynamic_rx > 0 && copied < flood, "{copied}, {drops:?}");
}
