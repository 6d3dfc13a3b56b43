//! Each test in small, in a room without distance.

use super::*;
use crate::lab::file::Library;
use crate::lab::profile::{Cost, Profile};
use crate::lab::record::KeptRecord;
use crate::lab::scene::{Device, Environment, Point, Router, Scene};
use crate::lab::suite;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;
use esp_now::component::{Compat, ComponentRelease, Idf};
use esp_now::node::task::NodeSettings;
use espbench_dot11::radio::name::ESP_NOW_PHY_MODES;
use espbench_model::fact;
use espbench_model::overrides::LabOverrides;
use espbench_model::sample::{Fate, Sample};
use espbench_model::workload::{EspNowCast, Workload};
use std::fmt::Write as _;

/// Makes a profile whose times are round numbers, independent of the fitted built-in ones.
fn profile() -> Arc<Profile> {
    let us = |us: u64| Cost { fixed_ns: us * 1000, ..Cost::default() };
    let base = Library::built_in().profile("esp32").unwrap();
    Arc::new(Profile {
        receive: us(50),
        dispatch: us(100),
        transmit: us(100),
        send_latency: us(0),
        sent_latency: us(0),
        esp_now_send: us(0),
        resume: us(0),
        jitter_ns: 0,
        seal: us(100),
        open: us(110),
        key_pair: us(10_000),
        shared_secret: us(20_000),
        hash: us(10),
        erase: us(1000),
        write: us(100),
        read: us(10),
        tick_hz: 1000,
        hop: Duration::from_micros(100),
        boot: Duration::from_millis(500),
        join: Duration::from_secs(1),
        scan_dwell: Duration::from_millis(120),
        ..(*base).clone()
    })
}

/// Makes the room of a cell, as [`scene`] would make it.
fn room(work: &EspNow) -> Scene {
    let profile = profile();
    let device = |x: f64| Device {
        settings: NodeSettings {
            compat: Compat { release: ComponentRelease::V2_0, idf: Idf::V4_4, ..Compat::default() },
            ..NodeSettings::default()
        },
        ..Device::new("devices", Arc::clone(&profile), Point { x, y: 0.0, z: 1.2 })
    };
    let router = Router {
        name: "router".into(),
        ssid: "office".into(),
        password: "secret".into(),
        at: Point { x: 3.0, y: 3.0, z: 2.0 },
        channel: 6,
        power_dbm: 20.0,
        beacon: Duration::from_micros(102_400),
        beacon_octets: 200,
    };
    let mut devices: Vec<Device> =
        (0..=work.devices).map(|n| device(f64::from(n) / 10.0)).collect();
    for (number, device) in devices.iter_mut().enumerate() {
        prepare::build(device, work, number == 0);
    }
    let environment = Environment {
        exponent: 2.0,
        breakpoint_m: None,
        far_exponent: None,
        wall_db: None,
        behind_walls: Default::default(),
        valid_m: None,
        shadow_db: 0.0,
        nakagami_m: None,
        fast_coherence_ms: None,
        slow_fading_db: None,
        slow_coherence_s: None,
        ..Library::built_in().environment("free-space").unwrap().environment
    };
    Scene { nodes: devices, routers: [router].into(), ..Scene::new("test", environment) }
}

/// Makes a small cell.
fn cell(test: EspNowTest) -> EspNow {
    EspNow {
        test,
        cast: EspNowCast::Unicast,
        size: 100,
        count: 3,
        time: Duration::from_secs(7),
        devices: 1,
        distance_m: (1.0, 1.0),
        encrypted: false,
        lab: LabOverrides::NONE,
    }
}

fn broadcast(copies: u8, ack: bool) -> EspNowCast {
    EspNowCast::Broadcast { copies, ack }
}

fn carry_out(work: &EspNow) -> KeptRecord {
    let mut kept = KeptRecord::default();
    let result = run_in(work, &room(work), 1, &mut (), &mut kept);
    result.unwrap_or_else(|e| panic!("{e}\n{:?}", kept.facts));
    kept
}

/// Writes the record as a person would read it: times are in microseconds.
fn table(kept: &KeptRecord) -> String {
    let mut text = String::new();
    for (name, value) in &kept.facts {
        let _ = writeln!(text, "{name}:");
        value.lines().for_each(|line| {
            let _ = writeln!(text, "    {line}");
        });
    }
    for (name, value) in &kept.counters {
        let _ = writeln!(text, "{name} {value}");
    }
    for sample in &kept.samples {
        let _ = match sample {
            Sample::Probe(p) => {
                let took = p.received.map(|at| at.since(p.due).as_micros());
                let lost = if let Fate::Lost(cause) = p.fate { cause.name() } else { "" };
                let (link, name) = (p.link.0, p.fate.name());
                writeln!(text, "probe {link} {} {} B {name}{lost} {took:?} us", p.seq, p.bytes)
            }
            Sample::Interval(i) => {
                let (link, took) = (i.link.0, i.end.since(i.start).as_micros());
                let (total, who) = (if i.total { " total" } else { "" }, i.observer.name());
                let (some, lost) = (i.datagrams, i.lost);
                writeln!(
                    text,
                    "interval {link} {}{total} {who} {took} us {} B {some:?} {lost:?}",
                    i.seq, i.bytes
                )
            }
        };
    }
    text
}

macro_rules! shows {
    ($name:ident, $work:expr) => {
        #[test]
        fn $name() {
            insta::assert_snapshot!(table(&carry_out(&$work)));
        }
    };
}

shows!(one_way, EspNow { cast: broadcast(0, false), ..cell(EspNowTest::OneWay) });
shows!(
    one_way_encrypted,
    EspNow { cast: broadcast(0, false), encrypted: true, ..cell(EspNowTest::OneWay) }
);
shows!(ping_unicast, cell(EspNowTest::Ping));
shows!(ping_with_copies, EspNow { cast: broadcast(3, true), ..cell(EspNowTest::Ping) });
shows!(throughput, cell(EspNowTest::Throughput));
shows!(crypto, EspNow { encrypted: true, ..cell(EspNowTest::Crypto) });
shows!(many_unicast, EspNow { size: 230, devices: 3, ..cell(EspNowTest::MultiPing) });
shows!(
    many_broadcast,
    EspNow { cast: broadcast(0, false), devices: 3, ..cell(EspNowTest::MultiPing) }
);
shows!(ota, EspNow { size: 8192, devices: 3, ..cell(EspNowTest::Ota) });
shows!(ota_of_more_than_a_line_holds, EspNow { size: 1600, devices: 30, ..cell(EspNowTest::Ota) });

/// Devices are named one by one up to 28, on a line of 510 characters: twice what a console's buffer for input holds.
#[test]
fn each_number_of_devices_gets_the_image() {
    for devices in 12..=30 {
        let kept = carry_out(&EspNow { size: 1600, devices, ..cell(EspNowTest::Ota) });
        let totals = kept.samples.iter().filter_map(|sample| match sample {
            Sample::Interval(it) if it.total => Some((it.datagrams, it.lost)),
            _ => None,
        });
        let served: Vec<_> = totals.collect();
        assert_eq!(served, [(Some(devices.into()), Some(0))], "{devices} devices");
        assert_eq!(kept.counters.get(fact::TYPED_LOST), None);
    }
}

shows!(handshake, EspNow { devices: 3, ..cell(EspNowTest::Handshake) });
shows!(provisioning, EspNow { devices: 3, ..cell(EspNowTest::Provisioning) });

#[test]
fn a_room_that_cannot_do_it_says_why() {
    let error = |work: &EspNow, change: fn(&mut Scene)| {
        let mut scene = room(work);
        change(&mut scene);
        let mut kept = KeptRecord::default();
        run_in(work, &scene, 1, &mut (), &mut kept)
            .err()
            .map_or_else(String::new, |e| format!("{e}"))
    };
    let ping = cell(EspNowTest::Ping);
    let text = [
        error(&ping, |scene| scene.nodes.clear()),
        error(&ping, |scene| scene.nodes.truncate(1)),
        error(&EspNow { devices: 0, ..ping }, |_| {}),
        error(&EspNow { size: 231, ..ping }, |_| {}),
        error(&EspNow { size: 227, encrypted: true, ..ping }, |_| {}),
        error(&EspNow { size: 100, ..cell(EspNowTest::Ota) }, |_| {}),
        error(&EspNow { devices: 129, ..cell(EspNowTest::Handshake) }, |_| {}),
        error(&cell(EspNowTest::Provisioning), |scene| scene.routers.clear()),
        // A device that takes no commands.
        error(&cell(EspNowTest::MultiPing), |scene| scene.nodes[1].services.commands = false),
    ];
    insta::assert_snapshot!(text.join("\n"));
}

#[test]
fn the_reports_labs_can_do_the_reports_tests() {
    let library = Library::built_in();
    let tests = [
        (EspNowTest::OneWay, 1),
        (EspNowTest::Ping, 1),
        (EspNowTest::Throughput, 1),
        (EspNowTest::Crypto, 1),
        (EspNowTest::MultiPing, 100),
        (EspNowTest::Ota, 100),
        (EspNowTest::Handshake, 100),
        (EspNowTest::Provisioning, 100),
    ];
    for (test, devices) in tests {
        let size = if test == EspNowTest::Ota { 1_029_248 } else { 100 };
        let work = EspNow { size, devices, ..cell(test) };
        let work = Workload::EspNow(work);
        suite::check(&work, &library, None).unwrap_or_else(|e| panic!("{test:?}: {e}"));
        let scene = suite::scene(&work, &library, None, 1).unwrap();
        assert_eq!(scene.name, default_lab(test));
        assert_eq!(scene.nodes.len(), usize::from(devices) + 1);
    }
    let ping = Workload::EspNow(cell(EspNowTest::Ping));
    let error = format!("{}", suite::check(&ping, &library, Some("nowhere")).unwrap_err());
    assert!(error.contains("nowhere") && error.contains("two-boards"), "{error}");
}

#[test]
fn whoever_is_told_to_stop_stops() {
    let work = EspNow { count: 10_000, ..cell(EspNowTest::Ping) };
    let mut kept = KeptRecord { stop: true, ..KeptRecord::default() };
    assert_eq!(
        run_in(&work, &room(&work), 1, &mut (), &mut kept).err(),
        Some(SuiteError::Cancelled)
    );
    assert!(kept.samples.is_empty() && kept.facts.contains_key("commands"));
}

#[test]
fn the_same_seed_gives_the_same() {
    let work = EspNow { cast: broadcast(0, false), devices: 3, ..cell(EspNowTest::MultiPing) };
    let of = |seed| {
        let mut kept = KeptRecord::default();
        run_in(&work, &room(&work), seed, &mut (), &mut kept).unwrap();
        table(&kept)
    };
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}

/// The facts of a cell name all modes of its devices, and the firmware of the first.
#[test]
fn a_cell_keeps_the_settings_of_its_theoretical_limits() {
    let mut scene = Library::built_in().scene("two-boards", &Default::default(), 1).unwrap();
    scene.nodes[1].mode = "HT20-MCS7".parse().unwrap();
    let mut kept = KeptRecord::default();
    note_firmware(&scene, &mut kept);
    assert_eq!(kept.facts[ESP_NOW_PHY_MODES.name()], "1M, HT20-MCS7");
    assert_eq!(kept.facts[fact::ESP_NOW_RELEASE], "2022-07");
    assert_eq!(kept.facts[fact::IDF_RELEASE], "4.4");
}
