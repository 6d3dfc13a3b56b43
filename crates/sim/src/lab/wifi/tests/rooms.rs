//! Rooms with several routers and many devices.

use super::super::MachineId;
use super::KeptRecord;
use super::bench::at;
use crate::lab::file::Library;
use crate::lab::nodes::Conversation as _;
use crate::lab::run::Lab;
use crate::lab::scene::{Application, Scene};
use crate::lab::suite;
use core::time::Duration;
use espbench_model::sample::{Fate, Observer, Probe, Sample};
use espbench_model::workload::{
    Direction, EchoFormat, IpTest, Iperf, Name, Transport, UdpEcho, Wifi, Workload,
};
use espbench_proto::node::app::{EchoProbe, EchoServer};
use std::boxed::Box;
use std::collections::BTreeSet;
use std::string::ToString;
use std::vec::Vec;

const ECHO: UdpEcho = UdpEcho {
    size: 64,
    count: 4,
    discard: 0,
    format: EchoFormat::Binary,
    in_flight: 8,
    interval: Some(Duration::from_millis(250)),
    timeout: Duration::from_secs(1),
};

fn scene(variant: &str) -> Scene {
    Library::built_in().variant_scene("forty-stations", variant).unwrap()
}

fn ran(scene: &Scene, test: IpTest) -> KeptRecord {
    let mut kept = KeptRecord::default();
    let work = Wifi::new(Name::new(&scene.variant).unwrap(), test);
    suite::run_in(&Workload::Wifi(work), scene, 1, &mut (), &mut kept).unwrap();
    kept
}

fn probes(kept: &KeptRecord) -> Vec<Probe> {
    let probe = |it: &Sample| match it {
        Sample::Probe(it) => Some(*it),
        _ => None,
    };
    kept.samples.iter().filter_map(probe).collect()
}

/// Returns the rate at the PC from all devices, in bits per second.
pub(super) fn received_bits(scene: &Scene) -> f64 {
    let time = Duration::from_secs(2);
    let (transport, direction) = (Transport::Tcp, Direction::Reverse);
    let kept = ran(scene, IpTest::Iperf(Iperf { transport, direction, time, ..Iperf::DEFAULT }));
    let bytes = |it: &Sample| match it {
        Sample::Interval(it) if !it.total && it.observer == Observer::Receiver => it.bytes,
        _ => 0,
    };
    kept.samples.iter().map(bytes).sum::<u64>() as f64 * 8.0 / time.as_secs_f64()
}

#[test]
fn each_station_is_with_the_router_that_it_hears_best_and_on_its_channel() {
    let scene = scene("40-on-3-channels");
    let networks = scene.networks(1);
    let lab = Lab::new(&scene, 1, ());
    let mut taken = BTreeSet::new();
    for (number, network) in networks.iter().enumerate() {
        let (ap, station) = (u32::from(network.unwrap()), 3 + number as u32);
        let arrives = |ap: u32| scene.arriving_dbm(1, ap, station);
        assert!((0..3).all(|other| arrives(other) <= arrives(ap)), "station {station}");
        assert_eq!(lab.wifi().ap_of(station), Some(ap));
        assert_eq!(lab.room().channel(station), [1, 6, 11][ap as usize]);
        taken.insert(ap);
    }
    assert_eq!((networks.len(), taken.len()), (40, 3));
}

#[test]
fn a_device_stays_with_the_router_that_its_file_names() {
    let mut scene = scene("40-on-3-channels");
    scene.devices.iter_mut().for_each(|it| it.access_point = Some(2));
    assert!(scene.networks(1).iter().all(|it| *it == Some(2)));
    let lab = Lab::new(&scene, 1, ());
    assert!((3..43).all(|it| lab.wifi().ap_of(it) == Some(2)));
}

#[test]
fn forty_devices_are_measured_at_once_each_on_a_link_of_its_own() {
    let kept = ran(&scene("40-on-3-channels"), IpTest::UdpEcho(ECHO));
    let probes = probes(&kept);
    let links: BTreeSet<u16> = probes.iter().map(|it| it.link.0).collect();
    assert_eq!((probes.len(), links.len()), (160, 40));
    let delivered = probes.iter().filter(|it| it.fate == Fate::Delivered).count();
    assert!(delivered >= 155, "{delivered}");
    assert_eq!(kept.facts.get("devices").map(|it| it.as_str()), Some("40"));
}

#[test]
fn three_channels_carry_what_three_routers_on_one_channel_do_not() {
    let [one, same, three] = ["40-on-1-router", "40-on-3-routers-1-channel", "40-on-3-channels"]
        .map(|variant| received_bits(&scene(variant)));
    assert!(three > 2.0 * one && three > 2.0 * same, "{one} {same} {three}");
}

#[test]
fn stations_of_two_routers_reach_each_other_over_the_lan() {
    let scene = scene("40-on-3-channels");
    let networks = scene.networks(1);
    let of = |ap: u16| networks.iter().position(|it| *it == Some(ap)).unwrap() as u16;
    for (from, to) in [(0, 1), (2, 0), (1, 1)] {
        let (asks, answers) = (MachineId(of(from)), MachineId(39 - of(to)));
        let mut lab = Lab::new(&scene, 1, ());
        lab.start_beside(answers, Box::new(EchoServer::<1472>::new(7)));
        lab.start(asks, Box::new(EchoProbe::<1472>::new(ECHO, 1, 0, at(answers, 7))));
        assert!(lab.run_till(Duration::from_secs(10), |it| it.is_idle(asks)).unwrap());
        let samples = lab.take_program_samples(asks);
        let came = |it: &&Sample| matches!(it, Sample::Probe(it) if it.fate == Fate::Delivered);
        assert_eq!(samples.iter().filter(came).count(), 4, "{from} to {to}");
    }
}

#[test]
fn devices_that_are_not_measured_work_and_are_counted_by_group() {
    let scene = scene("one-beside-39");
    let work = |it: &Application| scene.devices.iter().filter(|d| d.application == *it).count();
    assert_eq!((scene.measured, work(&Application::None), work(&Application::Upload)), (1, 1, 3));
    let busy = ran(&scene, IpTest::UdpEcho(UdpEcho { count: 20, ..ECHO }));
    assert_eq!(probes(&busy).len(), 20);
    let count = |name: &str| busy.counters.get(name).copied().unwrap_or(0);
    // 36 sensors, two reports a second each, for some five seconds; the last are under way.
    assert!((300..380).contains(&count("sensor-sent")), "{}", count("sensor-sent"));
    assert!(count("sensor-delivered") * 100 >= count("sensor-sent") * 95);
    // An answer takes 1 ms at least: the times of all of them are added up.
    assert!(count("sensor-waited-us") > count("sensor-delivered") * 1000);
    assert!(count("camera-bytes") > 1_000_000, "{}", count("camera-bytes"));
    let mut quiet = scene.clone();
    quiet.devices.iter_mut().for_each(|it| it.application = Application::None);
    let mean = |scene: &Scene| {
        let kept = ran(scene, IpTest::UdpEcho(UdpEcho { count: 200, ..ECHO }));
        let waits = probes(&kept);
        let waits = waits.iter().filter_map(|it| Some(it.received?.since(it.sent?)));
        waits.sum::<Duration>() / 200
    };
    let (busy, quiet) = (mean(&scene), mean(&quiet));
    assert!(2 * busy > 3 * quiet, "{busy:?} {quiet:?}");
}

#[test]
fn what_only_one_device_does_at_a_time_is_refused_for_several() {
    let scene = scene("40-on-3-channels");
    let work = Wifi::new(Name::new(&scene.variant).unwrap(), IpTest::Join(JOIN));
    let said = suite::run_in(&Workload::Wifi(work), &scene, 1, &mut (), &mut KeptRecord::default())
        .unwrap_err()
        .to_string();
    assert!(
        said.contains("40 devices are measured at once") && said.contains("[[group]]"),
        "{said}"
    );
}

const JOIN: espbench_model::workload::WifiJoin = espbench_model::workload::WifiJoin {
    count: 1,
    discard: 0,
    interval: Duration::from_secs(1),
    timeout: Duration::from_secs(1),
    cold: false,
};
