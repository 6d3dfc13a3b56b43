//! Pings: what a round trip is made of.

use crate::rig::{Flights, instant, micros, row, says};
use espbench_dot11::radio::{Timing, WifiMode, airtime};
use espbench_model::sample::{Fate, Probe, Sample};
use espbench_model::time::Duration;
use espbench_sim::lab::nodes::{Conversation as _, NodeId};
use espbench_sim::lab::profile::Profile;
use espbench_sim::lab::run::Lab;
use espbench_sim::lab::scene::{Background, Point};
use espbench_sim::talk::Transcript;
use espbench_sim::talk::transcript::TalkFilter;

const PINGS: usize = 200;

/// Pings node 1 from node 0.
fn pings(profile: Profile, how: &str) -> Lab<'static, Flights> {
    let mut lab = Lab::new(&row(2, 1.0, profile), 1, Flights::default());
    says(&mut lab, 1, "espnow_iperf -s", "responder");
    let command = format!("espnow_iperf -c {} -p -C {PINGS}{how}", NodeId(1).mac());
    says(&mut lab, 0, &command, "packets transmitted");
    lab
}

fn probes(lab: &mut Lab<Flights>) -> Vec<Probe> {
    let probe = |sample| match sample {
        Sample::Probe(probe) => probe,
        Sample::Interval(_) => panic!("pings are probes"),
    };
    lab.take_samples(NodeId(0)).into_iter().map(probe).collect()
}

fn round_trips(lab: &mut Lab<Flights>) -> Vec<Duration> {
    let trip = |it: Probe| it.received.unwrap().since(it.sent.unwrap());
    let probes = probes(lab);
    assert_eq!(probes.len(), PINGS);
    assert!(probes.iter().all(|it| it.fate == Fate::Delivered));
    probes.into_iter().map(trip).collect()
}

/// Returns the time on the air of a ping of 230 bytes of payload: it is 281 octets, as is its
/// answer, and the MAC acknowledges each.
fn air() -> Duration {
    let ack = Timing::HR.sifs_ns + airtime(WifiMode::ESP_NOW, 14);
    Duration::from_nanos(2 * (airtime(WifiMode::ESP_NOW, 281) + ack + Timing::HR.difs_ns()))
}

/// Checks that each trip is the air's time, the time of the work, and slots of 20 us.
#[track_caller]
fn check(mut lab: Lab<Flights>, work: Duration) {
    let floor = air() + work;
    let trips = round_trips(&mut lab);
    let slots = trips.iter().skip(1).map(|trip| {
        let more = trip.checked_sub(floor).unwrap_or_else(|| panic!("{trip:?} under {floor:?}"));
        assert_eq!(more.as_nanos() % 20_000, 0, "{trip:?} is not {floor:?} and slots");
        more.as_nanos() as f64 / 20_000.0
    });
    let slots: Vec<f64> = slots.collect();
    assert!(slots.iter().all(|it| (0.0..=62.0).contains(it)));
    // Each back-off was drawn when the station had sent last, and went on while the other one sent
    // nothing: so it is less than the 31 slots of two fresh ones in the mean.
    let mean = slots.iter().sum::<f64>() / slots.len() as f64;
    assert!((10.0..31.0).contains(&mean), "{mean}");
}

#[test]
fn a_round_trip_of_instant_devices_is_difs_back_off_and_air() {
    let lab = pings(instant(), "");
    let flight = lab.watch.0.iter().find(|it| it.octets > 200).unwrap();
    assert_eq!((flight.octets, flight.mode, flight.to), (281, WifiMode::ESP_NOW, Some(1)));
    check(lab, Duration::ZERO);
}

#[test]
fn work_of_the_processor_is_part_of_a_round_trip() {
    // So long that the medium is idle and every back-off over before a frame is handed over.
    let profile =
        Profile { transmit: micros(2000), receive: micros(80), dispatch: micros(120), ..instant() };
    let frame = Duration::from_nanos(airtime(WifiMode::ESP_NOW, 281));
    let work = Duration::from_micros(2000 + 80 + 120);
    let trips = round_trips(&mut pings(profile, ""));
    assert_eq!(trips, [2 * (frame + work); PINGS]);
}

#[test]
fn latencies_of_the_driver_are_part_of_a_round_trip() {
    let latency = |us| Profile { send_latency: micros(us), ..instant() };
    let frame = Duration::from_nanos(airtime(WifiMode::ESP_NOW, 281));
    let trips = round_trips(&mut pings(latency(3000), ""));
    assert_eq!(trips, [2 * (frame + Duration::from_micros(3000)); PINGS]);
    // The answer comes whatever the send callback does; the next ping begins after it.
    let profile = Profile { resume: micros(50_000), ..instant() };
    let mut lab = pings(profile, "");
    let began = |it: &Probe| it.sent.unwrap();
    let probes = probes(&mut lab);
    let apart = probes.windows(2).map(|pair| began(&pair[1]).since(began(&pair[0])));
    let apart: Vec<Duration> = apart.collect();
    assert!(apart.iter().all(|it| (50..60).contains(&it.as_millis())), "{apart:?}");
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let run = |seed| {
        let mut scene = row(5, 2.0, instant());
        scene.background.push(other_traffic());
        let mut lab = Lab::new(&scene, seed, Transcript::new(TalkFilter::ALL));
        says(&mut lab, 1, "espnow_iperf -s", "responder");
        let command = format!("espnow_iperf -c {} -p -C 20", NodeId(1).mac());
        says(&mut lab, 0, &command, "packets transmitted");
        lab.watch.to_string()
    };
    let first = run(1);
    assert!(first.lines().count() > 100);
    assert_eq!(first, run(1));
    assert_ne!(first, run(2));
}

/// Makes a PC that sends to all.
fn other_traffic() -> Background {
    Background {
        noise: None,
        name: "pc".into(),
        at: Point { x: 5.0, y: 3.0, z: 0.0 },
        channel: 1,
        power_dbm: 15.0,
        rate: 100.0,
        burst: 2.0,
        octets: 800,
        mode: WifiMode::ESP_NOW,
        fallback: Vec::new(),
        to: None,
    }
}
