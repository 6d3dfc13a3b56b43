//! Nodes of ESP-NOW and stations of Wi-Fi on one channel.

use super::KeptRecord;
use super::rooms::received_bits;
use crate::lab::file::Library;
use crate::lab::run::Lab;
use crate::lab::scene::Scene;
use crate::lab::suite;
use core::time::Duration;
use espbench_model::sample::{Fate, Probe, Sample};
use espbench_model::workload::{EchoFormat, IpTest, Name, UdpEcho, Wifi, Workload};
use std::vec::Vec;

const ECHO: UdpEcho = UdpEcho {
    size: 64,
    count: 60,
    discard: 0,
    format: EchoFormat::Binary,
    in_flight: 8,
    interval: Some(Duration::from_millis(50)),
    timeout: Duration::from_secs(1),
};

fn scene(variant: &str) -> Scene {
    Library::built_in().variant_scene("shared-channel", variant).unwrap()
}

fn ran(scene: &Scene) -> KeptRecord {
    let mut kept = KeptRecord::default();
    let work = Wifi::new(Name::new(&scene.variant).unwrap(), IpTest::UdpEcho(ECHO));
    suite::run_in(&Workload::Wifi(work), scene, 1, &mut (), &mut kept).unwrap();
    kept
}

/// Returns the number of round trips, and their mean in nanoseconds.
fn round_trips(kept: &KeptRecord) -> (usize, u128) {
    let took = |it: &Sample| match it {
        Sample::Probe(Probe { fate: Fate::Delivered, sent, received, .. }) => {
            Some(received.as_ref()?.since((*sent)?).as_nanos())
        }
        _ => None,
    };
    let times: Vec<u128> = kept.samples.iter().filter_map(took).collect();
    (times.len(), times.iter().sum::<u128>() / times.len().max(1) as u128)
}

#[test]
fn a_room_holds_nodes_and_machines_each_with_its_own_program() {
    let scene = scene("wifi-beside-all");
    let numbers = scene.numbers();
    assert_eq!((numbers.nodes.clone(), numbers.access_points.clone()), (0..21, 21..22));
    assert_eq!(numbers.devices, 22..24);
    let lab = Lab::new(&scene, 1, ());
    // All of them are on the channel of the router, and only stations are its stations.
    let channels = (0..numbers.devices.end).map(|it| lab.room().channel(it));
    assert!(channels.into_iter().all(|it| it == 6));
    assert!(numbers.devices.clone().all(|it| lab.wifi().ap_of(it) == Some(21)));
    assert_eq!(lab.wifi().ap_of(0), None);
    let memberships = scene.memberships(1);
    assert_eq!((memberships[0], memberships[21]), ((0, 0), (21, 0)));
    assert_eq!((memberships[22], memberships[23]), ((21, 1), (21, 2)));
    let names = scene.names();
    assert_eq!((names[20].as_str(), names[21].as_str()), ("node20", "access point"));
    assert_eq!(names.last().map(|it| it.as_str()), Some("PC"));
}

#[test]
fn esp_now_costs_wifi_throughput_and_gets_its_messages_through() {
    let [alone, beside] = ["wifi-alone", "wifi-beside-esp-now"].map(|it| received_bits(&scene(it)));
    assert!(beside < 0.8 * alone && beside > 0.4 * alone, "{alone} {beside}");
    let beside = ran(&scene("wifi-beside-esp-now"));
    assert!(round_trips(&beside).0 >= 58);
    let count = |name: &str| beside.counters.get(name).copied().unwrap_or(0);
    // 20 sensors, ten reports a second each, for some three seconds.
    assert!((550..900).contains(&count("sensor-sent")), "{}", count("sensor-sent"));
    assert!(count("sensor-delivered") * 10 >= count("sensor-sent") * 9);
    // 1.5 ms on the air at 1 Mbit/s, and the acknowledgement.
    assert!(count("sensor-waited-us") > count("sensor-delivered") * 1500);
    assert_eq!(count("gateway-sent"), 0);
}

#[test]
fn wifi_costs_esp_now_time() {
    let (alone, beside) = (ran(&scene("esp-now-alone")), ran(&scene("esp-now-beside-wifi")));
    let ((few, quiet), (many, busy)) = (round_trips(&alone), round_trips(&beside));
    assert!(few >= 58 && many >= 50, "{few} {many}");
    assert!(busy > quiet + 300_000, "{quiet} {busy}");
    assert!(beside.counters["camera-bytes"] > 1_000_000);
    assert_eq!(beside.facts["transport"], "esp-now");
}

#[test]
fn the_same_seed_gives_the_same_in_a_room_of_both() {
    let of = |_| {
        let kept = ran(&scene("wifi-beside-esp-now"));
        (kept.samples, kept.counters)
    };
    let [first, second] = [0, 1].map(of);
    assert_eq!(first.1, second.1);
    assert_eq!(std::format!("{:?}", first.0), std::format!("{:?}", second.0));
}
