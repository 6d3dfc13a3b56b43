//! Time that a chip needs to join its network, and its parts.

use super::KeptRecord;
use crate::lab::file::Library;
use crate::lab::suite::{self, Seeds};
use core::fmt::Write as _;
use core::time::Duration;
use espbench_model::sample::{Fate, Probe, Sample};
use espbench_model::workload::{IpTest, Name, Wifi, WifiJoin, Workload};
use std::string::String;
use std::vec::Vec;

fn probes(kept: &KeptRecord) -> Vec<Probe> {
    let probe = |it: &Sample| if let Sample::Probe(it) = it { Some(*it) } else { None };
    kept.samples.iter().filter_map(probe).collect()
}

fn joins(variant: &str, cold: bool) -> KeptRecord {
    let join = WifiJoin {
        count: 12,
        discard: u32::from(!cold),
        interval: Duration::from_secs(3),
        timeout: Duration::from_secs(3),
        cold,
    };
    let work = Wifi::new(Name::new(variant).unwrap(), IpTest::Join(join));
    let mut kept = KeptRecord::default();
    suite::run(&Workload::Wifi(work), &Library::built_in(), None, Seeds::both(1), &mut kept)
        .unwrap();
    assert_eq!(probes(&kept).len(), 12);
    kept
}

/// Returns the median of each step, and of the whole, in milliseconds: some frames are sent twice.
fn steps(kept: &KeptRecord) -> [f64; 5] {
    let step = |from: usize, to: usize| {
        let ms = |it: &Probe| {
            assert_eq!(it.fate, Fate::Delivered);
            let times = [Some(it.due), it.queued, it.sent, it.acked, it.received];
            times[to].unwrap().since(times[from].unwrap()).as_secs_f64() * 1e3
        };
        let mut all: Vec<f64> = probes(kept).iter().map(ms).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    [step(0, 1), step(1, 2), step(2, 3), step(3, 4), step(0, 4)]
}

#[test]
fn a_join_is_its_scan_and_its_keys() {
    let mut text =
        String::from("scan + authentication + association + handshake, all of it; charge\n");
    let mut told = |variant: &str, cold: bool| {
        let kept = joins(variant, cold);
        let all = steps(&kept);
        let [scan, authentication, association, keys, sum] = all;
        let millicoulomb = kept.counters[espbench_model::fact::CHARGE_NC] as f64 / 12e6;
        let known = if cold { "" } else { ", key known" };
        let _ = writeln!(
            text,
            "{variant}{known}: {scan:.0} + {authentication:.0} + {association:.0} + {keys:.0}, {sum:.0} ms; {millicoulomb:.1} mC"
        );
        all
    };
    let [open, wpa2, wpa3] =
        ["join-esp32c3-open", "join-esp32c3-wpa2", "join-esp32c3-wpa3"].map(|it| told(it, true));
    let known = told("join-esp32c3-wpa2", false);
    let [channel, all] =
        ["join-esp32c3-wpa2-channel", "join-esp32c3-wpa2-all"].map(|it| told(it, true));
    let slow = told("join-esp8266-wpa3", true);
    // The profile's time for the key, less a frame's more or less; SAE has two computations of each
    // side, and two frames more.
    let pmk = wpa2[1] - known[1];
    assert!((148.0..152.0).contains(&pmk), "{pmk} ms");
    assert!((known[1] - open[1]).abs() < 2.0);
    assert!((300.0..360.0).contains(&(wpa3[1] - open[1])) && slow[1] > 4.0 * wpa3[1]);
    assert!(open[3] < 0.1 && (20.0..40.0).contains(&wpa2[3]), "two answers of 10 ms each");
    // 120 ms for each channel up to the one where it is heard: 1 Mbit/s is read three channels away.
    // All of them take 2040 ms.
    assert!((360.0..370.0).contains(&wpa2[0]) && (120.0..125.0).contains(&channel[0]));
    assert!((2040.0..2120.0).contains(&all[0]));
    insta::assert_snapshot!(text);
}

/// Whoever is in no network may say so, and what the lab cannot do is told.
#[test]
fn who_has_no_network_to_join_is_told_so() {
    let library = Library::built_in();
    let join = WifiJoin {
        count: 2,
        discard: 0,
        interval: Duration::from_secs(1),
        timeout: Duration::from_secs(2),
        cold: true,
    };
    let of =
        |variant: &str| Workload::Wifi(Wifi::new(Name::new(variant).unwrap(), IpTest::Join(join)));
    let mut kept = KeptRecord::default();
    let wrong =
        suite::run(&of("esp-now-always"), &library, None, Seeds::both(1), &mut kept).unwrap_err();
    assert!(std::format!("{wrong}").contains("ESP-NOW"), "{wrong}");
    // Too far away: it scans in vain, and each try is lost.
    let mut scene = library.variant_scene("wifi-join", "join-esp32c3-wpa2").unwrap();
    scene.devices[0].at.x = 5000.0;
    suite::run_in(&of("join-esp32c3-wpa2"), &scene, 1, &mut (), &mut kept).unwrap();
    assert_eq!(probes(&kept).len(), 2);
    assert!(probes(&kept).iter().all(|it| matches!(it.fate, Fate::Lost(_))));
}
