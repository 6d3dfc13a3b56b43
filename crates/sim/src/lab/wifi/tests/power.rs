//! Current of a device without traffic, beside the values of ESP-IDF's guide.

use super::super::MachineId;
use super::KeptRecord;
use crate::lab::file::Library;
use crate::lab::nodes::Conversation as _;
use crate::lab::run::Lab;
use crate::lab::scene::Scene;
use crate::lab::suite::{self, Seeds};
use crate::power::{PowerState, StateTimes};
use core::fmt::Write as _;
use core::time::Duration;
use espbench_model::fact;
use espbench_model::sample::{Fate, Sample};
use espbench_model::workload::{EchoFormat, IpTest, Name, UdpEcho, Wifi, Workload};
use std::string::String;
use std::vec::Vec;

/// Makes a variant of the power-save lab without the second board, in a shield box, as in the
/// guide.
fn alone(variant: &str) -> Scene {
    let library = Library::built_in();
    let mut scene = library.variant_scene("power-save", variant).unwrap();
    scene.environment = library.environment("shield-box").unwrap().environment;
    scene.background.clear();
    scene.devices.truncate(1);
    scene
}

/// Returns the time by state, and the mean current in nanoamperes, of some seconds.
fn idle(scene: &Scene, seconds: u64) -> (StateTimes, u64) {
    let mut lab = Lab::new(scene, 1, ());
    lab.run_for(Duration::from_secs(1)).unwrap();
    let before = lab.times(MachineId(0)).unwrap();
    lab.run_for(Duration::from_secs(seconds)).unwrap();
    let times = lab.times(MachineId(0)).unwrap().since(&before);
    assert_eq!(times.total_ns(), seconds * 1_000_000_000);
    (times, scene.devices[0].draw().charge(&times).mean_na(times.total_ns()).unwrap())
}

#[test]
fn idle_currents_are_near_those_of_the_guide() {
    // ESP-IDF Programming Guide, Low Power Mode in Wi-Fi Scenarios, ESP32-C3: means of Light-sleep,
    // and of Modem-sleep without DFS.
    let guide = [
        ("ps-min-modem", 21.47),
        ("ps-min-dtim1", 1.4),
        ("ps-min-dtim3", 0.62),
        ("ps-min-dtim10", 0.31),
    ];
    let mut text = String::new();
    let mut last = f64::INFINITY;
    for (variant, published) in guide {
        let (times, na) = idle(&alone(variant), 21);
        let ma = na as f64 / 1e6;
        let _ = writeln!(text, "{variant}: {ma:.2} mA, the guide has {published} mA");
        for state in PowerState::all().filter(|it| times.ns(*it) > 0) {
            let share = times.ns(state) as f64 / times.total_ns() as f64 * 100.0;
            let _ = writeln!(text, "  {}: {share:.3} %", state.name());
        }
        assert!((0.5..2.0).contains(&(ma / published)), "{variant}: {ma} for {published}");
        assert!(ma < last, "{variant}: {ma} mA, before {last}");
        last = ma;
    }
    let (_, awake) = idle(&alone("ps-none"), 5);
    let device = alone("ps-none").devices.remove(0);
    let listens = f64::from(device.profile.currents.receive_na) / 1e6;
    let awake = awake as f64 / 1e6;
    let _ = writeln!(text, "ps-none: {awake:.2} mA, listening draws {listens:.2} mA");
    assert!((0.99..1.05).contains(&(awake / listens)), "{awake} mA, {listens} mA");
    insta::assert_snapshot!(text);
}

/// Returns the mean current in milliamperes of a chip in light sleep.
fn light_sleep(profile: &str, variant: &str) -> f64 {
    let mut scene = alone(variant);
    scene.devices[0].profile = Library::built_in().profile(profile).unwrap();
    idle(&scene, 31).1 as f64 / 1e6
}

#[test]
fn light_sleep_of_each_chip_follows_from_its_hardware() {
    let mut text = String::from("mA in light sleep at DTIM 1, 3, 10\n");
    for chip in ["esp32", "esp32s2", "esp32s3", "esp32c2", "esp32c3", "esp32c6", "esp8266"] {
        let at = ["ps-min-dtim1", "ps-min-dtim3", "ps-min-dtim10"].map(|it| light_sleep(chip, it));
        assert!(at[0] > at[1] && at[1] > at[2], "{chip}: {at:?}");
        let _ = writeln!(text, "{chip}: {:.3} {:.3} {:.3}", at[0], at[1], at[2]);
    }
    insta::assert_snapshot!(text);
}

#[test]
fn a_longer_listen_interval_draws_less() {
    let of = |variant| idle(&alone(variant), 10).1;
    assert!(of("ps-max-li10") < of("ps-max-li3") && of("ps-max-li3") < of("ps-min-dtim1"));
}

/// Sends an echo each second; returns how many came back, the mean time, and the mean current.
fn echo(variant: &str, count: u32) -> (usize, f64, f64) {
    let echo = IpTest::UdpEcho(UdpEcho {
        size: 64,
        count,
        discard: 0,
        format: EchoFormat::Binary,
        in_flight: 8,
        interval: Some(Duration::from_secs(1)),
        timeout: Duration::from_secs(4),
    });
    let work = Wifi::new(Name::new(variant).unwrap(), echo);
    let mut kept = KeptRecord::default();
    suite::run(&Workload::Wifi(work), &Library::built_in(), None, Seeds::both(3), &mut kept)
        .unwrap();
    let times: Vec<f64> = kept
        .samples
        .iter()
        .filter_map(|sample| match sample {
            Sample::Probe(it) if it.fate == Fate::Delivered => {
                Some(it.received?.since(it.due).as_secs_f64() * 1e3)
            }
            _ => None,
        })
        .collect();
    let (charge, time) = (kept.counters[fact::CHARGE_NC], kept.counters[fact::TIME_NS]);
    let by_state = |name: &str| -> u64 {
        let of = kept.counters.iter().filter(|(key, _)| key.starts_with(&std::format!("{name}-")));
        of.map(|(_, value)| value).sum()
    };
    assert_eq!(by_state(fact::TIME_NS), time);
    // Each state's charge is cut to a nanocoulomb.
    assert!(charge.abs_diff(by_state(fact::CHARGE_NC)) <= PowerState::COUNT as u64);
    let mean = times.iter().fold(0.0, |sum, ms| sum + ms) / times.len().max(1) as f64;
    (times.len(), mean, charge as f64 / time as f64 * 1e3)
}

#[test]
fn who_sleeps_more_draws_less_and_answers_later_or_never() {
    let mut text = String::new();
    let mut told = |variant: &str| {
        let count = if variant.starts_with("esp") { 60 } else { 43 };
        let (back, ms, ma) = echo(variant, count);
        let _ = writeln!(text, "{variant}: {back} of {count} came back, {ms:.1} ms, {ma:.2} mA");
        (back, ms, ma)
    };
    // 43 seconds are 42 intervals of ten beacons: all that lies between two is met.
    let [none, dtim1, dtim10, li10] =
        ["ps-none", "ps-min-dtim1", "ps-min-dtim10", "ps-max-li10"].map(&mut told);
    assert!(none.1 < dtim1.1 && dtim1.1 < dtim10.1 && dtim1.1 < li10.1, "latency");
    assert!(none.2 > dtim1.2 && dtim1.2 > dtim10.2 && dtim1.2 > li10.2, "current");
    let [always, quarter, tenth, rare] =
        ["esp-now-always", "esp-now-25-100", "esp-now-10-100", "esp-now-10-500"].map(&mut told);
    assert!(always.0 >= 59 && always.0 > quarter.0 && quarter.0 > tenth.0 && tenth.0 > rare.0);
    assert!(always.2 > quarter.2 && quarter.2 > tenth.2 && tenth.2 > rare.2);
    insta::assert_snapshot!(text);
}

#[test]
fn esp_now_in_the_network_needs_windows_that_sender_and_receiver_share() {
    let mut text = String::new();
    let mut told = |variant: &str| {
        let (back, ms, ma) = echo(variant, 60);
        let _ = writeln!(text, "{variant}: {back} of 60 came back, {ms:.1} ms, {ma:.2} mA");
        (back, ms, ma)
    };
    let [always, apart, beacon, fifth] = [
        "esp-now-joined",
        "esp-now-joined-25-100",
        "esp-now-aligned-10-100",
        "esp-now-aligned-10-500",
    ]
    .map(&mut told);
    assert!(apart.0 < 40, "a request at any time finds the radio off");
    assert!(always.0 >= 59 && beacon.0 >= 59 && fifth.0 >= 59, "the guide's way");
    // A request waits for the next window: half of an interval on average.
    assert!((40.0..65.0).contains(&beacon.1) && (200.0..310.0).contains(&fifth.1));
    assert!(always.2 > apart.2 && apart.2 > beacon.2 && beacon.2 > fifth.2, "current");
    insta::assert_snapshot!(text);
}

#[test]
fn bluetooth_and_multicast_cost_latency_or_delivery() {
    let mut text = String::new();
    let mut told = |variant: &str| {
        let (back, ms, ma) = echo(variant, 43);
        let _ = writeln!(text, "{variant}: {back} of 43 came back, {ms:.1} ms, {ma:.2} mA");
        (back, ms, ma)
    };
    let [shared, asleep, kept, dropped] =
        ["coex-ps-none", "coex-ps-min", "multicast-router", "multicast-softap"].map(&mut told);
    // Half of the requests come in Bluetooth's half of an interval, and wait for its end: 13 ms.
    assert!(shared.0 == 43 && (8.0..25.0).contains(&shared.1));
    // Who wakes for beacons only has no more to wait for.
    assert!(asleep.0 == 43 && (40.0..65.0).contains(&asleep.1) && asleep.2 < shared.2);
    assert!(kept.0 == 43, "a router keeps multicast for the DTIM");
    assert!(dropped.0 < 20, "an ESP that is the access point does not");
    insta::assert_snapshot!(text);
}
