//! A heap that is small, and one that runs out.

use super::super::setup::HeapSetup;
use super::bench::{Bench, ESP, PC, at};
use super::iperf::{total_of, work};
use crate::lab::nodes::Conversation as _;
use core::time::Duration;
use espbench_model::sdkconfig::SdkConfig;
use espbench_model::sdkconfig::memory::driver_peak;
use espbench_model::workload::Transport;
use espbench_proto::node::app::iperf::IperfStyle;
use espbench_proto::node::app::{IperfClient, IperfServer, IperfSetup};
use espbench_proto::wire::iperf2::PORT;
use std::boxed::Box;

fn limits() -> SdkConfig {
    SdkConfig {
        dynamic_rx: 24,
        tx: 24,
        tcp_send_buffer: 24 << 10,
        tcp_window: 24 << 10,
        tcp_mailbox: 32,
        udp_mailbox: 32,
        ..SdkConfig::default()
    }
}

/// Runs a test with so much heap; returns throughput in Mbit/s, and the lab at its end.
fn test(free: u32, transport: Transport, to_device: bool) -> (f64, crate::lab::run::Lab<'static>) {
    let heap = HeapSetup { free, dynamic_rx: 60, tx: 100 };
    let bench = Bench { limits: limits(), heap, ..Bench::default() };
    let mut lab = bench.lab(1);
    let mut work = work(transport);
    let own = IperfSetup::of(&work, IperfStyle::EspIdf);
    work.bandwidth = (transport == Transport::Udp).then_some(80_000_000);
    let its = IperfSetup::of(&work, IperfStyle::Pc);
    let (server, client) = if to_device { (ESP, PC) } else { (PC, ESP) };
    let (served, sent) = if to_device { (own, its) } else { (its, own) };
    lab.start(server, Box::new(IperfServer::<16384>::new(served, PORT)));
    lab.start(client, Box::new(IperfClient::<16384>::new(sent, at(server, PORT))));
    lab.run_till(Duration::from_secs(30), |it| it.is_idle(client)).unwrap();
    lab.run_till(Duration::from_secs(15), |it| it.is_idle(server)).unwrap();
    (total_of(&mut lab, server).unwrap_or(0.0), lab)
}

/// The guide's p bounds what the driver takes, and full buffers come near to it.
#[test]
fn the_observed_peak_stands_beside_the_formula() {
    let p = driver_peak(24, 1638, 24, 1638);
    let one_way = driver_peak(24, 1638, 0, 0);
    for (transport, to_device) in [
        (Transport::Tcp, false),
        (Transport::Tcp, true),
        (Transport::Udp, false),
        (Transport::Udp, true),
    ] {
        let (_, lab) = test(1 << 20, transport, to_device);
        let heap = lab.heap(ESP).expect("an ESP");
        let driver = u64::from(heap.driver_peak);
        assert!(
            driver <= p && heap.driver_peak <= heap.peak,
            "{transport:?} {to_device}: {heap:?}"
        );
        if (transport, to_device) == (Transport::Udp, true) {
            assert!(
                driver > one_way * 9 / 10,
                "a flood fills the receive buffers: {driver} of {one_way}"
            );
        }
        if (transport, to_device) == (Transport::Tcp, false) {
            let kept = u64::from(heap.peak) - driver;
            assert!((20_000..30_000).contains(&kept), "TCP keeps its send buffer beside: {kept}");
        }
        assert!(lab.heap(PC).is_none());
    }
}

/// A packet for which the driver finds no memory is dropped after the radio has acknowledged it,
/// and packets to be sent wait: a small heap is slow, and is never overdrawn.
#[test]
fn a_heap_that_runs_out_drops_and_slows_down() {
    for (transport, to_device) in [
        (Transport::Tcp, false),
        (Transport::Tcp, true),
        (Transport::Udp, false),
        (Transport::Udp, true),
    ] {
        let (much, _) = test(1 << 20, transport, to_device);
        let free = 9_000;
        let (little, lab) = test(free, transport, to_device);
        let heap = lab.heap(ESP).expect("an ESP");
        assert!(heap.peak <= free, "{transport:?} {to_device}: {heap:?}");
        let (drops, ip) = (lab.driver_drops(ESP), lab.ip_counters(ESP));
        match (transport, to_device) {
            (Transport::Tcp, false) => {
                assert!(ip.starved > 0 && little < 0.8 * much, "{little} of {much}, {ip:?}");
            }
            (Transport::Tcp, true) => {
                assert!(drops.heap_rx > 0 && little < 0.8 * much, "{little} of {much}, {drops:?}");
            }
            (Transport::Udp, false) => assert!(ip.no_memory > 0, "ENOMEM: {ip:?}"),
            (Transport::Udp, true) => {
                assert!(drops.heap_rx > 0 && drops.dynamic_rx == 0, "{drops:?}");
            }
        }
    }
}
