//! Buffers, mailboxes and queues that are full.

use super::super::PcSetup;
use super::KeptRecord;
use super::bench::{Bench, ESP, PC, at};
use crate::lab::file::Library;
use crate::lab::nodes::Conversation as _;
use crate::lab::suite;
use core::time::Duration;
use espbench_model::sample::{Cause, Fate, Sample};
use espbench_model::time::Instant;
use espbench_model::workload::{EchoFormat, IpTest, Name, TcpRate, UdpEcho, Wifi, Workload};
use espbench_proto::node::app::{TcpSender, TcpSink};
use std::boxed::Box;
use std::sync::Arc;

const RATE: TcpRate = TcpRate {
    runs: 1,
    discard: 0,
    run_time: Duration::from_millis(100),
    size: 100,
    no_delay: false,
};
const ECHO: UdpEcho = UdpEcho {
    size: 64,
    count: 5,
    discard: 0,
    format: EchoFormat::Binary,
    in_flight: 1,
    interval: None,
    timeout: Duration::from_secs(1),
};

fn echoes(test: UdpEcho) -> Wifi {
    Wifi::new(Name::new("ps-none").unwrap(), IpTest::UdpEcho(test))
}

#[test]
fn what_waited_for_a_place_in_a_pcs_driver_goes_on_when_its_radio_refuses() {
    // It has one place, and no network yet: the first SYN has it, and the radio does not take it.
    let pc = PcSetup { queue: 1, ..PcSetup::default() };
    let bench = Bench { soft_ap: true, joined: false, pc, ..Bench::default() };
    let mut lab = bench.lab(1);
    for port in [3333, 3334] {
        lab.start(ESP, Box::new(<TcpSink>::new(port)));
        lab.start(PC, Box::new(<TcpSender>::new(RATE, at(ESP, port), None)));
    }
    lab.run_for(Duration::from_millis(1)).unwrap();
    assert_eq!(lab.driver_drops(PC).not_sent, 2, "the second SYN is tried, too");
    assert_eq!(lab.lost_after(Instant::ZERO), Some(Cause::Disconnected));
    assert!(lab.run_till(Duration::from_secs(20), |it| it.is_idle(PC)).unwrap(), "it ends");
    let told = lab.take_told(PC);
    let runs = told.samples.iter().filter(|it| matches!(it, Sample::Interval(it) if it.bytes > 0));
    assert_eq!((runs.count(), told.counts.get("failed")), (4, None));
}

#[test]
fn what_a_router_has_no_room_for_is_counted_and_told_as_that() {
    let mut scene = Library::built_in().variant_scene("power-save", "ps-none").unwrap();
    scene.access_points[0].queue = 2;
    let work = echoes(UdpEcho { size: 1000, count: 32, in_flight: 32, ..ECHO });
    let mut kept = KeptRecord::default();
    suite::run_in(&Workload::Wifi(work), &scene, 1, &mut (), &mut kept).unwrap();
    let lost =
        |it: &&Sample| matches!(it, Sample::Probe(it) if it.fate == Fate::Lost(Cause::NoBuffers));
    let lost = kept.samples.iter().filter(lost).count() as u64;
    assert!((1..32).contains(&lost), "{lost}");
    assert_eq!(kept.counters.get("router-refused"), Some(&lost));
}

#[test]
fn what_the_heap_has_no_room_for_is_counted() {
    let library = Library::built_in();
    let mut scene = library.variant_scene("power-save", "ps-none").unwrap();
    let sdk = scene.devices[0].sdk;
    let memory = &mut Arc::make_mut(&mut scene.devices[0].profile).memory;
    // Wi-Fi starts, and the program has its socket.
    memory.heap_bytes = memory.fixed(&sdk) + memory.socket_bytes + 50;
    let interval = Some(Duration::from_millis(100));
    let work = echoes(UdpEcho { interval, timeout: Duration::from_millis(50), ..ECHO });
    let mut kept = KeptRecord::default();
    suite::run_in(&Workload::Wifi(work), &scene, 1, &mut (), &mut kept).unwrap();
    assert_eq!(kept.counters.get("heap-peak"), Some(&400));
    assert_eq!(kept.counters.get("rx-heap-full"), Some(&5), "{:?}", kept.counters);
    let lost = |it: &Sample| matches!(it, Sample::Probe(it) if it.fate == Fate::Lost(Cause::ReceiveBuffers));
    assert!(kept.samples.len() == 5 && kept.samples.iter().all(lost), "{:?}", kept.samples);
}

#[test]
fn wifi_that_does_not_start_for_want_of_heap_says_what_to_set() {
    let library = Library::built_in();
    let mut scene = library.variant_scene("power-save", "ps-none").unwrap();
    let sdk = scene.devices[0].sdk;
    let memory = &mut Arc::make_mut(&mut scene.devices[0].profile).memory;
    memory.heap_bytes = memory.fixed(&sdk);
    let work = Wifi::new(Name::new("ps-none").unwrap(), IpTest::TcpRate(RATE));
    let mut kept = KeptRecord::default();
    let failed = std::format!(
        "{}",
        suite::run_in(&Workload::Wifi(work), &scene, 1, &mut (), &mut kept).unwrap_err()
    );
    assert!(failed.contains("esp_wifi_init() fails with ESP_ERR_NO_MEM: 10 static RX"), "{failed}");
    assert!(failed.contains("set fewer") && kept.samples.is_empty(), "{failed}");
}
